//! Every shape of a stream, fed whole, in random pieces and byte by byte.

use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::{ChatAnswer, ChatStream, Failure};
use crate::provider::{ModelDelta, ProviderError};
use crate::providers::reader::{Answer as _, Reader};
use crate::providers::testing::{self, tool};

const TOOLS: &[&str] = &["read", "read_file", "f", "g", "write"];

fn answer() -> ChatAnswer {
    let offered = TOOLS.iter().map(|name| tool(name)).collect();
    ChatAnswer::new("a", offered, Arc::default())
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<ModelDelta>, Result<(), Failure>) {
    testing::read(answer(), pieces)
}

fn meaning(stream: &str) -> String {
    testing::meaning(answer, stream)
}

/// Events of these data, then `[DONE]`.
fn events(data: &[&str]) -> String {
    data.iter().chain(&["[DONE]"]).flat_map(|data| ["data: ", *data, "\n\n"]).collect()
}

fn text(text: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":{}}}}}]}}"#, serde_json::Value::from(text))
}

fn calls(calls: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{calls}]}}}}]}}"#)
}

fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":{reason}}}]}}"#)
}

/// The calls that `deltas` of `tool_calls` make.
fn called(deltas: &[&str]) -> String {
    let mut data: Vec<String> = deltas.iter().map(|delta| calls(delta)).collect();
    data.push(finish("\"tool_calls\""));
    let data: Vec<&str> = data.iter().map(String::as_str).collect();
    let told = meaning(&events(&data));
    told.strip_suffix("finish Stop\n").unwrap_or(&told).to_owned()
}

