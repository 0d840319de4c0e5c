//! Opening, listing, closing and deleting sessions.

use super::content::ContentBlock;
use super::mcp::McpServer;
use super::modes::SessionModeState;
use super::options::SessionConfigOption;
use crate::macros::{object, string_type, strings};

object! {
    /// Opens a session. Protocol: Session Setup.
    pub struct NewSessionRequest {
        /// The directory it works in, absolute.
        req cwd: String,
        /// Further directories of the session, absolute.
        null_list additional_directories: String,
        /// The MCP servers the agent is to connect to.
        req_absent mcp_servers: McpServer,
        /// Instructions for the model.
        opt system_prompt: SystemPrompt,
        meta
    }
}

object! {
    /// Names the opened session. Protocol: Session Setup.
    pub struct NewSessionResponse {
        /// The session.
        req session_id: SessionId,
        /// The session's modes, if it has any.
        soft modes: SessionModeState,
        /// The session's options, in order of importance.
        soft_list config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// Opens a stored session and asks for its whole history. Protocol: Session Setup.
    pub struct LoadSessionRequest {
        /// The MCP servers the agent is to connect to.
        req_absent mcp_servers: McpServer,
        /// The directory it works in, absolute.
        req cwd: String,
        /// Further directories of the session, absolute.
        null_list additional_directories: String,
        /// The session.
        req session_id: SessionId,
        /// Instructions for the model.
        opt system_prompt: SystemPrompt,
        meta
    }
}

object! {
    /// Opens a stored session. Protocol: Session Setup.
    pub struct ResumeSessionRequest {
        /// The session.
        req session_id: SessionId,
        /// The directory it works in, absolute.
        req cwd: String,
        /// Further directories of the session, absolute.
        null_list additional_directories: String,
        /// The MCP servers the agent is to connect to.
        null_list mcp_servers: McpServer,
        /// Instructions for the model.
        opt system_prompt: SystemPrompt,
        meta
    }
}

object! {
    /// Closes an open session; its history stays. Protocol: Session Setup.
    pub struct CloseSessionRequest {
        /// The session.
        req session_id: SessionId,
        meta
    }
}

object! {
    /// One page of the stored sessions. Protocol: Session List.
    pub struct ListSessionsResponse {
        /// The sessions.
        req_list sessions: SessionInfo,
        /// Where the next page begins; absent on the last one.
        soft next_cursor: String,
        meta
    }
}

object! {
    /// Deletes a stored session. Protocol: Session Delete.
    pub struct DeleteSessionRequest {
        /// The session.
        req session_id: SessionId,
        meta
    }
}

object! {
    /// What a list says of a session. Protocol: Session List.
    pub struct SessionInfo {
        /// The session.
        req session_id: SessionId,
        /// The directory it works in, absolute.
        req cwd: String,
        /// Further directories of the session, absolute.
        list additional_directories: String,
        /// A name for people.
        soft title: String,
        /// When it was last used (RFC 3339).
        soft updated_at: String,
        meta
    }
}

object! {
    /// Instructions for the model. Protocol: Session Setup.
    pub struct SystemPrompt {
        /// How they and the agent's own go together.
        req mode: SystemPromptMode,
        /// The instructions.
        req content: Vec<ContentBlock>,
        meta
    }
}

strings! {
    /// How given instructions and the agent's own go together. Protocol: Session Setup.
    pub enum SystemPromptMode: Default {
        /// They follow the agent's own.
        #[default]
        Append = "append",
        /// They replace the agent's own.
        Override = "override",
        ; else Other
    }
}

string_type! {
    /// Names a session.
    pub struct SessionId;
}

object! {
    /// Says that the history was sent and the session is open. Protocol: Session Setup.
    pub struct LoadSessionResponse: Nullable {
        /// The session's modes, if it has any.
        soft modes: SessionModeState,
        /// The session's options, in order of importance.
        soft_list config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// Says that the session is open. Protocol: Session Setup.
    pub struct ResumeSessionResponse: Nullable {
        /// The session's modes, if it has any.
        soft modes: SessionModeState,
        /// The session's options, in order of importance.
        soft_list config_options: SessionConfigOption,
        meta
    }
}

object! {
    /// Says that the session is closed. Protocol: Session Setup.
    pub struct CloseSessionResponse: Nullable {
        meta
    }
}

object! {
    /// Asks for one page of the stored sessions. Protocol: Session List.
    pub struct ListSessionsRequest: Nullable {
        /// Lists only sessions of this directory, absolute.
        opt cwd: String,
        /// Where the page begins; absent for the first one.
        opt cursor: String,
        meta
    }
}

object! {
    /// Says that the session is gone. Protocol: Session Delete.
    pub struct DeleteSessionResponse: Nullable {
        meta
    }
}
