//! Signing in and out.

use super::mcp::EnvVariable;
use crate::macros::{from_variants, object, string_type, tagged};

object! {
    /// Asks to sign in by one of the offered ways. Protocol: Authentication.
    pub struct LoginAuthRequest {
        /// The way to sign in.
        req method_id: AuthMethodId,
        meta
    }
}

string_type! {
    /// Names a way to sign in.
    pub struct AuthMethodId;
}

tagged! {
    /// One way to sign in. Protocol: Authentication.
    pub enum AuthMethod: "type" {
        /// The user signs in in a terminal.
        Terminal(AuthMethodTerminal) = "terminal",
        /// The agent signs the user in.
        Agent(AuthMethodAgent) = "agent",
        ; else Other requires ["methodId", "name"]
    }
}

from_variants! {
    AuthMethod:
    Terminal(AuthMethodTerminal), Agent(AuthMethodAgent),
}

object! {
    /// The agent signs the user in by itself when asked to. Protocol: Authentication.
    pub struct AuthMethodAgent {
        /// The way to sign in.
        req method_id: AuthMethodId,
        /// A name for people.
        req name: String,
        /// More words on it.
        soft description: String,
        meta
    }
}

object! {
    /// The client runs the agent's program in a terminal, where the user signs in. Protocol: Authentication.
    pub struct AuthMethodTerminal {
        /// The way to sign in.
        req method_id: AuthMethodId,
        /// A name for people.
        req name: String,
        /// More words on it.
        soft description: String,
        /// Arguments for the agent's program.
        null_list args: String,
        /// Environment variables for the agent's program.
        null_list env: EnvVariable,
        meta
    }
}

object! {
    /// Says that the user is signed in. Protocol: Authentication.
    pub struct LoginAuthResponse: Nullable {
        meta
    }
}

object! {
    /// Asks to sign out. Protocol: Authentication.
    pub struct LogoutAuthRequest: Nullable {
        meta
    }
}

object! {
    /// Says that the user is signed out. Protocol: Authentication.
    pub struct LogoutAuthResponse: Nullable {
        meta
    }
}
