//! Taking one line apart and telling what it is, beside `serde_json` reading the same line into a `Value`.

use std::hint::black_box;

use acp_rpc::Frame;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

/// Each kind of line, and a long one.
fn lines() -> Vec<(&'static str, String)> {
    let chunk = json!({
        "sessionId": "sess_0198c0de",
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "messageId": "msg_0198c0df",
            "content": { "type": "text", "text": "a few words " },
        },
    });
    let prompt = |text: &str| {
        let params = json!({ "sessionId": "sess_0198c0de", "prompt": [{ "type": "text", "text": text }] });
        json!({ "jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params": params })
    };
    vec![
        ("request", prompt("Please mend the parser.").to_string()),
        (
            "notification",
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": chunk }).to_string(),
        ),
        (
            "response",
            json!({ "jsonrpc": "2.0", "id": 7, "result": { "stopReason": "end_turn" } }).to_string(),
        ),
        (
            "error",
            json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32601, "message": "Method not found" } })
                .to_string(),
        ),
        ("garbage", "Sourcing .profile ...".to_owned()),
        ("request of 1 MiB", prompt(&"0123456789abcdef".repeat(1 << 16)).to_string()),
    ]
}

fn frames(criterion: &mut Criterion) {
    for (name, line) in lines() {
        let mut group = criterion.benchmark_group(format!("frames/{name}"));
        group.throughput(Throughput::Bytes(line.len() as u64));
        group.bench_function("Frame::parse", |bencher| bencher.iter(|| Frame::parse(black_box(&line))));
        group.bench_function("Value", |bencher| {
            bencher.iter(|| serde_json::from_str::<Value>(black_box(&line)).ok());
        });
        group.finish();
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
