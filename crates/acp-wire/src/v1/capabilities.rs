//! What agents can do, and the markers in it.

use crate::macros::object;

object! {
    /// What the agent can do about signing in. Protocol: Authentication.
    pub struct AgentAuthCapabilities: Default {
        /// `logout`.
        soft logout: LogoutCapabilities,
        meta
    }
}

object! {
    /// Marks that the agent can sign out. Protocol: Authentication.
    pub struct LogoutCapabilities: Default {
        meta
    }
}

object! {
    /// What the agent can do; what is absent it can't. Protocol: Initialization.
    pub struct AgentCapabilities: Default {
        /// Whether `session/load` works.
        flag load_session: bool,
        /// What prompts may contain.
        flag prompt_capabilities: PromptCapabilities,
        /// Which MCP transports the agent connects to.
        flag mcp_capabilities: McpCapabilities,
        /// What the agent can do with sessions.
        flag session_capabilities: SessionCapabilities,
        /// What the agent can do about signing in.
        flag auth: AgentAuthCapabilities,
        meta
    }
}

object! {
    /// What the agent can do with sessions. Protocol: Initialization.
    pub struct SessionCapabilities: Default {
        /// `session/list`.
        soft list: SessionListCapabilities,
        /// `session/delete`.
        soft delete: SessionDeleteCapabilities,
        /// Further directories of a session.
        soft additional_directories: SessionAdditionalDirectoriesCapabilities,
        /// Instructions for the model, given by the client.
        soft system_prompt: SessionSystemPromptCapabilities,
        /// `session/resume`.
        soft resume: SessionResumeCapabilities,
        /// `session/close`.
        soft close: SessionCloseCapabilities,
        meta
    }
}

object! {
    /// Marks that the agent lists sessions. Protocol: Session List.
    pub struct SessionListCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that the agent deletes sessions. Protocol: Session Delete.
    pub struct SessionDeleteCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that sessions may have further directories. Protocol: Session Setup.
    pub struct SessionAdditionalDirectoriesCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that sessions may be given a system prompt. Protocol: Session Setup.
    pub struct SessionSystemPromptCapabilities: Default {
        /// Modes beyond appending.
        soft mode: SessionSystemPromptModeCapabilities,
        meta
    }
}

object! {
    /// Which modes of system prompts the agent takes beyond appending.
    pub struct SessionSystemPromptModeCapabilities: Default {
        /// Replacing the agent's own instructions.
        soft override_: SessionSystemPromptOverrideCapabilities,
        meta
    }
}

object! {
    /// Marks that a given system prompt may replace the agent's own.
    pub struct SessionSystemPromptOverrideCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that the agent resumes sessions. Protocol: Session Setup.
    pub struct SessionResumeCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that the agent closes sessions. Protocol: Session Setup.
    pub struct SessionCloseCapabilities: Default {
        meta
    }
}

object! {
    /// What prompts may contain besides text and links. Protocol: Initialization.
    pub struct PromptCapabilities: Default {
        /// Pictures.
        flag image: bool,
        /// Sound.
        flag audio: bool,
        /// Resources with their contents.
        flag embedded_context: bool,
        meta
    }
}

object! {
    /// Which MCP transports the agent connects to. Protocol: Session Setup.
    pub struct McpCapabilities: Default {
        /// Streamable HTTP.
        flag http: bool,
        /// HTTP with server-sent events.
        flag sse: bool,
        meta
    }
}

object! {
    /// What the client may do with a subagent's session.
    pub struct SubagentSessionCapabilities: Default {
        /// Whether it can be ended.
        soft cancel: SessionCancelCapabilities,
        meta
    }
}

object! {
    /// Marks that the client may end a session's work.
    pub struct SessionCancelCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that the client follows subagents.
    pub struct SubagentCapabilities: Default {
        meta
    }
}

object! {
    /// What the client can do within sessions. Protocol: Initialization.
    pub struct ClientSessionCapabilities: Default {
        /// Whether the client follows compactions.
        soft compaction: CompactionCapabilities,
        /// Which kinds of options the client shows.
        soft config_options: SessionConfigOptionsCapabilities,
        /// Whether the client shows notices.
        soft notices: NoticeCapabilities,
        meta
    }
}

object! {
    /// Marks that the client follows compactions. Protocol: Compaction.
    pub struct CompactionCapabilities: Default {
    }
}

object! {
    /// Marks that the client shows notices.
    pub struct NoticeCapabilities: Default {
    }
}

object! {
    /// Which kinds of options the client shows. Protocol: Session Config Options.
    pub struct SessionConfigOptionsCapabilities: Default {
        /// Boolean options.
        soft boolean: BooleanConfigOptionCapabilities,
        meta
    }
}

object! {
    /// Marks that the client shows boolean options. Protocol: Session Config Options.
    pub struct BooleanConfigOptionCapabilities: Default {
        meta
    }
}

object! {
    /// What the client can do about signing in. Protocol: Authentication.
    pub struct AuthCapabilities: Default {
        /// Whether users can sign in in a terminal.
        flag terminal: bool,
        meta
    }
}

object! {
    /// Which file methods the client answers. Protocol: File System.
    pub struct FileSystemCapabilities: Default {
        /// Whether `fs/read_text_file` works.
        flag read_text_file: bool,
        /// Whether `fs/write_text_file` works.
        flag write_text_file: bool,
        meta
    }
}

object! {
    /// Marks that the client follows several plans by their ids. Protocol: Agent Plan.
    pub struct PlanCapabilities: Default {
        meta
    }
}
