//! What goes in as bytes, and what comes out as bytes.

use acp_rpc::{BatchPolicy, Config, IdPolicy, MalformedPolicy, Policy};
use serde_json::json;

use crate::support::{Event, rig};

fn error(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

#[tokio::test(start_paused = true)]
async fn identifiers_are_echoed_byte_for_byte() {
    let mut rig = rig(Config::default()).await;
    for id in
        ["0", "-1", "7", "9007199254740992", "-9223372036854775808", "\"\"", "\"a\\\"b\"", "\"é\"", "null"]
    {
        let said = rig
            .says(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"echo\",\"params\":{{\"a\":1}}}}\n"))
            .await;
        assert_eq!(said, [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":1}}}}"#)]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_an_identifier_is_refused_under_null() {
    let mut rig = rig(Config::default()).await;
    for id in ["1.5", "1.0", "1e3", "9223372036854775808", "true", "[1]", "{}"] {
        let said = rig.says(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"echo\"}}\n")).await;
        assert_eq!(
            said,
            [error("null", -32600, "Invalid request: id must be a string or an integer")],
            "{id}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_null_id_is_answered_or_refused_by_a_policy_that_may_change() {
    let mut rig = rig(Config::default()).await;
    let request = "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"echo\"}\n";
    assert_eq!(rig.says(request).await, [r#"{"jsonrpc":"2.0","id":null,"result":{}}"#]);
    rig.peer.set_policy(Policy { ids: IdPolicy::RefuseNull, ..rig.peer.policy() });
    assert_eq!(rig.says(request).await, [error("null", -32600, "Invalid request: id must not be null")]);
}

#[tokio::test(start_paused = true)]
async fn blank_lines_and_carriage_returns_are_nothing() {
    let mut rig = rig(Config::default().malformed(MalformedPolicy::Reply)).await;
    assert!(rig.says("\n\n\r\n  \t \n").await.is_empty());
    let said = rig.says("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}\r\n").await;
    assert_eq!(said, [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

#[tokio::test(start_paused = true)]
async fn garbage_is_passed_over_in_silence_or_answered_by_policy() {
    let garbage: [&[u8]; 5] = [b"garbage", b"{\"jsonrpc\":", b"\xff\xfe{}", b"{} {}", b"{\"a\":\"\xc3\"}"];
    let mut rig = rig(Config::default()).await;
    for line in garbage {
        assert!(rig.says([line, b"\n"].concat()).await.is_empty());
    }
    assert_eq!(rig.peer.stats().malformed, 5);
    rig.peer.set_policy(Policy { malformed: MalformedPolicy::Reply, ..rig.peer.policy() });
    for line in garbage {
        assert_eq!(rig.says([line, b"\n"].concat()).await, [error("null", -32700, "Parse error")]);
    }
}

#[tokio::test(start_paused = true)]
async fn json_that_is_no_message_is_refused_with_its_id_where_that_is_safe() {
    let mut rig = rig(Config::default()).await;
    for (line, id, message) in [
        ("1", "null", "not an object"),
        ("\"x\"", "null", "not an object"),
        ("null", "null", "not an object"),
        ("{}", "null", "jsonrpc must be \\\"2.0\\\""),
        (r#"{"id":4,"method":"echo"}"#, "null", "jsonrpc must be \\\"2.0\\\""),
        (r#"{"jsonrpc":"1.0","id":4,"method":"echo"}"#, "null", "jsonrpc must be \\\"2.0\\\""),
        (r#"{"jsonrpc":2.0,"id":4,"method":"echo"}"#, "null", "jsonrpc must be \\\"2.0\\\""),
        (r#"{"jsonrpc":"2.0","id":4}"#, "4", "no method"),
        (r#"{"jsonrpc":"2.0","id":4,"method":5}"#, "4", "method must be a string"),
        (r#"{"jsonrpc":"2.0","id":4,"method":"echo","result":1}"#, "4", "both a call and an answer"),
        (r#"{"jsonrpc":"2.0","id":4,"method":"echo","method":"drop"}"#, "4", "a member occurs twice"),
        (r#"{"jsonrpc":"2.0","id":4,"id":5,"method":"echo"}"#, "null", "a member occurs twice"),
    ] {
        let said = rig.says(format!("{line}\n")).await;
        assert_eq!(said, [error(id, -32600, &format!("Invalid request: {message}"))], "{line}");
    }
    assert!(rig.events.try_recv().is_err(), "none was executed");
}

#[tokio::test(start_paused = true)]
async fn unknown_requests_are_refused_and_everything_else_unknown_is_ignored() {
    let mut rig = rig(Config::default()).await;
    let said = rig
        .says(concat!(
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"_x/z\"}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":777,\"result\":{}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1}}\n",
        ))
        .await;
    assert_eq!(said, [error("9", -32601, "Method not found: _x/z")]);
    assert_eq!(rig.peer.stats().stray_responses, 3);
}

#[tokio::test(start_paused = true)]
async fn parameters_that_are_no_object_are_refused_with_the_id_kept() {
    let mut rig = rig(Config::default()).await;
    for params in ["[]", "[1]", "1", "\"x\"", "true"] {
        let said = rig
            .says(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"k\",\"method\":\"echo\",\"params\":{params}}}\n"))
            .await;
        assert_eq!(said, [error("\"k\"", -32602, "Invalid params: expected an object")], "{params}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_refused_whole() {
    let mut rig = rig(Config::default()).await;
    for batch in
        ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"wait"},{"jsonrpc":"2.0","method":"n"}]"#, "[1,[2]]"]
    {
        let said = rig.says(format!("{batch}\n")).await;
        assert_eq!(said, [error("null", -32600, "Invalid request: batches are not supported")]);
    }
    assert!(rig.events.try_recv().is_err(), "no entry was executed");
}

#[tokio::test(start_paused = true)]
async fn an_expanded_batch_is_answered_in_one_array_in_the_order_of_its_entries() {
    let mut rig = rig(Config::default().batches(BatchPolicy::Expand)).await;
    assert_eq!(rig.says("[]\n").await, [error("null", -32600, "Invalid request: empty batch")]);
    let notifications = r#"[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","method":"n"}]"#;
    assert!(rig.says(format!("{notifications}\n")).await.is_empty());
    assert!(matches!(rig.event().await, Event::Notification(_)));
    assert!(matches!(rig.event().await, Event::Notification(_)));

    let batch = concat!(
        r#"[{"jsonrpc":"2.0","id":1,"method":"wait"},{"jsonrpc":"2.0","method":"n"},[],5,"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","id":1,"method":"echo"},"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"panic"}]"#,
    );
    assert!(rig.says(format!("{batch}\n")).await.is_empty(), "the first entry is not answered yet");
    let (_, responder) = rig.request().await;
    responder.ok(&json!({"late": true}));
    let invalid = error("null", -32600, "Invalid request: not an object");
    let expected = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"late":true}}"#.to_owned(),
        invalid.clone(),
        invalid,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_owned(),
        error("1", -32600, "Invalid request: id is in use"),
        error("3", -32603, "Internal error"),
    ];
    assert_eq!(rig.line().await.unwrap(), format!("[{}]", expected.join(",")));
}

#[tokio::test(start_paused = true)]
async fn a_last_line_without_its_line_feed_counts() {
    let mut rig = rig(Config::default()).await;
    rig.send(r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#).await;
    let (lines, outcome) = rig.end().await;
    assert_eq!(lines, [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    outcome.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_overlong_line_is_answered_if_its_owner_shows_and_service_goes_on() {
    let mut rig = rig(Config::default().max_line(200)).await;
    let long = "x".repeat(1000);
    let said = rig
        .says(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"echo\",\"params\":{{\"a\":\"{long}\"}}}}\n"
        ))
        .await;
    assert_eq!(said, [error("5", -32600, "Invalid request: line too long")]);
    let hidden =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":{{\"a\":\"{long}\"}},\"id\":5}}\n");
    assert!(rig.says(&hidden).await.is_empty());
    rig.peer.set_policy(Policy { malformed: MalformedPolicy::Reply, ..rig.peer.policy() });
    assert_eq!(rig.says(&hidden).await, [error("null", -32600, "Invalid request: line too long")]);
    assert_eq!(rig.peer.stats().overlong, 3);
}

#[tokio::test(start_paused = true)]
async fn a_legal_line_of_a_mebibyte_is_handled() {
    let mut rig = rig(Config::default()).await;
    let text = "é".repeat(1 << 19);
    rig.send_line(&json!({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"text": text}})).await;
    assert_eq!(rig.recv().await["result"]["text"], json!(text));
}
