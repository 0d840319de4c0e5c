//! What the program's lines mean.

use serde_json::json;

use super::*;

fn told(line: &Value) -> Option<Told> {
    read(&line.to_string()).unwrap()
}

#[test]
fn lines_are_read_by_their_type_and_the_rest_is_nothing() {
    let stream = |event: Value| json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
    let rows = [
        (
            json!({"type": "system", "subtype": "init", "session_id": "s"}),
            Some(Told::Session("s".to_owned())),
        ),
        (json!({"type": "system", "subtype": "status"}), None),
        (
            json!({"type": "system", "subtype": "api_retry", "attempt": 3, "max_retries": 10}),
            Some(Told::Retry { attempt: 3, most: 10 }),
        ),
        (
            json!({"type": "system", "subtype": "task_started", "task_id": "t"}),
            Some(Told::Task { id: "t".to_owned(), runs: true }),
        ),
        (
            stream(json!({"type": "message_start", "message": {"id": "m", "usage":
                {"input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 4}}})),
            Some(Told::MessageStart { id: "m".to_owned(), tokens: 7 }),
        ),
        (
            stream(
                json!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": "t", "name": "Bash"}}),
            ),
            Some(Told::ToolStart { id: "t".to_owned(), name: "Bash".to_owned() }),
        ),
        (stream(json!({"type": "content_block_start", "content_block": {"type": "text"}})), None),
        (
            stream(json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}})),
            Some(Told::Text("hi".to_owned())),
        ),
        (
            stream(
                json!({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            ),
            Some(Told::Thought("hm".to_owned())),
        ),
        (
            json!({"type": "stream_event", "parent_tool_use_id": "t",
                "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "of another"}}}),
            None,
        ),
        (json!({"type": "user", "message": {"content": "plain"}}), None),
        (json!({"type": "control_cancel_request", "request_id": "r"}), Some(Told::Withdrawn("r".to_owned()))),
        (
            json!({"type": "control_request", "request_id": "r", "request": {"subtype": "hook_callback"}}),
            Some(Told::Unknown { request: "r".to_owned(), subtype: "hook_callback".to_owned() }),
        ),
        (json!({"type": "from_the_future"}), None),
        (json!({"no": "type"}), None),
    ];
    for (line, expected) in rows {
        assert_eq!(told(&line), expected, "{line}");
    }
    for noise in ["", "Loading…", "[1]", "\"text\"", "{\"cut\":"] {
        assert_eq!(read(noise), Err(()), "{noise}");
    }
}

#[test]
fn a_request_for_leave_has_all_that_is_asked() {
    let request = json!({"subtype": "can_use_tool", "tool_name": "Write", "input": {"file_path": "/a"},
        "tool_use_id": "t", "description": "a", "blocked_path": "/a", "permission_suggestions": []});
    let Some(Told::Asked(asked)) =
        told(&json!({"type": "control_request", "request_id": "r", "request": request}))
    else {
        panic!("a request")
    };
    assert_eq!(
        (asked.request.as_str(), asked.call.name.as_str(), asked.description.as_str()),
        ("r", "Write", "a")
    );
    assert_eq!(asked.blocked_path.as_deref(), Some("/a"));
    assert_eq!(
        allow("r", &asked.call.input),
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow","updatedInput":{"file_path":"/a"}}}}"#
    );
    assert_eq!(
        deny("r", "no"),
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"deny","message":"no"}}}"#
    );
}

#[test]
fn the_end_has_tokens_window_and_cost() {
    let line = json!({"type": "result", "subtype": "success", "is_error": false, "result": "done", "session_id": "s",
        "stop_reason": "end_turn", "total_cost_usd": 0.5,
        "usage": {"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 8},
        "modelUsage": {"small": {"contextWindow": 1000}, "large": {"contextWindow": 200_000}},
        "errors": ["[ede_diagnostic] x", "boom"]});
    let Some(Told::End(end)) = told(&line) else { panic!("an end") };
    assert_eq!(end.usage, Some(TokenUsage { input: 5, cached: 8, output: 2, thought: 0, written: 4 }));
    assert_eq!((end.window, end.cost, end.errors), (Some(200_000), 0.5, vec!["boom".to_owned()]));
}

#[test]
fn results_show_text_and_images() {
    let content = json!([
        {"type": "tool_result", "tool_use_id": "a", "content": "plain"},
        {"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [
            {"type": "text", "text": "why"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        ]},
    ]);
    let Some(Told::Results(results)) = told(&json!({"type": "user", "message": {"content": content}})) else {
        panic!("results")
    };
    assert_eq!(results[0].content, [Content::text("plain")]);
    assert!(results[1].failed && results[1].content.len() == 2);
}

#[test]
fn a_prompt_carries_images_and_says_the_rest_in_words() {
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    let line: Value = serde_json::from_str(&prompt(&[Content::text("-x \"q\"\n"), image])).unwrap();
    let blocks = &line["message"]["content"];
    assert_eq!(blocks[0], json!({"type": "text", "text": "-x \"q\"\n"}));
    assert_eq!(blocks[1]["source"]["media_type"], "image/png");
}
