//! The methods of this version: requests, then notifications. Each says which way it goes.

use crate::method::methods;

methods! {
    /// Client to agent: selects the version and exchanges capabilities. Protocol: Initialization.
    Initialize = "initialize": super::InitializeRequest => super::InitializeResponse,
    /// Client to agent: signs the user in. Protocol: Authentication.
    AuthLogin = "auth/login": super::LoginAuthRequest => super::LoginAuthResponse,
    /// Client to agent: signs the user out. Protocol: Authentication.
    AuthLogout = "auth/logout": super::LogoutAuthRequest => super::LogoutAuthResponse,
    /// Client to agent: opens a session. Protocol: Session Setup.
    SessionNew = "session/new": super::NewSessionRequest => super::NewSessionResponse,
    /// Client to agent: lists stored sessions. Protocol: Session List.
    SessionList = "session/list": super::ListSessionsRequest => super::ListSessionsResponse,
    /// Client to agent: opens a stored session, with a replay if asked. Protocol: Session Setup.
    SessionResume = "session/resume": super::ResumeSessionRequest => super::ResumeSessionResponse,
    /// Client to agent: closes an open session. Protocol: Session Setup.
    SessionClose = "session/close": super::CloseSessionRequest => super::CloseSessionResponse,
    /// Client to agent: deletes a stored session. Protocol: Session Delete.
    SessionDelete = "session/delete": super::DeleteSessionRequest => super::DeleteSessionResponse,
    /// Client to agent: inserts the user's message and starts work on it. Protocol: Prompt Lifecycle.
    SessionPrompt = "session/prompt": super::PromptRequest => super::PromptResponse,
    /// Client to agent: sets an option. Protocol: Session Config Options.
    SessionSetConfigOption = "session/set_config_option": super::SetSessionConfigOptionRequest => super::SetSessionConfigOptionResponse,
    /// Client to agent: ends one tool call. Protocol: Tool Calls.
    ToolCallCancel = "tool_call/cancel": super::CancelToolCallRequest => super::CancelToolCallResponse,
    /// Client to agent: ends the process of one terminal. Protocol: Terminals.
    TerminalCancel = "terminal/cancel": super::CancelTerminalRequest => super::CancelTerminalResponse,
    /// Agent to client: asks the user for a permission. Protocol: Tool Calls.
    SessionRequestPermission = "session/request_permission": super::RequestPermissionRequest => super::RequestPermissionResponse,
    /// Agent to client: asks the user for structured input. Protocol: Elicitation.
    ElicitationCreate = "elicitation/create": super::CreateElicitationRequest => super::CreateElicitationResponse,
    ;
    /// Client to agent: ends all foreground work. Protocol: Prompt Lifecycle.
    SessionCancel = "session/cancel": super::CancelSessionNotification,
    /// Agent to client: reports what happens in a session. Protocol: Prompt Lifecycle.
    SessionUpdate = "session/update": super::UpdateSessionNotification,
    /// Agent to client: says that an interaction behind a URL is over. Protocol: Elicitation.
    ElicitationComplete = "elicitation/complete": super::CompleteElicitationNotification,
    /// Both ways: withdraws a request. Protocol: Cancellation.
    CancelRequest = "$/cancel_request": super::CancelRequestNotification,
}
