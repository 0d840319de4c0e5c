//! What version 2 looks like when it is built and written.

use std::num::NonZero;

use acp_wire::v2::*;
use acp_wire::{Meta, Patch, ProtocolVersion};
use insta::assert_snapshot;
use serde_json::json;

use crate::line;

fn update(update: impl Into<SessionUpdate>) -> String {
    line(&UpdateSessionNotification::new("s", update))
}

#[test]
fn initialize() {
    let capabilities = ClientCapabilities::new().elicitation(
        ElicitationCapabilities::new()
            .form(ElicitationFormCapabilities::new())
            .url(ElicitationUrlCapabilities::new()),
    );
    let request = InitializeRequest::new(ProtocolVersion::V2, Implementation::new("ed", "1.0").title("Ed"))
        .capabilities(capabilities);
    assert_snapshot!(line(&request), @r#"{"protocolVersion":2,"info":{"name":"ed","title":"Ed","version":"1.0"},"capabilities":{"elicitation":{"form":{},"url":{}}}}"#);

    let session = SessionCapabilities::new()
        .prompt(PromptCapabilities::new().image(PromptImageCapabilities::new()))
        .mcp(McpCapabilities::new().stdio(McpStdioCapabilities::new()))
        .delete(SessionDeleteCapabilities::new());
    let response = InitializeResponse::new(ProtocolVersion::V2, Implementation::new("milk", "0.1.0"))
        .capabilities(AgentCapabilities::new().session(session));
    assert_snapshot!(line(&response), @r#"{"protocolVersion":2,"info":{"name":"milk","version":"0.1.0"},"capabilities":{"session":{"prompt":{"image":{}},"mcp":{"stdio":{}},"delete":{}}}}"#);
}

#[test]
fn session_setup() {
    let server = McpServerStdio::new("files", "/bin/files")
        .args(["--ro".to_owned()])
        .env([EnvVariable::new("A", "b")]);
    let request = NewSessionRequest::new("/w").mcp_servers([server.into()]);
    assert_snapshot!(line(&request), @r#"{"cwd":"/w","mcpServers":[{"type":"stdio","name":"files","command":"/bin/files","args":["--ro"],"env":[{"name":"A","value":"b"}]}]}"#);

    let command = Command::new("plan", "Makes a plan")
        .input(AvailableCommandInput::from(TextCommandInput::new("goal")));
    let select = SessionConfigSelect::new("auto", vec![SessionConfigSelectOption::new("auto", "Auto")]);
    let response = NewSessionResponse::new("s")
        .config_options([
            SessionConfigOption::new("routing", "Routing", select),
            SessionConfigOption::new("think", "Think", SessionConfigBoolean::new(true))
                .category(SessionConfigOptionCategory::ThoughtLevel),
        ])
        .available_commands([command.into()]);
    assert_snapshot!(line(&response), @r#"{"sessionId":"s","configOptions":[{"configId":"routing","name":"Routing","type":"select","currentValue":"auto","options":[{"value":"auto","name":"Auto"}]},{"configId":"think","name":"Think","category":"thought_level","type":"boolean","currentValue":true}],"availableCommands":[{"type":"command","name":"plan","description":"Makes a plan","input":{"type":"text","hint":"goal"}}]}"#);

    let resume = ResumeSessionRequest::new("s", "/w").replay_from(ReplayFrom::from(ReplayFromStart::new()));
    assert_snapshot!(line(&resume), @r#"{"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}"#);
    assert_snapshot!(line(&ResumeSessionResponse::new()), @"{}");

    let page = ListSessionsResponse::new([SessionInfo::new("s", "/w")
        .title("T")
        .updated_at("2026-11-30T12:00:00Z")])
    .next_cursor("bzo1MA==");
    assert_snapshot!(line(&page), @r#"{"sessions":[{"sessionId":"s","cwd":"/w","title":"T","updatedAt":"2026-11-30T12:00:00Z"}],"nextCursor":"bzo1MA=="}"#);

    let set = SetSessionConfigOptionRequest::new("s", "think", true);
    assert_snapshot!(line(&set), @r#"{"sessionId":"s","configId":"think","type":"boolean","value":true}"#);
    let set = SetSessionConfigOptionRequest::new("s", "routing", "auto");
    assert_snapshot!(line(&set), @r#"{"sessionId":"s","configId":"routing","type":"id","value":"auto"}"#);
}

#[test]
fn prompt() {
    let request = PromptRequest::new(
        "s",
        [ContentBlock::from("Hello"), ResourceLink::new("a.rs", "file:///w/a.rs").into()],
    )
    .idempotency_key(IdempotencyKey::new("k1").expect("a key"));
    assert_snapshot!(line(&request), @r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hello"},{"type":"resource_link","name":"a.rs","uri":"file:///w/a.rs"}],"idempotencyKey":"k1"}"#);
    assert_snapshot!(line(&PromptResponse::new("m1")), @r#"{"messageId":"m1"}"#);
    assert_snapshot!(line(&CancelSessionNotification::new("s")), @r#"{"sessionId":"s"}"#);
}

#[test]
fn messages_and_states() {
    let message = UserMessage::new("m1").content(vec![ContentBlock::from("Hello")]);
    assert_snapshot!(update(message), @r#"{"sessionId":"s","update":{"sessionUpdate":"user_message","messageId":"m1","content":[{"type":"text","text":"Hello"}]}}"#);
    let cleared = AgentMessage::new("m2").content(Patch::Clear);
    assert_snapshot!(update(cleared), @r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message","messageId":"m2","content":null}}"#);
    let chunk = SessionUpdate::AgentThoughtChunk(ContentChunk::new("m3", "hm"));
    assert_snapshot!(update(chunk), @r#"{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","messageId":"m3","content":{"type":"text","text":"hm"}}}"#);

    let running =
        RunningStateUpdate::new().background(vec![BackgroundWork::from(BackgroundTerminal::new("t1"))]);
    assert_snapshot!(update(StateUpdate::from(running)), @r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"running","background":[{"type":"terminal","terminalId":"t1"}]}}"#);
    let idle = IdleStateUpdate::new()
        .stop_reason(StopReason::EndTurn)
        .meta(Meta::from_iter([("milk/route".to_owned(), json!("primary"))]));
    assert_snapshot!(update(StateUpdate::from(idle)), @r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","_meta":{"milk/route":"primary"}}}"#);
    let failed = ErrorStopReason::new().error(Error::new(ErrorCode::InternalError, "no model"));
    let idle = IdleStateUpdate::new().stop_reason(StopReason::Error(failed));
    assert_snapshot!(update(StateUpdate::from(idle)), @r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"no model"}}}"#);
    let waiting = StateUpdate::from(RequiresActionStateUpdate::new());
    assert_snapshot!(update(waiting), @r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"requires_action"}}"#);
}

#[test]
fn tool_calls() {
    let change = DiffChange::new(DiffChangeOperation::Modify(DiffPathChange::new("/w/a.rs")))
        .file_type(DiffFileType::Text);
    let diff =
        Diff::new([change]).patch(DiffPatch::new(DiffPatchFormat::GitPatch, "diff --git /w/a.rs /w/a.rs\n"));
    let call = ToolCallUpdate::new("c1")
        .name("edit_file")
        .title("edit_file: /w/a.rs")
        .kind(ToolKind::Edit)
        .status(ToolCallStatus::Completed)
        .content(vec![ToolCallContent::from(diff)])
        .locations(vec![ToolCallLocation::new("/w/a.rs").line(NonZero::new(3))])
        .raw_input(json!({ "path": "a.rs" }))
        .raw_output(Patch::Clear);
    assert_snapshot!(update(call), @r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","name":"edit_file","title":"edit_file: /w/a.rs","kind":"edit","status":"completed","content":[{"type":"diff","changes":[{"operation":"modify","path":"/w/a.rs","fileType":"text"}],"patch":{"format":"git_patch","text":"diff --git /w/a.rs /w/a.rs\n"}}],"locations":[{"path":"/w/a.rs","line":3}],"rawInput":{"path":"a.rs"},"rawOutput":null}}"#);

    let chunk = ToolCallContentChunk::new("c1", Content::new("more"));
    assert_snapshot!(update(chunk), @r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c1","content":{"type":"content","content":{"type":"text","text":"more"}}}}"#);
    let terminal =
        TerminalUpdate::new("t1").command("ls").exit_status(TerminalExitStatus::new().exit_code(0));
    assert_snapshot!(update(terminal), @r#"{"sessionId":"s","update":{"sessionUpdate":"terminal_update","terminalId":"t1","command":"ls","exitStatus":{"exitCode":0}}}"#);
    assert_snapshot!(update(TerminalOutputChunk::new("t1", "bWlsaw==")), @r#"{"sessionId":"s","update":{"sessionUpdate":"terminal_output_chunk","terminalId":"t1","data":"bWlsaw=="}}"#);
}

#[test]
fn permission() {
    let request = RequestPermissionRequest::new(
        "s",
        "bash: ls",
        [
            PermissionOption::new("allow", "Allow once", PermissionOptionKind::AllowOnce),
            PermissionOption::new("reject", "Reject", PermissionOptionKind::RejectOnce),
        ],
    )
    .subject(RequestPermissionSubject::from(ToolCallPermissionSubject::new(ToolCallUpdate::new("c1"))));
    assert_snapshot!(line(&request), @r#"{"sessionId":"s","title":"bash: ls","subject":{"type":"tool_call","toolCall":{"toolCallId":"c1"}},"options":[{"optionId":"allow","name":"Allow once","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]}"#);
    let allowed = RequestPermissionResponse::new(SelectedPermissionOutcome::new("allow"));
    assert_snapshot!(line(&allowed), @r#"{"outcome":{"outcome":"selected","optionId":"allow"}}"#);
    let withdrawn = RequestPermissionResponse::new(CancelledPermissionOutcome::new());
    assert_snapshot!(line(&withdrawn), @r#"{"outcome":{"outcome":"cancelled"}}"#);
}

#[test]
fn plans_and_other_updates() {
    let entry = PlanEntry::new("Look", PlanEntryPriority::High, PlanEntryStatus::Cancelled);
    assert_snapshot!(update(PlanUpdate::new(PlanItems::new("tasks-s", [entry]))), @r#"{"sessionId":"s","update":{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"tasks-s","entries":[{"content":"Look","priority":"high","status":"cancelled"}]}}}"#);
    assert_snapshot!(update(PlanRemoved::new("tasks-s")), @r#"{"sessionId":"s","update":{"sessionUpdate":"plan_removed","planId":"tasks-s"}}"#);
    assert_snapshot!(update(SessionInfoUpdate::new().title("New")), @r#"{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"New"}}"#);
    assert_snapshot!(update(UsageUpdate::new(10, 100).cost(Cost::new(0.5, "USD"))), @r#"{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.5,"currency":"USD"}}}"#);
    assert_snapshot!(update(Notice::new(NoticeSeverity::Warning, "Slow")), @r#"{"sessionId":"s","update":{"sessionUpdate":"notice","severity":"warning","title":"Slow"}}"#);
    assert_snapshot!(update(ReplayComplete::new()), @r#"{"sessionId":"s","update":{"sessionUpdate":"replay_complete"}}"#);
    assert_snapshot!(update(SubagentUpdate::new("sub").title("Scout")), @r#"{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"sub","title":"Scout"}}"#);
    assert_snapshot!(update(CompactionUpdate::new("k").status(CompactionStatus::InProgress)), @r#"{"sessionId":"s","update":{"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress"}}"#);
    let own = SessionUpdate::other("_milk/route", Meta::from_iter([("model".to_owned(), json!("big"))]));
    assert_snapshot!(update(own), @r#"{"sessionId":"s","update":{"sessionUpdate":"_milk/route","model":"big"}}"#);
}

#[test]
fn elicitation() {
    let schema = ElicitationSchema::new(
        ElicitationSchemaType::Object,
        [("name".to_owned(), ElicitationPropertySchema::from(StringPropertySchema::new().min_length(1)))],
    )
    .required(vec!["name".to_owned()]);
    let form = ElicitationFormMode::new(ElicitationSessionScope::new("s"), schema);
    let request = CreateElicitationRequest::new(form, "Who are you?");
    assert_snapshot!(line(&request), @r#"{"mode":"form","sessionId":"s","requestedSchema":{"type":"object","properties":{"name":{"type":"string","minLength":1}},"required":["name"]},"message":"Who are you?"}"#);
    let url = ElicitationUrlMode::new(ElicitationRequestScope::new(7), "e1", "https://example.org");
    let request = CreateElicitationRequest::new(url, "Sign in");
    assert_snapshot!(line(&request), @r#"{"mode":"url","requestId":7,"elicitationId":"e1","url":"https://example.org","message":"Sign in"}"#);
    assert_snapshot!(line(&CreateElicitationResponse::new(ElicitationAction::Decline)), @r#"{"action":"decline"}"#);
}

#[test]
fn errors() {
    let data = serde_json::to_value(SessionNotFoundErrorData::new("s")).expect("an object");
    let error = Error::new(ErrorCode::ResourceNotFound, "no such session").data(data);
    assert_snapshot!(line(&error), @r#"{"code":-32002,"message":"no such session","data":{"sessionId":"s"}}"#);
    let data = UnsupportedProtocolVersionErrorData::new(
        ProtocolVersion(0),
        [ProtocolVersion::V1, ProtocolVersion::V2],
    );
    assert_snapshot!(line(&data), @r#"{"requested":0,"supported":[1,2]}"#);
    assert_snapshot!(line(&Error::from(ErrorCode::AuthRequired)), @r#"{"code":-32000,"message":"authentication required"}"#);
}
