//! The methods of this version: requests, then notifications. Each says which way it goes.

use crate::method::methods;

methods! {
    /// Client to agent: selects the version and exchanges capabilities. Protocol: Initialization.
    Initialize = "initialize": super::InitializeRequest => super::InitializeResponse,
    /// Client to agent: signs the user in. Protocol: Authentication.
    Authenticate = "authenticate": super::AuthenticateRequest => super::AuthenticateResponse,
    /// Client to agent: signs the user out. Protocol: Authentication.
    Logout = "logout": super::LogoutRequest => super::LogoutResponse,
    /// Client to agent: opens a session. Protocol: Session Setup.
    SessionNew = "session/new": super::NewSessionRequest => super::NewSessionResponse,
    /// Client to agent: opens a stored session and replays it. Protocol: Session Setup.
    SessionLoad = "session/load": super::LoadSessionRequest => super::LoadSessionResponse,
    /// Client to agent: opens a stored session without replay. Protocol: Session Setup.
    SessionResume = "session/resume": super::ResumeSessionRequest => super::ResumeSessionResponse,
    /// Client to agent: lists stored sessions. Protocol: Session List.
    SessionList = "session/list": super::ListSessionsRequest => super::ListSessionsResponse,
    /// Client to agent: deletes a stored session. Protocol: Session Delete.
    SessionDelete = "session/delete": super::DeleteSessionRequest => super::DeleteSessionResponse,
    /// Client to agent: closes an open session. Protocol: Session Setup.
    SessionClose = "session/close": super::CloseSessionRequest => super::CloseSessionResponse,
    /// Client to agent: switches the mode. Protocol: Session Modes.
    SessionSetMode = "session/set_mode": super::SetSessionModeRequest => super::SetSessionModeResponse,
    /// Client to agent: sets an option. Protocol: Session Config Options.
    SessionSetConfigOption = "session/set_config_option": super::SetSessionConfigOptionRequest => super::SetSessionConfigOptionResponse,
    /// Client to agent: runs a turn; answered when it ends. Protocol: Prompt Turn.
    SessionPrompt = "session/prompt": super::PromptRequest => super::PromptResponse,
    /// Agent to client: asks the user for a permission. Protocol: Tool Calls.
    SessionRequestPermission = "session/request_permission": super::RequestPermissionRequest => super::RequestPermissionResponse,
    /// Agent to client: reads a text file as the editor has it. Protocol: File System.
    FsReadTextFile = "fs/read_text_file": super::ReadTextFileRequest => super::ReadTextFileResponse,
    /// Agent to client: writes a text file. Protocol: File System.
    FsWriteTextFile = "fs/write_text_file": super::WriteTextFileRequest => super::WriteTextFileResponse,
    /// Agent to client: starts a command. Protocol: Terminals.
    TerminalCreate = "terminal/create": super::CreateTerminalRequest => super::CreateTerminalResponse,
    /// Agent to client: reads what a command has written. Protocol: Terminals.
    TerminalOutput = "terminal/output": super::TerminalOutputRequest => super::TerminalOutputResponse,
    /// Agent to client: waits for a command's end. Protocol: Terminals.
    TerminalWaitForExit = "terminal/wait_for_exit": super::WaitForTerminalExitRequest => super::WaitForTerminalExitResponse,
    /// Agent to client: ends a command and keeps its output. Protocol: Terminals.
    TerminalKill = "terminal/kill": super::KillTerminalRequest => super::KillTerminalResponse,
    /// Agent to client: ends a command and frees it. Protocol: Terminals.
    TerminalRelease = "terminal/release": super::ReleaseTerminalRequest => super::ReleaseTerminalResponse,
    /// Agent to client: asks the user for structured input. Protocol: Elicitation.
    ElicitationCreate = "elicitation/create": super::CreateElicitationRequest => super::CreateElicitationResponse,
    ;
    /// Client to agent: ends the running turn. Protocol: Prompt Turn.
    SessionCancel = "session/cancel": super::CancelNotification,
    /// Agent to client: reports what happens in a session. Protocol: Prompt Turn.
    SessionUpdate = "session/update": super::SessionNotification,
    /// Agent to client: says that an interaction behind a URL is over. Protocol: Elicitation.
    ElicitationComplete = "elicitation/complete": super::CompleteElicitationNotification,
    /// Both ways: withdraws a request. Protocol: Cancellation.
    CancelRequest = "$/cancel_request": super::CancelRequestNotification,
}
