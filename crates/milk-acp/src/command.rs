//! What a client wants and what it is told, in no version's words. The dialect turns wire requests into a
//! [`Command`] and a [`Reply`] into a wire result; nothing else here knows a protocol version.

use std::path::PathBuf;

use session_model::{
    ConfigOption, Content, MessageId, OptionInput, SessionId, StopReason, TokenUsage, ToolCallId,
};
use time::OffsetDateTime;

/// A decoded request.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Make a session, or adopt the folder's last one.
    NewSession(NewSession),
    /// Open a stored session, or show an open one again.
    OpenSession(OpenSession),
    /// List stored sessions.
    ListSessions(ListSessions),
    /// End a session's work and free it; it stays stored.
    CloseSession(SessionId),
    /// Drop a session and its history.
    DeleteSession(DeleteSession),
    /// Run a turn.
    Prompt(Prompt),
    /// Change a setting.
    SetOption(SetOption),
    /// End one running tool call.
    CancelCall(SessionId, ToolCallId),
}

/// A decoded notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// End the running turn and answer the held prompts.
    Cancel(SessionId),
    /// End one running tool call.
    CancelCall(SessionId, ToolCallId),
}

/// Make a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewSession {
    /// The folder as the client spelled it.
    pub cwd: String,
    /// Further folders as spelled.
    pub additional_directories: Vec<String>,
    /// Never adopt (`_meta.milk.fresh`).
    pub fresh: bool,
    /// The names of the MCP servers the client wants connected.
    pub mcp_servers: Vec<String>,
}

/// Open a stored session.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSession {
    /// Which.
    pub session: SessionId,
    /// The folder as the client spelled it.
    pub cwd: String,
    /// Further folders as spelled.
    pub additional_directories: Vec<String>,
    /// How much of its history to send before the reply.
    pub replay: Replay,
    /// The names of the MCP servers the client wants connected.
    pub mcp_servers: Vec<String>,
}

/// How much history to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replay {
    /// None.
    Nothing,
    /// The bounded window (v2's `replayFrom: start`).
    Window,
    /// Everything (v1's `session/load`).
    Everything,
}

/// List stored sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListSessions {
    /// Only this folder's, absolute.
    pub cwd: Option<PathBuf>,
    /// How many come before the page (the decoded cursor).
    pub offset: usize,
}

/// Drop a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteSession {
    /// Its id, or (where the version allows) an unambiguous beginning of it.
    pub reference: String,
    /// Whether a beginning is enough.
    pub by_prefix: bool,
    /// Whether deleting what does not exist succeeds.
    pub missing_ok: bool,
}

/// Run a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The session.
    pub session: SessionId,
    /// The user's message; never empty.
    pub content: Vec<Content>,
    /// When the request is answered.
    pub ack: Ack,
    /// The key under which a retry finds the message again.
    pub key: Option<String>,
}

/// When `session/prompt` is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ack {
    /// When the turn has ended.
    #[default]
    TurnEnd,
    /// When the message is part of the conversation.
    Insertion,
}

/// Change a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetOption {
    /// The session.
    pub session: SessionId,
    /// The setting.
    pub option: String,
    /// Its new value.
    pub value: OptionInput,
    /// Whether it is answered without the settings, as v1's own method for the mode is.
    pub bare: bool,
}

/// What a request is answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A session was made or adopted.
    NewSession {
        /// Its handle.
        session: SessionId,
        /// Its settings.
        options: Vec<ConfigOption>,
        /// Its commands.
        commands: Vec<session_model::Command>,
    },
    /// A session is open.
    OpenSession {
        /// Its settings.
        options: Vec<ConfigOption>,
        /// Its commands.
        commands: Vec<session_model::Command>,
    },
    /// Some sessions.
    ListSessions {
        /// The page.
        sessions: Vec<SessionRow>,
        /// Where the next page begins, when there is one.
        next: Option<usize>,
    },
    /// Done; nothing to tell.
    Done,
    /// The turn has ended, or (with [`Ack::Insertion`]) the message is inserted and `stop` is `None`.
    Prompted {
        /// The user's message.
        message: MessageId,
        /// Why the turn ended.
        stop: Option<StopReason>,
        /// What it consumed.
        usage: Option<TokenUsage>,
    },
    /// All settings after a change.
    OptionSet {
        /// The complete list.
        options: Vec<ConfigOption>,
    },
}

/// One line of a list of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Its folder.
    pub cwd: PathBuf,
    /// Further folders.
    pub additional_directories: Vec<PathBuf>,
    /// Its title.
    pub title: Option<String>,
    /// When it was last used.
    pub updated_at: OffsetDateTime,
}

/// What the client on this connection can do, beyond the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one capability of the protocol")]
pub struct ClientFeatures {
    /// Shows boolean settings.
    pub boolean_options: bool,
    /// Shows notices.
    pub notices: bool,
    /// Follows compactions.
    pub compaction: bool,
    /// Shows forms.
    pub elicit_form: bool,
    /// Opens links on request.
    pub elicit_url: bool,
    /// Reads files for us (v1).
    pub read_file: bool,
    /// Writes files for us (v1).
    pub write_file: bool,
    /// Runs terminals for us (v1).
    pub terminal: bool,
    /// Shows usage (v1 clients differ in what they survive).
    pub usage: bool,
}
