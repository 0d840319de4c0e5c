//! MCP servers given by the client.

use crate::macros::{from_variants, object, tagged};

tagged! {
    /// An MCP server the agent is to connect to. Protocol: Session Setup.
    pub enum McpServer: "type" {
        /// Streamable HTTP.
        Http(McpServerHttp) = "http",
        /// HTTP with server-sent events.
        Sse(McpServerSse) = "sse",
        ; rest
        /// A process.
        Stdio(McpServerStdio)
    }
}

from_variants! {
    McpServer:
    Http(McpServerHttp), Sse(McpServerSse), Stdio(McpServerStdio),
}

object! {
    /// An MCP server reached by Streamable HTTP. Protocol: Session Setup.
    pub struct McpServerHttp {
        /// The server's name, unique in its session.
        req name: String,
        /// The address.
        req url: String,
        /// Headers sent with every request.
        req_null headers: HttpHeader,
        meta
    }
}

object! {
    /// An MCP server reached by HTTP with server-sent events. Protocol: Session Setup.
    pub struct McpServerSse {
        /// The server's name, unique in its session.
        req name: String,
        /// The address.
        req url: String,
        /// Headers sent with every request.
        req_null headers: HttpHeader,
        meta
    }
}

object! {
    /// An MCP server started as a process. Protocol: Session Setup.
    pub struct McpServerStdio {
        /// The server's name, unique in its session.
        req name: String,
        /// The program, as an absolute path.
        req command: String,
        /// The arguments.
        req_null args: String,
        /// Environment variables for the server.
        req_null env: EnvVariable,
        meta
    }
}

object! {
    /// An environment variable.
    pub struct EnvVariable {
        /// The variable's name.
        req name: String,
        /// The value.
        req value: String,
        meta
    }
}

object! {
    /// A header sent with every request to an HTTP server.
    pub struct HttpHeader {
        /// The header's name.
        req name: String,
        /// The value.
        req value: String,
        meta
    }
}
