//! session

use super::content::ContentBlock;
use super::mcp::McpServer;
use super::modes::SessionModeState;
use super::options::SessionConfigOption;
use crate::macros::{object, string_type, strings};

object! {
    /// New session request.
    pub struct NewSessionRequest {
        /// Cwd.
        req cwd: String,
        /// Additional directories.
        null_list additional_directories: String,
        /// Mcp servers.
        req_absent mcp_servers: McpServer,
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
        /// Modes.
        soft modes: SessionModeState,
        /// Config options.
        soft_list config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// Load session request.
    pub struct LoadSessionRequest {
        /// Mcp servers.
        req_absent mcp_servers: McpServer,
        /// Cwd.
        req cwd: String,
        /// Additional directories.
        null_list additional_directories: String,
        /// Session id.
        req session_id: SessionId,
        /// System prompt.
        opt system_prompt: SystemPrompt,
        meta
    }
}

object! {
    /// Resume session request.
    pub struct ResumeSessionRequest {
        /// Session id.
        req session_id: SessionId,
        /// Cwd.
        req cwd: String,
        /// Additional directories.
        null_list additional_directories: String,
        /// Mcp servers.
        null_list mcp_servers: McpServer,
        /// System prompt.
        opt system_prompt: SystemPrompt,
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

object! {
    /// List sessions response.
    pub struct ListSessionsResponse {
        /// Sessions.
        req_list sessions: SessionInfo,
        /// Next cursor.
        soft next_cursor: String,
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
        req cwd: String,
        /// Additional directories.
        list additional_directories: String,
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
    /// Session id.
    pub struct SessionId;
}

object! {
    /// Load session response.
    pub struct LoadSessionResponse: Nullable {
        /// Modes.
        soft modes: SessionModeState,
        /// Config options.
        soft_list config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// Resume session response.
    pub struct ResumeSessionResponse: Nullable {
        /// Modes.
        soft modes: SessionModeState,
        /// Config options.
        soft_list config_options: SessionConfigOption,
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
        opt cwd: String,
        /// Cursor.
        opt cursor: String,
        meta
    }
}

object! {
    /// Delete session response.
    pub struct DeleteSessionResponse: Nullable {
        meta
    }
}
