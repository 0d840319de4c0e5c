//! The types under test: for each definition of the official schema, how we and how the official crate read a
//! text and write it again.

use serde_json::Value;

/// One type of one version.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) ours: fn(&str) -> Result<Value, String>,
    pub(crate) ours_from_value: fn(Value) -> Result<Value, String>,
    pub(crate) theirs: fn(&str) -> Result<Value, String>,
}

fn through<T: serde::Serialize + serde::de::DeserializeOwned>(text: &str) -> Result<Value, String> {
    let value: T = serde_json::from_str(text).map_err(|e| e.to_string())?;
    // Through text, since a number that can't be written as JSON would pass as a `Value`.
    let written = serde_json::to_string(&value).map_err(|e| e.to_string())?;
    serde_json::from_str(&written).map_err(|e| e.to_string())
}

fn through_value<T: serde::Serialize + serde::de::DeserializeOwned>(value: Value) -> Result<Value, String> {
    let value: T = serde_json::from_value(value).map_err(|e| e.to_string())?;
    serde_json::to_value(&value).map_err(|e| e.to_string())
}

macro_rules! subjects {
    ($version:ident: $($name:ident)*) => {
        pub(crate) fn $version() -> Vec<Subject> {
            vec![$(Subject {
                name: stringify!($name),
                ours: through::<acp_wire::$version::$name>,
                ours_from_value: through_value::<acp_wire::$version::$name>,
                theirs: through::<agent_client_protocol_schema::$version::$name>,
            }),*]
        }
    };
}

subjects! { v1:
    AgentAuthCapabilities AgentCapabilities Annotations AudioContent AuthCapabilities AuthMethod
    AuthMethodAgent AuthMethodId AuthMethodTerminal AuthenticateRequest AuthenticateResponse
    AvailableCommand AvailableCommandInput AvailableCommandsUpdate BlobResourceContents
    BooleanConfigOptionCapabilities BooleanPropertySchema CancelNotification CancelRequestNotification
    ClientCapabilities ClientSessionCapabilities CloseSessionRequest CloseSessionResponse
    CompactionCapabilities CompactionId CompactionStatus CompactionSummaryChunk CompactionUpdate
    CompleteElicitationNotification ConfigOptionUpdate Content ContentBlock ContentChunk Cost
    CreateElicitationRequest CreateElicitationResponse CreateTerminalRequest CreateTerminalResponse
    CurrentModeUpdate DeleteSessionRequest DeleteSessionResponse Diff ElicitationAcceptAction
    ElicitationCapabilities ElicitationContentValue ElicitationFormCapabilities ElicitationFormMode
    ElicitationId ElicitationPropertySchema ElicitationRequestScope ElicitationSchema
    ElicitationSchemaType ElicitationSessionScope ElicitationUrlCapabilities ElicitationUrlMode
    EmbeddedResource EmbeddedResourceResource EnumOption EnvVariable Error ErrorCode ErrorStopReason
    FileSystemCapabilities HttpHeader IdleStateUpdate ImageContent Implementation InitializeRequest
    InitializeResponse IntegerPropertySchema KillTerminalRequest KillTerminalResponse
    ListSessionsRequest ListSessionsResponse LoadSessionRequest LoadSessionResponse LogoutCapabilities
    LogoutRequest LogoutResponse McpCapabilities McpServer McpServerHttp McpServerSse
    McpServerStdio MessageId MultiSelectItems MultiSelectPropertySchema NewSessionRequest
    NewSessionResponse Notice NoticeCapabilities NoticeSeverity NumberPropertySchema PermissionOption
    PermissionOptionId PermissionOptionKind Plan PlanCapabilities PlanEntry PlanEntryPriority
    PlanEntryStatus PlanId PlanItems PlanMarkdown PlanRemoved PlanUpdate PlanUpdateContent
    PromptCapabilities PromptRequest PromptResponse ReadTextFileRequest ReadTextFileResponse
    ReleaseTerminalRequest ReleaseTerminalResponse RequestId RequestPermissionOutcome
    RequestPermissionRequest RequestPermissionResponse RequiresActionStateUpdate ResourceLink
    ResumeSessionRequest ResumeSessionResponse Role RunningStateUpdate SelectedPermissionOutcome
    SessionAdditionalDirectoriesCapabilities SessionCancelCapabilities SessionCapabilities
    SessionCloseCapabilities SessionConfigBoolean SessionConfigGroupId SessionConfigId
    SessionConfigOption SessionConfigOptionCategory SessionConfigOptionsCapabilities SessionConfigSelect
    SessionConfigSelectGroup SessionConfigSelectOption SessionConfigSelectOptions SessionConfigValueId
    SessionDeleteCapabilities SessionId SessionInfo SessionInfoUpdate SessionListCapabilities
    SessionMessage SessionMessageChunk SessionMode SessionModeId SessionModeState SessionNotification
    SessionReference SessionResumeCapabilities SessionSystemPromptCapabilities
    SessionSystemPromptModeCapabilities SessionSystemPromptOverrideCapabilities SessionUpdate
    SetSessionConfigOptionRequest SetSessionConfigOptionResponse SetSessionModeRequest
    SetSessionModeResponse StateUpdate StopReason StringFormat StringMultiSelectItems
    StringPropertySchema SubagentCapabilities SubagentSessionCapabilities SubagentUpdate SystemPrompt
    SystemPromptMode Terminal TerminalExitStatus TerminalId TerminalOutputRequest TerminalOutputResponse
    TextContent TextResourceContents TitledMultiSelectItems ToolCall ToolCallContent ToolCallId
    ToolCallLocation ToolCallStatus ToolCallUpdate ToolKind UnknownStateUpdate UnstructuredCommandInput
    Usage UsageUpdate WaitForTerminalExitRequest WaitForTerminalExitResponse WriteTextFileRequest
    WriteTextFileResponse
}

