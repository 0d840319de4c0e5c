//! initialize

use super::auth::AuthMethod;
use super::capabilities::{AgentCapabilities, ClientAuthCapabilities};
use super::elicitation::ElicitationCapabilities;
use crate::ProtocolVersion;
use crate::macros::object;

object! {
    /// Initialize request.
    pub struct InitializeRequest {
        /// Protocol version.
        num protocol_version: ProtocolVersion,
        /// Info.
        req_default info: Implementation,
        /// Capabilities.
        flag capabilities: ClientCapabilities,
        meta
    }
}

object! {
    /// Initialize response.
    pub struct InitializeResponse {
        /// Protocol version.
        num protocol_version: ProtocolVersion,
        /// Info.
        req info: Implementation,
        /// Capabilities.
        flag capabilities: AgentCapabilities,
        /// Auth methods.
        list auth_methods: AuthMethod,
        meta
    }
}

object! {
    /// Implementation.
    pub struct Implementation {
        /// Name.
        req name: String,
        /// Title.
        soft title: String,
        /// Version.
        req_default version: String,
        meta
    }
}

object! {
    /// Client capabilities.
    pub struct ClientCapabilities: Default {
        /// Auth.
        soft auth: ClientAuthCapabilities,
        /// Elicitation.
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
