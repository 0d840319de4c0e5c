//! The first request: versions and capabilities.

use super::auth::AuthMethod;
use super::capabilities::{AgentCapabilities, ClientAuthCapabilities};
use super::elicitation::ElicitationCapabilities;
use crate::ProtocolVersion;
use crate::macros::object;

object! {
    /// The client's first message. Protocol: Initialization.
    pub struct InitializeRequest {
        /// The latest version the client speaks.
        num protocol_version: ProtocolVersion,
        /// The client's name and version, empty where the client left it out.
        req_default info: Implementation,
        /// What the client can do.
        flag capabilities: ClientCapabilities,
        meta
    }
}

object! {
    /// The agent's answer: the version both will speak, and what the agent can do. Protocol: Initialization.
    pub struct InitializeResponse {
        /// The version both will speak.
        num protocol_version: ProtocolVersion,
        /// The agent's name and version.
        req info: Implementation,
        /// What the agent can do.
        flag capabilities: AgentCapabilities,
        /// The ways to sign in; empty when none is needed.
        list auth_methods: AuthMethod,
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
        /// What the client can do about signing in.
        soft auth: ClientAuthCapabilities,
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
