//! What agents can do, and the markers in it.

use crate::macros::object;

object! {
    /// What the agent can do about signing in. Protocol: Authentication.
    pub struct AgentAuthCapabilities: Default {
        meta
    }
}

object! {
    /// What the agent can do; what is absent it can't. Protocol: Initialization.
    pub struct AgentCapabilities: Default {
        /// What the agent can do with sessions; absent if it has none.
        soft session: SessionCapabilities,
        /// What the agent can do about signing in.
        soft auth: AgentAuthCapabilities,
        meta
    }
}

object! {
    /// What the agent can do with sessions. Protocol: Initialization.
    pub struct SessionCapabilities: Default {
        /// What prompts may contain besides text and links.
        soft prompt: PromptCapabilities,
        /// MCP transports.
        soft mcp: McpCapabilities,
        /// `session/delete`.
        soft delete: SessionDeleteCapabilities,
        /// Further directories of a session.
        soft additional_directories: SessionAdditionalDirectoriesCapabilities,
        /// Instructions for the model, given by the client.
        soft system_prompt: SessionSystemPromptCapabilities,
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
    /// What prompts may contain besides text and links. Protocol: Initialization.
    pub struct PromptCapabilities: Default {
        /// Pictures.
        soft image: PromptImageCapabilities,
        /// Sound.
        soft audio: PromptAudioCapabilities,
        /// Resources with their contents.
        soft embedded_context: PromptEmbeddedContextCapabilities,
        meta
    }
}

object! {
    /// Marks that prompts may contain pictures. Protocol: Initialization.
    pub struct PromptImageCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that prompts may contain sound. Protocol: Initialization.
    pub struct PromptAudioCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that prompts may contain resources. Protocol: Initialization.
    pub struct PromptEmbeddedContextCapabilities: Default {
        meta
    }
}

object! {
    /// Which MCP transports the agent connects to. Protocol: Session Setup.
    pub struct McpCapabilities: Default {
        /// Processes.
        soft stdio: McpStdioCapabilities,
        /// Streamable HTTP.
        soft http: McpHttpCapabilities,
        meta
    }
}

object! {
    /// Marks that the agent starts MCP servers as processes. Protocol: Session Setup.
    pub struct McpStdioCapabilities: Default {
        meta
    }
}

object! {
    /// Marks that the agent connects to MCP servers over HTTP. Protocol: Session Setup.
    pub struct McpHttpCapabilities: Default {
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
    /// What the client can do about signing in. Protocol: Authentication.
    pub struct ClientAuthCapabilities: Default {
        /// Signing in in a terminal.
        soft terminal: TerminalAuthCapabilities,
        meta
    }
}

object! {
    /// Marks that the client lets users sign in in a terminal. Protocol: Authentication.
    pub struct TerminalAuthCapabilities: Default {
        meta
    }
}

object! {
    /// What the client may do with a terminal. Protocol: Terminals.
    pub struct TerminalCapabilities: Default {
        /// Whether it can be ended.
        soft cancel: TerminalCancelCapabilities,
        meta
    }
}

object! {
    /// Marks that the client may end a terminal's process. Protocol: Terminals.
    pub struct TerminalCancelCapabilities: Default {
        meta
    }
}

object! {
    /// What the client may do with a tool call. Protocol: Tool Calls.
    pub struct ToolCallCapabilities: Default {
        /// Whether it can be ended.
        soft cancel: ToolCallCancelCapabilities,
        meta
    }
}

object! {
    /// Marks that the client may end a tool call. Protocol: Tool Calls.
    pub struct ToolCallCancelCapabilities: Default {
        meta
    }
}
