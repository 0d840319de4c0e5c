//! mcp

use super::session::AbsolutePath;
use crate::macros::{object, string_type, tagged};

tagged! {
    /// Mcp server.
    pub enum McpServer: "type" {
        /// Http.
        Http(McpServerHttp) = "http",
        /// Stdio.
        Stdio(McpServerStdio) = "stdio",
        ; else Other
    }
}

object! {
    /// Mcp server http.
    pub struct McpServerHttp {
        /// Name.
        req name: String,
        /// Url.
        req url: String,
        /// Headers.
        null_list headers: HttpHeader,
        meta
    }
}

object! {
    /// Mcp server stdio.
    pub struct McpServerStdio {
        /// Name.
        req name: String,
        /// Command.
        req command: AbsolutePath,
        /// Args.
        null_list args: String,
        /// Env.
        null_list env: EnvVariable,
        meta
    }
}

object! {
    /// Env variable.
    pub struct EnvVariable {
        /// Name.
        req name: String,
        /// Value.
        req value: String,
        meta
    }
}

object! {
    /// Http header.
    pub struct HttpHeader {
        /// Name.
        req name: String,
        /// Value.
        req value: String,
        meta
    }
}

string_type! {
    /// Mcp request id.
    pub struct McpRequestId;
}
