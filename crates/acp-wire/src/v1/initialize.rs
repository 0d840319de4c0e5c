//! initialize

use super::auth::AuthMethod;
use super::capabilities::{
    AgentCapabilities, AuthCapabilities, ClientSessionCapabilities, FileSystemCapabilities, PlanCapabilities,
    SubagentCapabilities,
};
use super::elicitation::ElicitationCapabilities;
use crate::ProtocolVersion;
use crate::macros::object;

object! {
    /// Initialize request.
    pub struct InitializeRequest {
        /// Protocol version.
        num protocol_version: ProtocolVersion,
        /// Client capabilities.
        flag client_capabilities: ClientCapabilities,
        /// Client info.
        soft client_info: Implementation,
        meta
    }
}

object! {
    /// Initialize response.
    pub struct InitializeResponse {
        /// Protocol version.
        num protocol_version: ProtocolVersion,
        /// Agent capabilities.
        flag agent_capabilities: AgentCapabilities,
        /// Auth methods.
        all_list auth_methods: AuthMethod,
        /// Agent info.
        soft agent_info: Implementation,
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
        /// Fs.
        flag fs: FileSystemCapabilities,
        /// Terminal.
        flag terminal: bool,
        /// Session.
        soft session: ClientSessionCapabilities,
        /// Subagents.
        soft subagents: SubagentCapabilities,
        /// Plan.
        soft plan: PlanCapabilities,
        /// Auth.
        flag auth: AuthCapabilities,
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
