//! auth

use super::mcp::EnvVariable;
use crate::macros::{object, string_type, tagged};

object! {
    /// Login auth request.
    pub struct LoginAuthRequest {
        /// Method id.
        req method_id: AuthMethodId,
        meta
    }
}

string_type! {
    /// Auth method id.
    pub struct AuthMethodId;
}

tagged! {
    /// Auth method.
    pub enum AuthMethod: "type" {
        /// Terminal.
        Terminal(AuthMethodTerminal) = "terminal",
        /// Agent.
        Agent(AuthMethodAgent) = "agent",
        ; else Other requires ["methodId", "name"]
    }
}

object! {
    /// Auth method agent.
    pub struct AuthMethodAgent {
        /// Method id.
        req method_id: AuthMethodId,
        /// Name.
        req name: String,
        /// Description.
        soft description: String,
        meta
    }
}

object! {
    /// Auth method terminal.
    pub struct AuthMethodTerminal {
        /// Method id.
        req method_id: AuthMethodId,
        /// Name.
        req name: String,
        /// Description.
        soft description: String,
        /// Args.
        null_list args: String,
        /// Env.
        null_list env: EnvVariable,
        meta
    }
}

object! {
    /// Login auth response.
    pub struct LoginAuthResponse: Nullable {
        meta
    }
}

object! {
    /// Logout auth request.
    pub struct LogoutAuthRequest: Nullable {
        meta
    }
}

object! {
    /// Logout auth response.
    pub struct LogoutAuthResponse: Nullable {
        meta
    }
}
