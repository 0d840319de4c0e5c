//! What is read beyond the schema, what is not, and what the schema's leniency comes to.

use acp_wire::{Meta, Method, Patch, ProtocolVersion, v1, v2};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a readable value")
}

fn refuses<T: DeserializeOwned>(value: Value) -> bool {
    serde_json::from_str::<T>(&value.to_string()).is_err() && serde_json::from_value::<T>(value).is_err()
}

#[test]
fn a_version_1_session_without_mcp_servers_has_none() {
    for servers in [json!({ "cwd": "/w" }), json!({ "cwd": "/w", "mcpServers": null })] {
        assert_eq!(read::<v1::NewSessionRequest>(servers), v1::NewSessionRequest::new("/w", []));
    }
    let load = json!({ "sessionId": "s", "cwd": "/w" });
    assert_eq!(read::<v1::LoadSessionRequest>(load).mcp_servers, []);
    assert!(refuses::<v1::NewSessionRequest>(json!({ "cwd": "/w", "mcpServers": [{}] })));
}

#[test]
fn an_implementation_may_leave_out_its_version_and_a_client_itself() {
    let request: v2::InitializeRequest =
        read(json!({ "protocolVersion": 2, "info": { "name": "milk-web" } }));
    assert_eq!(
        request,
        v2::InitializeRequest::new(ProtocolVersion::V2, v2::Implementation::new("milk-web", ""))
    );
    let request: v2::InitializeRequest = read(json!({ "protocolVersion": 2 }));
    assert_eq!(request.info, v2::Implementation::default());
    let request: v1::InitializeRequest =
        read(json!({ "protocolVersion": 1, "clientInfo": { "name": "ed" } }));
    assert_eq!(request.client_info, Some(v1::Implementation::new("ed", "")));
    assert!(refuses::<v2::InitializeRequest>(json!({ "protocolVersion": 2, "info": "milk-web" })));
    assert!(refuses::<v2::InitializeResponse>(json!({ "protocolVersion": 2 })));
}

#[test]
fn objects_are_not_read_from_arrays_nor_discriminators_from_numbers() {
    assert!(refuses::<v2::ListSessionsRequest>(json!([])));
    assert!(refuses::<v1::CancelNotification>(json!(["s"])));
    assert!(refuses::<v2::StateUpdate>(json!({ "state": 0 })));
    assert!(refuses::<v1::ContentBlock>(json!({ "type": 0, "text": "a" })));
    assert!(refuses::<v1::StopReason>(json!(0)));
}

#[test]
fn null_stands_for_an_empty_result_only_where_nothing_is_required() {
    assert_eq!(read::<v1::AuthenticateResponse>(json!(null)), v1::AuthenticateResponse::new());
    assert_eq!(read::<v2::ResumeSessionResponse>(json!(null)), v2::ResumeSessionResponse::new());
    assert_eq!(read::<v2::ListSessionsRequest>(json!(null)), v2::ListSessionsRequest::new());
    assert!(refuses::<v1::PromptResponse>(json!(null)));
    assert!(refuses::<v2::InitializeResponse>(json!(null)));
}

#[test]
fn a_malformed_capability_is_not_advertised() {
    let capabilities: v2::ClientCapabilities =
        read(json!({ "elicitation": { "form": true, "url": {} }, "auth": 7 }));
    let elicitation = v2::ElicitationCapabilities::new().url(v2::ElicitationUrlCapabilities::new());
    assert_eq!(capabilities, v2::ClientCapabilities::new().elicitation(elicitation));
    let capabilities: v1::ClientCapabilities = read(json!({ "terminal": "yes", "fs": null }));
    assert_eq!(capabilities, v1::ClientCapabilities::new());
}

#[test]
fn absent_null_and_garbage_keep_clear_and_keep_a_patched_member() {
    let update =
        |title: Value| read::<v2::ToolCallUpdate>(json!({ "toolCallId": "c", "title": title })).title;
    assert_eq!(read::<v2::ToolCallUpdate>(json!({ "toolCallId": "c" })).title, Patch::Keep);
    assert_eq!(update(json!(null)), Patch::Clear);
    assert_eq!(update(json!(5)), Patch::Keep);
    assert_eq!(update(json!("T")), Patch::Set("T".to_owned()));
}

#[test]
fn an_unknown_value_of_version_2_survives_a_round_trip() {
    let update = json!({
        "sessionId": "s",
        "update": { "sessionUpdate": "_milk/route", "z": 1, "a": { "model": "big" }, "_meta": {} },
    });
    let read_back: v2::UpdateSessionNotification = read(update.clone());
    let v2::SessionUpdate::Other(other) = &read_back.update else { panic!("{read_back:?}") };
    assert_eq!((other.tag(), other.is_custom()), ("_milk/route", true));
    assert_eq!(other.fields().keys().collect::<Vec<_>>(), ["z", "a", "_meta"]);
    assert_eq!(serde_json::to_string(&read_back).expect("JSON"), update.to_string());
    assert_eq!(read::<v2::ToolKind>(json!("teleport")), v2::ToolKind::Unknown("teleport".to_owned()));
    assert!(refuses::<v1::SessionNotification>(update));
}

