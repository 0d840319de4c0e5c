//! capabilities

use crate::macros::object;

object! {
    /// Agent auth capabilities.
    pub struct AgentAuthCapabilities: Default {
        meta
    }
}

object! {
    /// Agent capabilities.
    pub struct AgentCapabilities: Default {
        /// Session.
        soft session: SessionCapabilities,
        /// Auth.
        soft auth: AgentAuthCapabilities,
        meta
    }
}

object! {
    /// Session capabilities.
    pub struct SessionCapabilities: Default {
        /// Prompt.
        soft prompt: PromptCapabilities,
        /// Mcp.
        soft mcp: McpCapabilities,
        /// Delete.
        soft delete: SessionDeleteCapabilities,
        /// Additional directories.
        soft additional_directories: SessionAdditionalDirectoriesCapabilities,
        /// System prompt.
        soft system_prompt: SessionSystemPromptCapabilities,
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
    /// Prompt capabilities.
    pub struct PromptCapabilities: Default {
        /// Image.
        soft image: PromptImageCapabilities,
        /// Audio.
        soft audio: PromptAudioCapabilities,
        /// Embedded context.
        soft embedded_context: PromptEmbeddedContextCapabilities,
        meta
    }
}

object! {
    /// Prompt image capabilities.
    pub struct PromptImageCapabilities: Default {
        meta
    }
}

object! {
    /// Prompt audio capabilities.
    pub struct PromptAudioCapabilities: Default {
        meta
    }
}

object! {
    /// Prompt embedded context capabilities.
    pub struct PromptEmbeddedContextCapabilities: Default {
        meta
    }
}

object! {
    /// Mcp capabilities.
    pub struct McpCapabilities: Default {
        /// Stdio.
        soft stdio: McpStdioCapabilities,
        /// Http.
        soft http: McpHttpCapabilities,
        meta
    }
}

object! {
    /// Mcp stdio capabilities.
    pub struct McpStdioCapabilities: Default {
        meta
    }
}

object! {
    /// Mcp http capabilities.
    pub struct McpHttpCapabilities: Default {
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
    /// Client auth capabilities.
    pub struct ClientAuthCapabilities: Default {
        /// Terminal.
        soft terminal: TerminalAuthCapabilities,
        meta
    }
}

object! {
    /// Terminal auth capabilities.
    pub struct TerminalAuthCapabilities: Default {
        meta
    }
}

object! {
    /// Terminal capabilities.
    pub struct TerminalCapabilities: Default {
        /// Cancel.
        soft cancel: TerminalCancelCapabilities,
        meta
    }
}

object! {
    /// Terminal cancel capabilities.
    pub struct TerminalCancelCapabilities: Default {
        meta
    }
}

object! {
    /// Tool call capabilities.
    pub struct ToolCallCapabilities: Default {
        /// Cancel.
        soft cancel: ToolCallCancelCapabilities,
        meta
    }
}

object! {
    /// Tool call cancel capabilities.
    pub struct ToolCallCancelCapabilities: Default {
        meta
    }
}
