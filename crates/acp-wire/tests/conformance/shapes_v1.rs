//! What version 1 looks like when it is built and written.

use acp_wire::ProtocolVersion;
use acp_wire::v1::*;
use insta::assert_snapshot;
use serde_json::json;

use crate::line;

fn update(update: impl Into<SessionUpdate>) -> String {
    line(&SessionNotification::new("s", update))
}

#[test]
fn initialize() {
    let capabilities = ClientCapabilities::new()
        .fs(FileSystemCapabilities::new().read_text_file(true).write_text_file(true))
        .terminal(true);
    let request = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(capabilities)
        .client_info(Implementation::new("ed", "1.0"));
    assert_snapshot!(line(&request), @r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":false}},"clientInfo":{"name":"ed","version":"1.0"}}"#);

    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().image(true))
        .session_capabilities(SessionCapabilities::new().list(SessionListCapabilities::new()));
    let response = InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("milk", "0.1.0"));
    assert_snapshot!(line(&response), @r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":false,"embeddedContext":false},"mcpCapabilities":{"http":false,"sse":false},"sessionCapabilities":{"list":{}},"auth":{}},"authMethods":[],"agentInfo":{"name":"milk","version":"0.1.0"}}"#);
}

#[test]
fn session_setup() {
    let server = McpServerStdio::new("files", "files", [], []);
    let request = NewSessionRequest::new("/w", [server.into()]);
    assert_snapshot!(line(&request), @r#"{"cwd":"/w","mcpServers":[{"name":"files","command":"files","args":[],"env":[]}]}"#);
    let modes = SessionModeState::new("ask", [SessionMode::new("ask", "Ask")]);
    let select = SessionConfigSelect::new("auto", vec![SessionConfigSelectOption::new("auto", "Auto")]);
    let response = NewSessionResponse::new("s")
        .modes(modes)
        .config_options(vec![SessionConfigOption::new("routing", "Routing", select)]);
    assert_snapshot!(line(&response), @r#"{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]},"configOptions":[{"id":"routing","name":"Routing","type":"select","currentValue":"auto","options":[{"value":"auto","name":"Auto"}]}]}"#);
    assert_snapshot!(line(&LoadSessionResponse::new()), @"{}");
    let set = SetSessionConfigOptionRequest::new("s", "routing", "auto");
    assert_snapshot!(line(&set), @r#"{"sessionId":"s","configId":"routing","value":"auto"}"#);
    let set = SetSessionConfigOptionRequest::new("s", "think", false);
    assert_snapshot!(line(&set), @r#"{"sessionId":"s","configId":"think","type":"boolean","value":false}"#);
    assert_snapshot!(line(&ListSessionsResponse::new([])), @r#"{"sessions":[]}"#);
    let method = AuthMethod::from(AuthMethodAgent::new("login", "Sign in"));
    assert_snapshot!(line(&method), @r#"{"id":"login","name":"Sign in"}"#);
}

#[test]
fn prompt() {
    let usage = Usage::new(15, 10, 5);
    let response = PromptResponse::new(StopReason::EndTurn).usage(usage);
    assert_snapshot!(line(&response), @r#"{"stopReason":"end_turn","usage":{"totalTokens":15,"inputTokens":10,"outputTokens":5}}"#);
    let image = ImageContent::new("bWlsaw==", "image/png");
    assert_snapshot!(line(&PromptRequest::new("s", [image.into()])), @r#"{"sessionId":"s","prompt":[{"type":"image","data":"bWlsaw==","mimeType":"image/png"}]}"#);
}

#[test]
fn updates() {
    let chunk = SessionUpdate::AgentMessageChunk(ContentChunk::new("Hi").message_id("m1"));
    assert_snapshot!(update(chunk), @r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"},"messageId":"m1"}}"#);
    let call = ToolCall::new("c1", "edit_file: /w/a.rs")
        .kind(ToolKind::Edit)
        .status(ToolCallStatus::InProgress)
        .content([Diff::new("/w/a.rs", "new").old_text("old").into()])
        .locations([ToolCallLocation::new("/w/a.rs").line(1)])
        .raw_input(json!({ "path": "a.rs" }));
    assert_snapshot!(update(call), @r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"edit_file: /w/a.rs","kind":"edit","status":"in_progress","content":[{"type":"diff","path":"/w/a.rs","oldText":"old","newText":"new"}],"locations":[{"path":"/w/a.rs","line":1}],"rawInput":{"path":"a.rs"}}}"#);
    let call = ToolCall::new("c2", "read_file: a.rs");
    assert_snapshot!(update(call), @r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c2","title":"read_file: a.rs"}}"#);
    let change = ToolCallUpdate::new("c1").status(ToolCallStatus::Completed);
    assert_snapshot!(update(change), @r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}"#);
    let plan = Plan::new([PlanEntry::new("Look", PlanEntryPriority::Low, PlanEntryStatus::Pending)]);
    assert_snapshot!(update(plan), @r#"{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"Look","priority":"low","status":"pending"}]}}"#);
    let command = AvailableCommand::new("plan", "Makes a plan")
        .input(AvailableCommandInput::from(UnstructuredCommandInput::new("goal")));
    assert_snapshot!(update(AvailableCommandsUpdate::new([command])), @r#"{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"plan","description":"Makes a plan","input":{"hint":"goal"}}]}}"#);
    assert_snapshot!(update(CurrentModeUpdate::new("ask")), @r#"{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}}"#);
}

#[test]
fn permission() {
    let request = RequestPermissionRequest::new(
        "s",
        ToolCallUpdate::new("c1").title("bash: ls"),
        [PermissionOption::new("allow", "Allow once", PermissionOptionKind::AllowOnce)],
    );
    assert_snapshot!(line(&request), @r#"{"sessionId":"s","toolCall":{"toolCallId":"c1","title":"bash: ls"},"options":[{"optionId":"allow","name":"Allow once","kind":"allow_once"}]}"#);
    let withdrawn = RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
    assert_snapshot!(line(&withdrawn), @r#"{"outcome":{"outcome":"cancelled"}}"#);
}

#[test]
fn files_and_terminals() {
    let read = ReadTextFileRequest::new("s", "/w/a.rs").line(1).limit(20);
    assert_snapshot!(line(&read), @r#"{"sessionId":"s","path":"/w/a.rs","line":1,"limit":20}"#);
    let create =
        CreateTerminalRequest::new("s", "ls").args(["-l".to_owned()]).cwd("/w").output_byte_limit(1024);
    assert_snapshot!(line(&create), @r#"{"sessionId":"s","command":"ls","args":["-l"],"cwd":"/w","outputByteLimit":1024}"#);
    let output =
        TerminalOutputResponse::new("a.rs\n", false).exit_status(TerminalExitStatus::new().exit_code(0));
    assert_snapshot!(line(&output), @r#"{"output":"a.rs\n","truncated":false,"exitStatus":{"exitCode":0}}"#);
    assert_snapshot!(line(&WaitForTerminalExitResponse::new().signal("SIGTERM")), @r#"{"signal":"SIGTERM"}"#);
}