subjects! { v2:
    AbsolutePath AgentAuthCapabilities AgentCapabilities AgentMessage AgentThought Annotations
    AudioContent AuthMethod AuthMethodAgent AuthMethodId AuthMethodTerminal AvailableCommand
    AvailableCommandInput AvailableCommandsUpdate BackgroundSubagent BackgroundTerminal
    BackgroundToolCall BackgroundWork BlobResourceContents BooleanPropertySchema
    CancelRequestNotification CancelSessionNotification CancelTerminalRequest CancelTerminalResponse
    CancelToolCallRequest CancelToolCallResponse CancelledPermissionOutcome ClientAuthCapabilities
    ClientCapabilities CloseSessionRequest CloseSessionResponse Command CommandPermissionSubject
    CompactionId CompactionStatus CompactionSummaryChunk CompactionUpdate
    CompleteElicitationNotification ConfigOptionUpdate Content ContentBlock ContentChunk Cost
    CreateElicitationRequest CreateElicitationResponse DeleteSessionRequest DeleteSessionResponse Diff
    DiffChange DiffFileType DiffPatch DiffPatchFormat DiffPathChange DiffPathPairChange
    ElicitationAcceptAction ElicitationCapabilities ElicitationContentValue ElicitationFormCapabilities
    ElicitationFormMode ElicitationId ElicitationPropertySchema ElicitationRequestScope
    ElicitationSchema ElicitationSchemaType ElicitationSessionScope ElicitationUrlCapabilities
    ElicitationUrlMode EmbeddedResource EmbeddedResourceResource EnumOption EnvVariable Error ErrorCode
    ErrorStopReason HttpHeader Icon IconTheme IdempotencyKey IdleStateUpdate ImageContent Implementation
    InitializeRequest InitializeResponse IntegerPropertySchema ListSessionsRequest ListSessionsResponse
    LoginAuthRequest LoginAuthResponse LogoutAuthRequest LogoutAuthResponse McpCapabilities
    McpHttpCapabilities McpServer McpServerHttp McpServerStdio McpStdioCapabilities
    MediaType MessageId MultiSelectItems MultiSelectPropertySchema NewSessionRequest NewSessionResponse
    Notice NoticeSeverity NumberPropertySchema PermissionOption PermissionOptionId PermissionOptionKind
    PlanEntry PlanEntryPriority PlanEntryStatus PlanId PlanItems PlanMarkdown PlanRemoved PlanUpdate
    PlanUpdateContent PromptAudioCapabilities PromptCapabilities PromptEmbeddedContextCapabilities
    PromptImageCapabilities PromptRequest PromptResponse ReplayComplete ReplayFrom ReplayFromStart
    RequestId RequestPermissionOutcome RequestPermissionRequest RequestPermissionResponse
    RequestPermissionSubject RequiresActionStateUpdate ResourceLink ResumeSessionRequest
    ResumeSessionResponse Role RunningStateUpdate SelectedPermissionOutcome
    SessionAdditionalDirectoriesCapabilities SessionCancelCapabilities SessionCapabilities
    SessionConfigBoolean SessionConfigGroupId SessionConfigId SessionConfigOption
    SessionConfigOptionCategory SessionConfigSelect SessionConfigSelectGroup SessionConfigSelectOption
    SessionConfigSelectOptions SessionConfigValueId SessionDeleteCapabilities SessionId SessionInfo
    SessionInfoUpdate SessionListCursor SessionMessage SessionMessageChunk SessionNotFoundErrorData
    SessionReference SessionSystemPromptCapabilities SessionSystemPromptModeCapabilities
    SessionSystemPromptOverrideCapabilities SessionUpdate SetSessionConfigOptionRequest
    SetSessionConfigOptionResponse StateUpdate StringFormat StringMultiSelectItems StringPropertySchema
    SubagentSessionCapabilities SubagentUpdate SystemPrompt SystemPromptMode Terminal
    TerminalAuthCapabilities TerminalCancelCapabilities TerminalCapabilities TerminalExitStatus
    TerminalId TerminalOutput TerminalOutputChunk TerminalSize TerminalUpdate TextCommandInput
    TextContent TextResourceContents TitledMultiSelectItems ToolCallCancelCapabilities
    ToolCallCapabilities ToolCallContent ToolCallContentChunk ToolCallId ToolCallLocation
    ToolCallPermissionSubject ToolCallStatus ToolCallUpdate ToolKind UnknownStateUpdate
    UnsupportedProtocolVersionErrorData UpdateSessionNotification Usage UsageUpdate UserMessage
}
