//! Opening, listing, closing and deleting sessions.

use super::commands::AvailableCommand;
use super::content::ContentBlock;
use super::mcp::McpServer;
use super::options::SessionConfigOption;
use crate::macros::{from_variants, object, string_type, strings, tagged};

object! {
    /// Opens a session. Protocol: Session Setup.
    pub struct NewSessionRequest {
        /// The directory it works in, absolute.
        req cwd: AbsolutePath,
        /// Further directories of the session, absolute.
        null_list additional_directories: AbsolutePath,
        /// The MCP servers the agent is to connect to.
        null_list mcp_servers: McpServer,
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
        /// The session's options, in order of importance.
        list config_options: SessionConfigOption,
        /// The session's commands.
        list available_commands: AvailableCommand,
        meta
    }
}

object! {
    /// Opens a stored session. Protocol: Session Setup.
    pub struct ResumeSessionRequest {
        /// The session.
        req session_id: SessionId,
        /// The directory it works in, absolute.
        req cwd: AbsolutePath,
        /// Further directories of the session, absolute.
        null_list additional_directories: AbsolutePath,
        /// The MCP servers the agent is to connect to.
        null_list mcp_servers: McpServer,
        /// From where on the history is to be sent; absent for none of it.
        opt replay_from: ReplayFrom,
        /// Instructions for the model.
        opt system_prompt: SystemPrompt,
        meta
    }
}

tagged! {
    /// From where on the history is to be sent. Protocol: Session Setup.
    pub enum ReplayFrom: "type" {
        /// From the beginning.
        Start(ReplayFromStart) = "start",
        ; else Other
    }
}

from_variants! {
    ReplayFrom:
    Start(ReplayFromStart),
}

object! {
    /// The whole history.
    pub struct ReplayFromStart: Default {
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

string_type! {
    /// Where the next page begins; only the agent knows its meaning.
    pub struct SessionListCursor;
}

object! {
    /// One page of the stored sessions. Protocol: Session List.
    pub struct ListSessionsResponse {
        /// The sessions.
        req_list sessions: SessionInfo,
        /// Where the next page begins; absent on the last one.
        opt next_cursor: SessionListCursor,
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
        req cwd: AbsolutePath,
        /// Further directories of the session, absolute.
        null_list additional_directories: AbsolutePath,
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
    /// An absolute path in the form of the agent's machine. Protocol: Overview.
    pub struct AbsolutePath;
}

string_type! {
    /// Names a session.
    pub struct SessionId;
}

object! {
    /// Says that the session is open. Protocol: Session Setup.
    pub struct ResumeSessionResponse: Nullable {
        /// The session's options, in order of importance.
        list config_options: SessionConfigOption,
        /// The session's commands.
        list available_commands: AvailableCommand,
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
        opt cwd: AbsolutePath,
        /// Where the page begins; absent for the first one.
        opt cursor: SessionListCursor,
        meta
    }
}

object! {
    /// Says that the session is gone. Protocol: Session Delete.
    pub struct DeleteSessionResponse: Nullable {
        meta
    }
}
