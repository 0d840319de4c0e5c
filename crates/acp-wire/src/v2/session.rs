//! session

use super::commands::AvailableCommand;
use super::content::ContentBlock;
use super::mcp::McpServer;
use super::options::SessionConfigOption;
use crate::macros::{object, string_type, strings, tagged};

object! {
    /// New session request.
    pub struct NewSessionRequest {
        /// Cwd.
        req cwd: AbsolutePath,
        /// Additional directories.
        null_list additional_directories: AbsolutePath,
        /// Mcp servers.
        null_list mcp_servers: McpServer,
        /// System prompt.
        opt system_prompt: SystemPrompt,
        meta
    }
}

object! {
    /// New session response.
    pub struct NewSessionResponse {
        /// Session id.
        req session_id: SessionId,
        /// Config options.
        list config_options: SessionConfigOption,
        /// Available commands.
        list available_commands: AvailableCommand,
        meta
    }
}

object! {
    /// Resume session request.
    pub struct ResumeSessionRequest {
        /// Session id.
        req session_id: SessionId,
        /// Cwd.
        req cwd: AbsolutePath,
        /// Additional directories.
        null_list additional_directories: AbsolutePath,
        /// Mcp servers.
        null_list mcp_servers: McpServer,
        /// Replay from.
        opt replay_from: ReplayFrom,
        /// System prompt.
        opt system_prompt: SystemPrompt,
        meta
    }
}

tagged! {
    /// Replay from.
    pub enum ReplayFrom: "type" {
        /// Start.
        Start(ReplayFromStart) = "start",
        ; else Other
    }
}

object! {
    /// Replay from start.
    pub struct ReplayFromStart: Default {
        meta
    }
}

object! {
    /// Close session request.
    pub struct CloseSessionRequest {
        /// Session id.
        req session_id: SessionId,
        meta
    }
}

string_type! {
    /// Session list cursor.
    pub struct SessionListCursor;
}

object! {
    /// List sessions response.
    pub struct ListSessionsResponse {
        /// Sessions.
        req_list sessions: SessionInfo,
        /// Next cursor.
        opt next_cursor: SessionListCursor,
        meta
    }
}

object! {
    /// Delete session request.
    pub struct DeleteSessionRequest {
        /// Session id.
        req session_id: SessionId,
        meta
    }
}

object! {
    /// Session info.
    pub struct SessionInfo {
        /// Session id.
        req session_id: SessionId,
        /// Cwd.
        req cwd: AbsolutePath,
        /// Additional directories.
        null_list additional_directories: AbsolutePath,
        /// Title.
        soft title: String,
        /// Updated at.
        soft updated_at: String,
        meta
    }
}

object! {
    /// System prompt.
    pub struct SystemPrompt {
        /// Mode.
        req mode: SystemPromptMode,
        /// Content.
        req content: Vec<ContentBlock>,
        meta
    }
}

strings! {
    /// System prompt mode.
    pub enum SystemPromptMode {
        /// Append.
        Append = "append",
        /// Override.
        Override = "override",
        ; else Other
    }
}

impl Default for SystemPromptMode {
    fn default() -> Self {
        Self::Append
    }
}

string_type! {
    /// Absolute path.
    pub struct AbsolutePath;
}

string_type! {
    /// Session id.
    pub struct SessionId;
}

object! {
    /// Resume session response.
    pub struct ResumeSessionResponse: Nullable {
        /// Config options.
        list config_options: SessionConfigOption,
        /// Available commands.
        list available_commands: AvailableCommand,
        meta
    }
}

object! {
    /// Close session response.
    pub struct CloseSessionResponse: Nullable {
        meta
    }
}

object! {
    /// List sessions request.
    pub struct ListSessionsRequest: Nullable {
        /// Cwd.
        opt cwd: AbsolutePath,
        /// Cursor.
        opt cursor: SessionListCursor,
        meta
    }
}

object! {
    /// Delete session response.
    pub struct DeleteSessionResponse: Nullable {
        meta
    }
}
