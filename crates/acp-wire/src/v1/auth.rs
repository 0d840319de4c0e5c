//! auth

use std::collections::BTreeMap;

use crate::macros::{object, string_type, tagged};

object! {
    /// Authenticate request.
    pub struct AuthenticateRequest {
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
        ; rest
        /// Agent.
        Agent(AuthMethodAgent)
    }
}

object! {
    /// Auth method agent.
    pub struct AuthMethodAgent {
        /// Id.
        req id: AuthMethodId,
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
        /// Id.
        req id: AuthMethodId,
        /// Name.
        req name: String,
        /// Description.
        soft description: String,
        /// Args.
        null_list args: String,
        /// Env.
        null_map env: BTreeMap<String, String>,
        meta
    }
}

object! {
    /// Authenticate response.
    pub struct AuthenticateResponse: Nullable {
        meta
    }
}

object! {
    /// Logout request.
    pub struct LogoutRequest: Nullable {
        meta
    }
}

object! {
    /// Logout response.
    pub struct LogoutResponse: Nullable {
        meta
    }
}
