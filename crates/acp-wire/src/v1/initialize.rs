//! The first request: versions and capabilities.

use super::auth::AuthMethod;
use super::capabilities::{
    AgentCapabilities, AuthCapabilities, ClientSessionCapabilities, FileSystemCapabilities, PlanCapabilities,
    SubagentCapabilities,
};
use super::elicitation::ElicitationCapabilities;
use crate::ProtocolVersion;
use crate::macros::object;

object! {
    /// The client's first message. Protocol: Initialization.
    pub struct InitializeRequest {
        /// The latest version the client speaks.
        num protocol_version: ProtocolVersion,
        /// What the client can do.
        flag client_capabilities: ClientCapabilities,
        /// The client's name and version.
        soft client_info: Implementation,
        meta
    }
}

object! {
    /// The agent's answer: the version both will speak, and what the agent can do. Protocol: Initialization.
    pub struct InitializeResponse {
        /// The version both will speak.
        num protocol_version: ProtocolVersion,
        /// What the agent can do.
        flag agent_capabilities: AgentCapabilities,
        /// The ways to sign in; empty when none is needed.
        all_list auth_methods: AuthMethod,
        /// The agent's name and version.
        soft agent_info: Implementation,
        meta
    }
}

object! {
    /// The name and version of a client or agent. Protocol: Initialization.
    pub struct Implementation {
        /// A name for programs.
        req name: String,
        /// A name for people.
        soft title: String,
        /// The version, empty where the sender left it out.
        req_default version: String,
        meta
    }
}

object! {
    /// What the client can do; what is absent it can't. Protocol: Initialization.
    pub struct ClientCapabilities: Default {
        /// Which file methods the client answers.
        flag fs: FileSystemCapabilities,
        /// Whether the terminal methods work.
        flag terminal: bool,
        /// What the client can do within sessions.
        soft session: ClientSessionCapabilities,
        /// Whether the client follows subagents.
        soft subagents: SubagentCapabilities,
        /// Whether the client follows several plans by their ids.
        soft plan: PlanCapabilities,
        /// What the client can do about signing in.
        flag auth: AuthCapabilities,
        /// In which ways the client asks the user for input.
        soft elicitation: ElicitationCapabilities,
        meta
    }
}

impl Default for Implementation {
    /// An implementation that says nothing about itself.
    fn default() -> Self {
        Self::new("", "")
    }
}