#[test]
fn a_known_discriminator_with_a_bad_payload_is_no_unknown_value() {
    assert!(refuses::<v2::SessionUpdate>(json!({ "sessionUpdate": "agent_message_chunk", "content": {} })));
    assert!(refuses::<v2::ContentBlock>(json!({ "text": "a", "type": "image" })));
    assert!(refuses::<v2::McpServer>(json!({ "name": "n", "command": "/c" })));
}

#[test]
fn in_version_1_an_unknown_discriminator_means_the_form_without_one() {
    let method = v1::AuthMethod::Agent(v1::AuthMethodAgent::new("a", "A"));
    for odd in [json!("someday"), json!(null), json!(3)] {
        assert_eq!(read::<v1::AuthMethod>(json!({ "type": odd, "id": "a", "name": "A" })), method);
    }
    let broken = json!({ "type": "terminal", "id": "a", "name": "A", "args": 1 });
    assert!(refuses::<v1::AuthMethod>(broken));
    assert!(refuses::<v1::McpServer>(json!({ "type": "http", "name": "n" })));
    assert_eq!(
        read::<v1::SessionConfigOptionValue>(json!({ "type": "boolean", "value": "on" })),
        v1::SessionConfigOptionValue::from("on"),
    );
    assert!(refuses::<v1::SessionConfigOptionValue>(json!({ "value": true })));
}

#[test]
fn a_discriminator_is_found_anywhere_in_the_object() {
    let late =
        r#"{"content":{"text":"a","type":"text"},"messageId":"m","sessionUpdate":"agent_message_chunk"}"#;
    let update: v2::SessionUpdate = serde_json::from_str(late).expect("an update");
    assert_eq!(update, v2::SessionUpdate::AgentMessageChunk(v2::ContentChunk::new("m", "a")));
}

#[test]
fn an_idempotency_key_has_1_to_255_characters() {
    let key = |key: String| json!({ "sessionId": "s", "prompt": [], "idempotencyKey": key });
    assert!(refuses::<v2::PromptRequest>(key(String::new())));
    assert!(refuses::<v2::PromptRequest>(key("ä".repeat(256))));
    let request: v2::PromptRequest = read(key("ä".repeat(255)));
    assert_eq!(request.idempotency_key.map(|key| key.as_str().chars().count()), Some(255));
    assert!(refuses::<v2::PromptRequest>(json!({ "sessionId": "s", "prompt": [], "idempotencyKey": 5 })));
}

#[test]
fn an_elicitation_has_exactly_one_scope_in_version_2() {
    let create = |scope: Value| {
        let mut request =
            json!({ "mode": "url", "elicitationId": "e", "url": "https://example.org", "message": "m" });
        request.as_object_mut().expect("an object").extend(scope.as_object().expect("an object").clone());
        request
    };
    assert!(!refuses::<v2::CreateElicitationRequest>(create(json!({ "sessionId": "s", "toolCallId": "c" }))));
    assert!(!refuses::<v2::CreateElicitationRequest>(create(json!({ "requestId": 1 }))));
    for scope in [
        json!({}),
        json!({ "sessionId": "s", "requestId": 1 }),
        json!({ "requestId": 1, "toolCallId": null }),
    ] {
        assert!(refuses::<v2::CreateElicitationRequest>(create(scope)));
    }
}

#[test]
fn a_protocol_version_is_a_small_whole_number() {
    assert_eq!(read::<ProtocolVersion>(json!(65535)), ProtocolVersion(65535));
    for value in [json!(-1), json!(65536), json!("1"), json!(1.0), json!(null)] {
        assert!(refuses::<ProtocolVersion>(value));
    }
}

#[test]
fn a_methods_name_leads_to_its_types() {
    fn answer<M: Method>(result: Value) -> String {
        format!("{} {}", M::NAME, crate::line(&read::<M::Result>(result)))
    }
    assert_eq!(
        answer::<v1::method::SessionPrompt>(json!({ "stopReason": "refusal" })),
        r#"session/prompt {"stopReason":"refusal"}"#
    );
    assert_eq!(
        answer::<v2::method::SessionPrompt>(json!({ "messageId": "m" })),
        r#"session/prompt {"messageId":"m"}"#
    );
}

#[test]
fn meta_of_the_wrong_type_is_ignored() {
    let request: v2::DeleteSessionRequest = read(json!({ "sessionId": "s", "_meta": [1] }));
    assert_eq!(request.meta, None);
    let request: v2::DeleteSessionRequest = read(json!({ "sessionId": "s", "_meta": {} }));
    assert_eq!(request.meta, Some(Meta::new()));
}
