//! mcp

use crate::macros::{object, string_type, tagged};

tagged! {
    /// Mcp server.
    pub enum McpServer: "type" {
        /// Http.
        Http(McpServerHttp) = "http",
        /// Sse.
        Sse(McpServerSse) = "sse",
        ; rest
        /// Stdio.
        Stdio(McpServerStdio)
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
        req_null headers: HttpHeader,
        meta
    }
}

object! {
    /// Mcp server sse.
    pub struct McpServerSse {
        /// Name.
        req name: String,
        /// Url.
        req url: String,
        /// Headers.
        req_null headers: HttpHeader,
        meta
    }
}

object! {
    /// Mcp server stdio.
    pub struct McpServerStdio {
        /// Name.
        req name: String,
        /// Command.
        req command: String,
        /// Args.
        req_null args: String,
        /// Env.
        req_null env: EnvVariable,
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