#[test]
fn text_calls_and_usage_come_in_order() {
    let stream = events(&[
        r#"{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
        &text("Hel"),
        &text("lo 那个🦀é"),
        &calls(r#"{"index":0,"id":"s1","type":"function","function":{"name":"read","arguments":""}}"#),
        &calls(r#"{"index":0,"function":{"arguments":"{\"path\":"}}"#),
        &calls(r#"{"index":0,"function":{"arguments":"\"🦀\"}"}}"#),
        &finish("\"tool_calls\""),
        r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":1}}}"#,
    ]);
    assert_snapshot!(meaning(&stream), @r#"
    text "Hello 那个🦀é"
    call_1 read {"path":"🦀"}
    usage 4+6 4 1
    finish Stop
    "#);
}

#[test]
fn odd_chunks_cost_nothing() {
    let stream = events(&[
        &text("a"),
        r#"{"choices":[]}"#,
        r#"{"choices":null}"#,
        "{}",
        r#"{"choices":[{"index":0}]}"#,
        r#"{"choices":[{"delta":null}]}"#,
        r#"{"choices":[{"delta":"odd"}]}"#,
        r#"{"choices":[{"delta":{"content":7,"tool_calls":"odd","role":3}}],"usage":"n/a","created":1.5,"id":null}"#,
        r#"{"choices":[{"delta":{"content":"b","tool_calls":[]},"logprobs":[]}],"usage":{"prompt_tokens":1,"completion_tokens":1},"error":null}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"another choice"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"index":"0","delta":{"content":"e","content":"e"}}]}"#,
        &finish("\"stop\""),
        r#"{"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}"#,
    ]);
    assert_snapshot!(meaning(&stream), @r#"
    text "abcde"
    usage 10+0 2 0
    finish Stop
    "#);
}

#[test]
fn keep_alives_and_line_ends_do_not_matter() {
    let plain = events(&[&text("a"), &text("b"), &finish("\"stop\"")]);
    let expected = meaning(&plain);
    assert_eq!(expected, "text \"ab\"\nfinish Stop\n");
    let noisy = plain.replace(
        "data: {",
        ": OPENROUTER PROCESSING\n\n:\n\ndata: : keepalive\n\nevent: ping\n\nretry: 100\nid: 7\ndata:\n\ndata: {",
    );
    let variants = [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        plain.replace("data: ", "data:"),
        plain.replace(r#""choices""#, "\ndata: \"choices\""),
        format!("\u{feff}{plain}"),
        plain.trim_end().to_owned(),
        plain.replace("data: [DONE]\n\n", ""),
        plain.replace("\n\n", "\n"),
        format!("{plain}data: {{\"choices\":[{{\"delta\":{{\"content\":\"after the end\"}}}}]}}\n\n"),
        noisy,
    ];
    for variant in variants {
        assert_eq!(meaning(&variant), expected, "{variant}");
    }
}

#[test]
fn reasoning_comes_once_from_whatever_member() {
    for delta in [
        r#""reasoning_content":"hm""#,
        r#""reasoning":"hm""#,
        r#""reasoning_content":"hm","reasoning":"hm""#,
        r#""reasoning_details":[{"type":"reasoning.text","text":"hm"}]"#,
        r#""reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}],"content":null"#,
        r#""reasoning_content":"hm","content":"""#,
        r#""content":"<think>hm</think>""#,
    ] {
        let first = format!(r#"{{"choices":[{{"delta":{{{delta}}}}}]}}"#);
        let second = r#"{"choices":[{"delta":{"content":"Hi","reasoning_content":null,"reasoning":""}}]}"#;
        let stream = events(&[&first, second, &finish("\"stop\"")]);
        assert_eq!(meaning(&stream), "thought \"hm\"\ntext \"Hi\"\nfinish Stop\n", "{delta}");
    }
}

#[test]
fn the_end_of_the_bytes_is_not_success() {
    let half = format!("data: {}\n\n", text("half"));
    assert_snapshot!(meaning(&half), @r#"
    text "half"
    error a: the answer broke off: the connection ended before a finish reason (transient)
    "#);
    let call =
        format!("data: {}\n\n", calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#));
    assert_snapshot!(meaning(&call), @"error a: the answer broke off: the connection ended within a tool call (transient)");
    assert_snapshot!(meaning(""), @"error a: the answer broke off: the connection ended before a finish reason (transient)");
    assert_snapshot!(meaning(r#"{"choices":[{"message":{"content":"x"#), @"error a: the answer broke off: half a JSON object (transient)");
    assert_snapshot!(meaning("data: hello\n\ndata: world\n\n"), @"error a: the server's answer makes no sense: `hello`; does the API at `url` fit the agent's `provider`?");
    assert_snapshot!(meaning("<!doctype html><title>Hi</title>"), @"error a: the server's answer makes no sense: `<!doctype html><title>Hi</title>`; does the API at `url` fit the agent's `provider`?");
}

#[test]
fn finish_reasons_are_read_in_every_spelling() {
    for (reason, expected) in [
        ("\"stop\"", "Stop"),
        ("\"tool_calls\"", "Stop"),
        ("\"function_call\"", "Stop"),
        ("\"end_turn\"", "Stop"),
        ("\"length\"", "Length"),
        ("\"content_filter\"", "Refusal"),
        ("null", "Stop"),
        ("\"\"", "Stop"),
    ] {
        let stream = events(&[&text("x"), &finish(reason)]);
        assert_eq!(meaning(&stream), format!("text \"x\"\nfinish {expected}\n"), "{reason}");
        let open = stream.replace("data: [DONE]\n\n", "");
        let is_signal = reason.len() > 4;
        assert_eq!(meaning(&open).contains("\nfinish"), is_signal, "without [DONE]: {reason}");
    }
    assert_snapshot!(meaning(&events(&[&text("x"), &finish("\"error\"")])), @r#"
    text "x"
    error a: the server reported: an error without a description
    "#);
    assert_snapshot!(meaning(&events(&[r#"{"choices":[{"delta":{"refusal":"I will not"}}]}"#, &finish("\"stop\"")])), @r#"
    text "I will not"
    finish Refusal
    "#);
}

#[test]
fn errors_inside_an_answer_are_errors() {
    for (data, expected) in [
        (r#"{"error":{"message":"quota exceeded","code":429}}"#, "quota exceeded"),
        (r#"{"error":{"message":"busy","code":"503"}}"#, "busy (transient)"),
        (r#"{"choices":[],"error":{"message":"bad gateway","code":502}}"#, "bad gateway (transient)"),
        (r#"{"error":"EXPLODED"}"#, "EXPLODED"),
        (r#"{"object":"error","message":"no such model","code":404}"#, "no such model"),
        (r#"{"detail":[{"msg":"field required"}]}"#, "field required"),
        (r#"{"choices":[{"delta":{},"error":{"message":"upstream"},"finish_reason":"error"}]}"#, "upstream"),
    ] {
        let told = meaning(&events(&[data]));
        assert_eq!(told, format!("error a: the server reported: {expected}\n"), "{data}");
        assert_eq!(meaning(data), told, "as a body: {data}");
    }
    let named = "event: error\ndata: it broke\n\n";
    assert_eq!(meaning(named), "error a: the server reported: it broke\n");
    let after_text = events(&[&text("so far"), r#"{"error":{"message":"gone"}}"#]);
    assert_eq!(meaning(&after_text), "text \"so far\"\nerror a: the server reported: gone\n");
}

#[test]
fn a_chunk_that_cannot_be_read_is_told() {
    let told = meaning(&events(&[&text("a"), r#"{"choices": [oops"#]));
    assert!(told.starts_with("text \"a\"\nerror a: the server's answer makes no sense"), "{told}");
}

#[test]
fn a_whole_completion_serves_as_well() {
    let body = r#"
    {"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi",
     "reasoning_content":"hm","tool_calls":[{"id":"call_0","type":"function","function":{"name":"f","arguments":{"p":1}}},
     {"id":"call_0","type":"function","function":{"name":"f","arguments":"{\"p\":2}"}}]},"finish_reason":"tool_calls"}],
     "usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    assert_snapshot!(meaning(body), @r#"
    thought "hm"
    text "Hi"
    call_1 f {"p":1}
    call_2 f {"p":2}
    usage 3+0 2 0
    finish Stop
    "#);
    assert_snapshot!(meaning(r#"{"choices":[{"message":{"content":"Hi"}}]}"#), @r#"
    text "Hi"
    finish Stop
    "#);
}

#[test]
fn calls_are_told_apart_whatever_their_indexes_say() {
    let two = "call_1 f {\"p\":1}\ncall_2 g {\"q\":2}\n";
    let f = r#""id":"a","function":{"name":"f","arguments":"{\"p\":1}"}"#;
    let g = r#""id":"b","function":{"name":"g","arguments":"{\"q\":2}"}"#;
    let with = |index: &str, call: &str| format!("{{\"index\":{index},{call}}}");
    let (plain_f, plain_g) = (format!("{{{f}}}"), format!("{{{g}}}"));
    let no_id = |call: &str| call.replace(r#""id":"a","#, "").replace(r#""id":"b","#, "");
    let same_id = plain_g.replace("\"b\"", "\"a\"");
    let table: Vec<Vec<String>> = vec![
        vec![plain_f.clone(), plain_g.clone()],
        vec![with("null", f), with("null", g)],
        vec![with("0", f), with("0", g)],
        vec![format!("{plain_f},{plain_g}")],
        vec![format!("{},{}", no_id(&plain_f), no_id(&plain_g))],
        vec![no_id(&plain_f), no_id(&plain_g)],
        vec![no_id(&with("0", f)), no_id(&with("0", g))],
        vec![plain_f.clone(), same_id.clone()],
        vec![format!("{plain_f},{same_id}")],
        vec![with("0", f), with("1", &g.replace("\"b\"", "\"a\""))],
        vec![
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1"}}"#.to_owned(),
            r#"{"index":0,"function":{"arguments":"}"}}"#.to_owned(),
            r#"{"index":0,"id":"b","function":{"name":"g","arguments":""}}"#.to_owned(),
            r#"{"index":1,"function":{"arguments":"{\"q\":2}"}}"#.to_owned(),
        ],
        vec![
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#.to_owned(),
            r#"{"index":1,"id":"b","function":{"name":"g","arguments":""}}"#.to_owned(),
            r#"{"index":0,"function":{"arguments":"{\"p\":1}"}}"#.to_owned(),
            r#"{"index":1,"function":{"arguments":"{\"q\":2}"}}"#.to_owned(),
        ],
        vec![
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":"}}"#.to_owned(),
            r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{\"q\""}}"#.to_owned(),
            r#"{"index":0,"function":{"arguments":"1}"}}"#.to_owned(),
            r#"{"index":1,"function":{"arguments":":2}"}}"#.to_owned(),
        ],
        vec![
            r#"{"index":1,"id":"a","function":{"name":"f","arguments":""}}"#.to_owned(),
            r#"{"index":0,"function":{"arguments":"{\"p\":1}"}}"#.to_owned(),
            with("2", g),
        ],
    ];
    for deltas in table {
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        assert_eq!(called(&deltas), two, "{deltas:#?}");
    }
}

#[test]
fn names_come_late_in_pieces_or_again_and_again() {
    let whole = "call_1 read {\"path\":\"x\"}\n";
    for deltas in [
        [
            r#"{"index":0,"id":"a","function":{"arguments":"{\"pa"}}"#,
            r#"{"index":0,"function":{"name":"read"}}"#,
            r#"{"index":0,"function":{"arguments":"th\":\"x\"}"}}"#,
        ],
        [
            r#"{"index":0,"id":"a","function":{"name":"re","arguments":""}}"#,
            r#"{"index":0,"function":{"name":"ad","arguments":"{\"path\":"}}"#,
            r#"{"index":0,"function":{"arguments":"\"x\"}"}}"#,
        ],
        [
            r#"{"index":0,"id":"a","function":{"name":"read","arguments":""}}"#,
            r#"{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"read","arguments":"\"x\"}"}}"#,
        ],
        [
            r#"{"id":"a","function":{"name":"read","arguments":"{\"path\":"}}"#,
            r#"{"function":{"name":"read","arguments":"\"x\""}}"#,
            r#"{"function":{"name":"read","arguments":"}"}}"#,
        ],
    ] {
        assert_eq!(called(&deltas), whole, "{deltas:?}");
    }
    let pieces = [r#"{"index":0,"function":{"name":"read"}}"#, r#"{"index":0,"function":{"name":"_file"}}"#];
    assert_eq!(called(&pieces), "call_1 read_file {}\n");
}

#[test]
fn arguments_are_read_in_every_form() {
    for (arguments, expected) in [
        (r#"{"path":"x"}"#, r#"{"path":"x"}"#),
        (r#""{\"path\":\"x\"}""#, r#"{"path":"x"}"#),
        (r#""\"{\\\"path\\\":\\\"x\\\"}\"""#, r#"{"path":"x"}"#),
        (r#""{}{\"path\":\"x\"}""#, r#"{"path":"x"}"#),
        (r#""{\"path\":\"x\"}{\"path\":\"x\"}""#, r#"{"path":"x"}"#),
        (r#""""#, "{}"),
        (r#""   ""#, "{}"),
        ("null", "{}"),
        (r#""null""#, "{}"),
        ("{}", "{}"),
        (r#""{{\"path\":\"x\"}""#, r#"{{"path":"x"}"#),
        (r#""{\"a\":1}{\"b\":2}""#, r#"{"a":1}{"b":2}"#),
        (r#""{\"command\": \"cd /x""#, r#"{"command": "cd /x"#),
    ] {
        let call = format!(r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":{arguments}}}}}"#);
        assert_eq!(called(&[&call]), format!("call_1 f {expected}\n"), "{arguments}");
    }
    assert_eq!(called(&[r#"{"index":0,"id":"a","function":{"name":"f"}}"#]), "call_1 f {}\n");
    assert_eq!(called(&[r#"{"index":0,"id":"a","function":{"arguments":"{}"}}"#]), "");
}

#[test]
fn a_call_in_the_last_chunk_is_not_lost() {
    let last = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"city\":\"Rome\"}"}}]},"finish_reason":"tool_calls"}]}"#;
    assert_eq!(meaning(&events(&[last])), "call_1 f {\"city\":\"Rome\"}\nfinish Stop\n");
    let first = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"city\":\"Rome\"}"}}"#);
    assert_eq!(meaning(&events(&[&first, last])), "call_1 f {\"city\":\"Rome\"}\nfinish Stop\n");
}

#[test]
fn calls_cut_off_by_the_limit_are_told_from_whole_ones() {
    for arguments in [r#"{\"path\":\"a.txt\",\"content\":\"abc"#, r#"{\"path\":\"a.txt\"}"#] {
        let call =
            format!(r#"{{"index":1,"id":"b","function":{{"name":"write","arguments":"{arguments}"}}}}"#);
        let before = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
        let stream = events(&[&before, &calls(&call), &finish("\"length\"")]);
        let cut = arguments.replace('\\', "");
        assert_eq!(meaning(&stream), format!("call_1 f {{}}\ncut write {cut}\nfinish Length\n"));
    }
}

#[test]
fn the_form_from_before_tool_calls_is_read() {
    let stream = events(&[
        r#"{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{\"p\""}}}]}"#,
        r#"{"choices":[{"delta":{"function_call":{"arguments":":1}"}}}]}"#,
        &finish("\"function_call\""),
    ]);
    assert_eq!(meaning(&stream), "call_1 f {\"p\":1}\nfinish Stop\n");
}

#[test]
fn calls_in_the_text_run_unless_the_server_took_them_out() {
    let tag = r#"<tool_call>{"name":"read","arguments":{"path":"x"}}</tool_call>"#;
    let stream = events(&[&text("Look.\n"), &text(&tag[..7]), &text(&tag[7..]), &finish("\"stop\"")]);
    assert_eq!(meaning(&stream), "text \"Look.\\n\"\ncall_1 read {\"path\":\"x\"}\nfinish Stop\n");
    let native = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    let stream = events(&[&text(tag), &native, &finish("\"tool_calls\"")]);
    assert_eq!(meaning(&stream), "call_1 f {}\nfinish Stop\n");
    let broken = format!("data: {}\n\n", text(tag));
    assert!(meaning(&broken).starts_with("error a: the answer broke off"));
}

#[test]
fn halves_of_a_character_meet() {
    let stream = events(&[
        r#"{"choices":[{"delta":{"content":"a\ud83e"}}]}"#,
        r#"{"choices":[{"delta":{"content":"\udd80b"}}]}"#,
        &calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":\"\ud83e"}}"#),
        &calls(r#"{"index":0,"function":{"arguments":"\udd80\"}"}}"#),
        &finish("\"stop\""),
    ]);
    assert_eq!(meaning(&stream), "text \"a🦀b\"\ncall_1 f {\"p\":\"🦀\"}\nfinish Stop\n");
    let lone = events(&[r#"{"choices":[{"delta":{"content":"a\ud83e"}}]}"#, &finish("\"stop\"")]);
    assert_eq!(meaning(&lone), "text \"a\u{fffd}\"\nfinish Stop\n");
}

#[test]
fn nothing_is_read_past_the_end() {
    let mut stream = ChatStream::new("a", Arc::default());
    let mut deltas = Vec::new();
    stream.push(events(&[&text("x"), &finish("\"stop\"")]).as_bytes(), &mut deltas).unwrap();
    assert!(stream.is_done());
    let before = deltas.len();
    stream.push(b"data: {broken\n\n", &mut deltas).unwrap();
    stream.end(&mut deltas).unwrap();
    assert_eq!(deltas.len(), before);
}

#[test]
fn text_is_handed_out_with_the_read_that_brought_it() {
    let mut stream = ChatStream::new("a", Arc::default());
    for word in ["Hello", " <b>", "\n<th", "e"] {
        let mut deltas = Vec::new();
        stream.push(format!("data: {}\n\n", text(word)).as_bytes(), &mut deltas).unwrap();
        assert!(!deltas.is_empty(), "{word:?}");
    }
}

proptest! {
    #[test]
    fn random_cuts_do_not_matter(cuts in proptest::collection::vec(1usize..40, 1..60)) {
        let stream = events(&[
            &text("<think>那个</think>Hello"),
            &text(" 🦀\r\n"),
            &calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":\"é"}}"#),
            &calls(r#"{"index":0,"function":{"arguments":"🦀\"}"}}"#),
            &finish("\"tool_calls\""),
        ]).replace('\n', "\r\n");
        let mut rest = stream.as_bytes();
        let mut pieces = Vec::new();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(read(pieces), read([stream.as_bytes()]));
    }
}

#[test]
fn an_overlong_answer_is_refused() {
    let mut stream = ChatStream::new("a", Arc::default());
    let mut deltas = Vec::new();
    let piece = vec![b'x'; 1024 * 1024];
    stream.push(b"data: ", &mut deltas).unwrap();
    let failure = (0..20).find_map(|_| stream.push(&piece, &mut deltas).err()).unwrap();
    assert!(matches!(failure.error, ProviderError::Malformed { .. }));
}

#[test]
fn more_is_waited_for_where_a_finish_reason_comes_with_words() {
    let mut reader = Reader::new(ChatAnswer::new("a", Arc::default(), Arc::default()));
    let mut heard = Vec::new();
    let mut after = |data: &str| {
        reader.push(format!("data: {data}\n\n").as_bytes(), &mut heard).unwrap();
        reader.answer.lingers().map(|time| time.as_secs())
    };
    let said = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    assert_eq!(after(r#"{"choices":[{"delta":{"content":"a"}}]}"#), None);
    assert_eq!(after(said), Some(20), "it may be the last piece");
    assert_eq!(after(said), None, "it was not: this server ends every piece");
    assert_eq!(after(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#), None);
    let mut plain = Reader::new(ChatAnswer::new("a", Arc::default(), Arc::default()));
    plain.push(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", &mut heard).unwrap();
    assert_eq!(plain.answer.lingers().map(|time| time.as_secs()), Some(1));
}
