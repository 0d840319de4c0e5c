//! What holds for any input.

use std::collections::BTreeMap;
use std::time::Duration;

use acp_rpc::{BatchPolicy, Config, Frame, Handlers, MalformedPolicy, RpcError, memory, serve};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Something a peer may write on one line.
#[derive(Debug, Clone)]
enum Entry {
    Request(&'static str),
    Notification(&'static str),
    Blank,
    Garbage(Vec<u8>),
    BadId,
    Stray,
    Batch(Vec<&'static str>),
}

fn entry() -> impl Strategy<Value = Entry> {
    let methods = || prop::sample::select(vec!["echo", "fail", "bug", "later", "unknown", "picky"]);
    prop_oneof![
        6 => methods().prop_map(Entry::Request),
        1 => methods().prop_map(Entry::Notification),
        1 => Just(Entry::Blank),
        1 => vec(any::<u8>(), 0..20).prop_map(|mut bytes| {
            bytes.retain(|byte| !matches!(byte, b'\n' | b'{' | b'['));
            bytes.insert(0, b'x');
            Entry::Garbage(bytes)
        }),
        1 => Just(Entry::BadId),
        1 => Just(Entry::Stray),
        1 => vec(methods(), 0..4).prop_map(Entry::Batch),
    ]
}

/// The bytes of `entries`, and how many answers each id must get (`null` ones are counted together).
fn written(entries: &[Entry]) -> (Vec<u8>, BTreeMap<String, usize>) {
    let (mut bytes, mut expected, mut last_id) = (Vec::new(), BTreeMap::new(), 0);
    let mut owe = |id: &Value| *expected.entry(id.to_string()).or_insert(0) += 1;
    let mut request = |method: &str| {
        last_id += 1;
        let id = if last_id % 2 == 0 { json!(last_id) } else { json!(format!("é{last_id}")) };
        (json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"text": "ü"}}), id)
    };
    for entry in entries {
        match entry {
            Entry::Request(method) => {
                let (line, id) = request(method);
                bytes.extend(line.to_string().into_bytes());
                owe(&id);
            }
            Entry::Notification(method) => {
                bytes.extend(json!({"jsonrpc": "2.0", "method": method}).to_string().into_bytes());
            }
            Entry::Blank => bytes.extend(b" \r"),
            Entry::Garbage(garbage) => {
                bytes.extend(garbage);
                owe(&Value::Null);
            }
            Entry::BadId => {
                bytes.extend(br#"{"jsonrpc":"2.0","id":1.5,"method":"echo"}"#);
                owe(&Value::Null);
            }
            Entry::Stray => bytes.extend(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#),
            Entry::Batch(methods) => {
                let requests: Vec<_> = methods.iter().map(|method| request(method)).collect();
                bytes.extend(
                    json!(requests.iter().map(|(line, _)| line).collect::<Vec<_>>()).to_string().into_bytes(),
                );
                if requests.is_empty() {
                    owe(&Value::Null);
                }
                for (_, id) in &requests {
                    owe(id);
                }
            }
        }
        bytes.push(b'\n');
    }
    (bytes, expected)
}

fn service(peer: acp_rpc::Peer) -> Handlers {
    Handlers::new(peer)
        .answer("echo", |params: Value| Ok(params))
        .answer("fail", |_: Value| Err::<(), _>(RpcError::new(1, "failed")))
        .answer("picky", |_: BTreeMap<String, u8>| Ok(()))
        .request("bug", async |params: Value, _| {
            assert!(params.is_array(), "a handler's bug");
            Ok(())
        })
        .request("later", async |params: Value, _| {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok(params)
        })
}

/// Writes `input` in pieces of the given sizes, ends, and returns all output.
fn run(input: &[u8], sizes: &[usize]) -> Vec<u8> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (mut near, far) = memory();
        let config = Config::default().malformed(MalformedPolicy::Reply).batches(BatchPolicy::Expand);
        let connection = serve(far.reader, far.writer, config, service);
        let client = async {
            let mut rest = input;
            for size in sizes.iter().copied().cycle() {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                near.writer.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            near.writer.shutdown().await.unwrap();
        };
        let mut output = Vec::new();
        let both = async { tokio::join!(connection, client, near.reader.read_to_end(&mut output)) };
        let (outcome, (), _) = tokio::time::timeout(Duration::from_secs(61), both).await.expect("it hangs");
        outcome.unwrap();
        output
    })
}

/// How many answers each id got.
fn answers(output: &[u8]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in std::str::from_utf8(output).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let answers = if let Value::Array(batch) = line { batch } else { vec![line] };
        for answer in answers {
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(answer.get("result").is_some() != answer.get("error").is_some());
            *counts.entry(answer["id"].to_string()).or_insert(0) += 1;
        }
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_in_any_pieces_gets_one_answer_a_request(
        entries in vec(entry(), 0..20),
        sizes in vec(1_usize..200, 1..8),
    ) {
        let (input, expected) = written(&entries);
        prop_assert_eq!(answers(&run(&input, &sizes)), expected);
    }

    #[test]
    fn cut_anywhere_nothing_hangs_and_nothing_is_answered_twice(
        entries in vec(entry(), 1..10),
        cut in any::<prop::sample::Index>(),
    ) {
        let (input, expected) = written(&entries);
        let output = run(&input[..cut.index(input.len())], &[37]);
        for (id, count) in answers(&output) {
            // The line that was cut may have become garbage.
            let spare = usize::from(id == "null");
            prop_assert!(count <= expected.get(&id).copied().unwrap_or(0) + spare, "{} {}", id, count);
        }
    }

    #[test]
    fn any_bytes_are_a_frame_of_some_kind(bytes in vec(any::<u8>(), 0..200)) {
        let frame = Frame::parse(&bytes);
        if serde_json::from_slice::<Value>(&bytes).is_err() {
            prop_assert!(matches!(frame, Frame::Single(Err(malformed)) if malformed.error.code == -32700));
        }
    }
}
