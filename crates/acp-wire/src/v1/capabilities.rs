//! capabilities

use crate::macros::object;

object! {
    /// Agent auth capabilities.
    pub struct AgentAuthCapabilities: Default {
        /// Logout.
        soft logout: LogoutCapabilities,
        meta
    }
}

object! {
    /// Logout capabilities.
    pub struct LogoutCapabilities: Default {
        meta
    }
}

object! {
    /// Agent capabilities.
    pub struct AgentCapabilities: Default {
        /// Load session.
        flag load_session: bool,
        /// Prompt capabilities.
        flag prompt_capabilities: PromptCapabilities,
        /// Mcp capabilities.
        flag mcp_capabilities: McpCapabilities,
        /// Session capabilities.
        flag session_capabilities: SessionCapabilities,
        /// Auth.
        flag auth: AgentAuthCapabilities,
        meta
    }
}

object! {
    /// Session capabilities.
    pub struct SessionCapabilities: Default {
        /// List.
        soft list: SessionListCapabilities,
        /// Delete.
        soft delete: SessionDeleteCapabilities,
        /// Additional directories.
        soft additional_directories: SessionAdditionalDirectoriesCapabilities,
        /// System prompt.
        soft system_prompt: SessionSystemPromptCapabilities,
        /// Resume.
        soft resume: SessionResumeCapabilities,
        /// Close.
        soft close: SessionCloseCapabilities,
        meta
    }
}

object! {
    /// Session list capabilities.
    pub struct SessionListCapabilities: Default {
        meta
    }
}

object! {
    /// Session delete capabilities.
    pub struct SessionDeleteCapabilities: Default {
        meta
    }
}

object! {
    /// Session additional directories capabilities.
    pub struct SessionAdditionalDirectoriesCapabilities: Default {
        meta
    }
}

object! {
    /// Session system prompt capabilities.
    pub struct SessionSystemPromptCapabilities: Default {
        /// Mode.
        soft mode: SessionSystemPromptModeCapabilities,
        meta
    }
}

object! {
    /// Session system prompt mode capabilities.
    pub struct SessionSystemPromptModeCapabilities: Default {
        /// Override .
        soft override_: SessionSystemPromptOverrideCapabilities,
        meta
    }
}

object! {
    /// Session system prompt override capabilities.
    pub struct SessionSystemPromptOverrideCapabilities: Default {
        meta
    }
}

object! {
    /// Session resume capabilities.
    pub struct SessionResumeCapabilities: Default {
        meta
    }
}

object! {
    /// Session close capabilities.
    pub struct SessionCloseCapabilities: Default {
        meta
    }
}

object! {
    /// Prompt capabilities.
    pub struct PromptCapabilities: Default {
        /// Image.
        flag image: bool,
        /// Audio.
        flag audio: bool,
        /// Embedded context.
        flag embedded_context: bool,
        meta
    }
}

object! {
    /// Mcp capabilities.
    pub struct McpCapabilities: Default {
        /// Http.
        flag http: bool,
        /// Sse.
        flag sse: bool,
        meta
    }
}

object! {
    /// Subagent session capabilities.
    pub struct SubagentSessionCapabilities: Default {
        /// Cancel.
        soft cancel: SessionCancelCapabilities,
        meta
    }
}

object! {
    /// Session cancel capabilities.
    pub struct SessionCancelCapabilities: Default {
        meta
    }
}

object! {
    /// Subagent capabilities.
    pub struct SubagentCapabilities: Default {
        meta
    }
}

object! {
    /// Client session capabilities.
    pub struct ClientSessionCapabilities: Default {
        /// Compaction.
        soft compaction: CompactionCapabilities,
        /// Config options.
        soft config_options: SessionConfigOptionsCapabilities,
        /// Notices.
        soft notices: NoticeCapabilities,
        meta
    }
}

object! {
    /// Compaction capabilities.
    pub struct CompactionCapabilities: Default {
    }
}

object! {
    /// Notice capabilities.
    pub struct NoticeCapabilities: Default {
    }
}

object! {
    /// Session config options capabilities.
    pub struct SessionConfigOptionsCapabilities: Default {
        /// Boolean.
        soft boolean: BooleanConfigOptionCapabilities,
        meta
    }
}

object! {
    /// Boolean config option capabilities.
    pub struct BooleanConfigOptionCapabilities: Default {
        meta
    }
}

object! {
    /// Auth capabilities.
    pub struct AuthCapabilities: Default {
        /// Terminal.
        flag terminal: bool,
        meta
    }
}

object! {
    /// File system capabilities.
    pub struct FileSystemCapabilities: Default {
        /// Read text file.
        flag read_text_file: bool,
        /// Write text file.
        flag write_text_file: bool,
        meta
    }
}

object! {
    /// Plan capabilities.
    pub struct PlanCapabilities: Default {
        meta
    }
}
