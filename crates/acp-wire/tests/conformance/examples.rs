//! One message of each page of the protocol, in our own words: it is valid, both implementations read it, and it
//! comes out as it went in.

use serde_json::Value;

use crate::schema::Schema;
use crate::subjects::{self, Subject};

/// The type and the JSON.
type Example = (&'static str, &'static str);

const V1: &[Example] = &[
    // Authentication.
    ("AuthenticateRequest", r#"{"methodId":"browser"}"#),
    (
        "AuthMethod",
        r#"{"type":"terminal","id":"tty","name":"Terminal","args":["login"],"env":{"MILK_LOGIN":"1"}}"#,
    ),
    ("LogoutRequest", "{}"),
    // Session setup and list.
    (
        "LoadSessionRequest",
        r#"{"mcpServers":[{"type":"http","name":"web","url":"https://mcp.example.org/mcp","headers":[{"name":"X-Key","value":"k"}]}],"cwd":"/home/u/milk","additionalDirectories":["/home/u/lib"],"sessionId":"s-17"}"#,
    ),
    (
        "ResumeSessionRequest",
        r#"{"sessionId":"s-17","cwd":"/home/u/milk","systemPrompt":{"mode":"append","content":[{"type":"text","text":"Be brief."}]}}"#,
    ),
    ("ListSessionsRequest", r#"{"cwd":"/home/u/milk","cursor":"bzo1MA=="}"#),
    (
        "SessionInfo",
        r#"{"sessionId":"s-17","cwd":"/home/u/milk","title":"Churn","updatedAt":"2026-11-30T08:15:00Z"}"#,
    ),
    ("DeleteSessionRequest", r#"{"sessionId":"s-17"}"#),
    ("CloseSessionRequest", r#"{"sessionId":"s-17"}"#),
    // Modes and options.
    ("SetSessionModeRequest", r#"{"sessionId":"s-17","modeId":"plan"}"#),
    (
        "SessionConfigOption",
        r#"{"id":"model","name":"Model","category":"model","type":"select","currentValue":"small","options":[{"group":"local","name":"Local","options":[{"value":"small","name":"Small","description":"Fits in memory"}]}]}"#,
    ),
    // Prompt turn and content.
    (
        "PromptRequest",
        r#"{"sessionId":"s-17","prompt":[{"type":"text","text":"What is this?"},{"type":"resource","resource":{"uri":"file:///home/u/milk/a.rs","text":"fn main() {}","mimeType":"text/x-rust"}},{"type":"audio","data":"bWlsaw==","mimeType":"audio/wav","annotations":{"audience":["assistant"],"priority":0.5}}]}"#,
    ),
    (
        "SessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"What is this?"},"messageId":"m-1"}}"#,
    ),
    ("CancelNotification", r#"{"sessionId":"s-17"}"#),
    ("CancelRequestNotification", r#"{"requestId":12}"#),
    // Tool calls, plan, commands, usage.
    (
        "SessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"tool_call_update","toolCallId":"c-3","status":"failed","content":[{"type":"content","content":{"type":"text","text":"no such file"}},{"type":"terminal","terminalId":"t-1"}]}}"#,
    ),
    (
        "SessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"plan","entries":[{"content":"Read","priority":"high","status":"completed"},{"content":"Write","priority":"medium","status":"in_progress"}]}}"#,
    ),
    (
        "SessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"usage_update","used":1200,"size":32768,"cost":{"amount":0.02,"currency":"EUR"}}}"#,
    ),
    ("RequestPermissionResponse", r#"{"outcome":{"outcome":"selected","optionId":"allow"}}"#),
    // File system and terminals.
    ("WriteTextFileRequest", r#"{"sessionId":"s-17","path":"/home/u/milk/a.rs","content":"fn main() {}\n"}"#),
    ("TerminalOutputRequest", r#"{"sessionId":"s-17","terminalId":"t-1"}"#),
    (
        "TerminalOutputResponse",
        r#"{"output":"ok\n","truncated":true,"exitStatus":{"exitCode":1,"signal":"SIGKILL"}}"#,
    ),
    // Elicitation.
    (
        "CreateElicitationRequest",
        r#"{"mode":"form","sessionId":"s-17","toolCallId":"c-3","requestedSchema":{"type":"object","title":"Release","properties":{"parts":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"cli","title":"CLI"}]}},"mail":{"type":"string","format":"email","pattern":".+@.+"}},"required":["parts"]},"message":"What to release?"}"#,
    ),
    (
        "CreateElicitationResponse",
        r#"{"action":"accept","content":{"parts":["cli"],"count":3,"ratio":0.5,"ok":true}}"#,
    ),
    ("CompleteElicitationNotification", r#"{"elicitationId":"e-1"}"#),
    // Errors.
    ("Error", r#"{"code":-32042,"message":"out of milk","data":{"shelf":3}}"#),
];

const V2: &[Example] = &[
    // Authentication.
    ("LoginAuthRequest", r#"{"methodId":"browser"}"#),
    (
        "AuthMethod",
        r#"{"type":"terminal","methodId":"tty","name":"Terminal","args":["login"],"env":[{"name":"MILK_LOGIN","value":"1"}]}"#,
    ),
    ("AuthMethod", r#"{"type":"_milk/key","methodId":"key","name":"Key","file":"~/.key"}"#),
    // Session setup and list.
    (
        "NewSessionRequest",
        r#"{"cwd":"/home/u/milk","mcpServers":[{"type":"http","name":"web","url":"https://mcp.example.org/mcp","headers":[{"name":"X-Key","value":"k"}]},{"type":"_pipe","name":"p"}],"systemPrompt":{"mode":"override","content":[{"type":"text","text":"Be brief."}]}}"#,
    ),
    ("ResumeSessionRequest", r#"{"sessionId":"s-17","cwd":"/home/u/milk","replayFrom":{"type":"start"}}"#),
    (
        "ListSessionsResponse",
        r#"{"sessions":[{"sessionId":"s-17","cwd":"/home/u/milk","title":"Churn"}],"nextCursor":""}"#,
    ),
    // Options and commands.
    (
        "SetSessionConfigOptionRequest",
        r#"{"sessionId":"s-17","configId":"temperature","type":"_number","value":0.3}"#,
    ),
    (
        "SessionConfigOption",
        r#"{"configId":"temperature","name":"Temperature","category":"_sampling","type":"_number","currentValue":0.3}"#,
    ),
    (
        "AvailableCommand",
        r#"{"type":"_macro","name":"tidy","description":"Tidies up","steps":["fmt","clippy"]}"#,
    ),
    // Prompt lifecycle.
    (
        "UpdateSessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"_out_of_milk","shelf":3}}"#,
    ),
    (
        "UpdateSessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"state_update","state":"running","background":[{"type":"tool_call","toolCallId":"c-3"},{"type":"subagent","sessionId":"s-18"}]}}"#,
    ),
    (
        "UpdateSessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"agent_message","messageId":"m-2","content":null,"_meta":null}}"#,
    ),
    // Content.
    (
        "ContentBlock",
        r#"{"type":"resource_link","name":"spec","uri":"https://example.org/spec","icons":[{"src":"https://example.org/i.svg","sizes":["any"],"theme":"dark"}],"size":18446744073709551615}"#,
    ),
    ("ContentBlock", r#"{"type":"_milk/chart","points":[[0,1],[1,3]]}"#),
    // Tool calls, permissions, terminals.
    (
        "ToolCallContent",
        r#"{"type":"diff","changes":[{"operation":"move","oldPath":"/home/u/a","path":"/home/u/b"},{"operation":"_touch","at":"now"}],"patch":{"format":"_unified","text":"--- a\n"}}"#,
    ),
    ("CancelToolCallRequest", r#"{"sessionId":"s-17","toolCallId":"c-3"}"#),
    (
        "UpdateSessionNotification",
        r#"{"sessionId":"s-17","update":{"sessionUpdate":"tool_call_update","toolCallId":"c-3","kind":null,"status":"paused","capabilities":{"cancel":{}},"_meta":{"note":null}}}"#,
    ),
    (
        "RequestPermissionRequest",
        r#"{"sessionId":"s-17","title":"bash: cargo test","subject":{"type":"command","command":"cargo test","cwd":"/home/u/milk","terminalId":"t-1"},"options":[{"optionId":"a","name":"Once","kind":"allow_once"},{"optionId":"m","name":"Monday","kind":"_allow_mondays"}]}"#,
    ),
    ("RequestPermissionResponse", r#"{"outcome":{"outcome":"_later","minutes":5}}"#),
    (
        "TerminalUpdate",
        r#"{"terminalId":"t-1","command":"cargo test","cwd":"/home/u/milk","output":{"data":"bWlsaw=="},"exitStatus":null,"size":{"cols":80,"rows":24}}"#,
    ),
    // Plans, elicitation, subagents, compaction.
    (
        "PlanUpdate",
        r##"{"plan":{"type":"markdown","planId":"p","content":"# Plan","path":"/home/u/milk/PLAN.md"}}"##,
    ),
    ("CreateElicitationRequest", r#"{"mode":"_voice","requestId":"r-1","language":"de","message":"Say it"}"#),
    ("CreateElicitationResponse", r#"{"action":"_postpone","minutes":5}"#),
    (
        "SubagentUpdate",
        r#"{"sessionId":"s-18","title":"Scout","state":{"state":"requires_action"},"cwd":"/home/u/milk"}"#,
    ),
    (
        "SessionMessage",
        r#"{"messageId":"m-9","senderSessionId":"s-17","recipientSessionId":"s-18","content":[{"type":"text","text":"Go"}]}"#,
    ),
    ("CompactionUpdate", r#"{"compactionId":"k","status":"failed","summary":null,"error":"too long"}"#),
    // Errors.
    ("UnsupportedProtocolVersionErrorData", r#"{"requested":0,"supported":[1,2]}"#),
];

fn check(examples: &[Example], subjects: &[Subject], schema: &Schema) {
    for (name, text) in examples {
        let subject = subjects.iter().find(|subject| subject.name == *name).expect("a known type");
        let value: Value = serde_json::from_str(text).expect("JSON");
        schema.validator(name).validate(&value).unwrap_or_else(|e| panic!("{name} {text}: {e}"));
        assert_eq!((subject.ours)(text).as_ref(), Ok(&value), "{name}");
        let theirs = (subject.theirs)(text).unwrap_or_else(|e| panic!("{name} {text}: {e}"));
        assert_eq!((subject.ours)(&theirs.to_string()), Ok(value), "{name}");
    }
}

#[test]
fn messages_of_each_page_of_version_1_come_out_as_they_went_in() {
    check(V1, &subjects::v1(), &Schema::read("schema-v1.json"));
}

#[test]
fn messages_of_each_page_of_version_2_come_out_as_they_went_in() {
    check(V2, &subjects::v2(), &Schema::read("schema-v2.json"));
}
