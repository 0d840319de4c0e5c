//! The three servers. Each reads the parameters into the same type and writes that back as the result.

use acp_rpc::{Call, Config, End, Handlers, Peer, RpcError, serve};
use agent_client_protocol::role::UntypedRole;
use agent_client_protocol::{
    ByteStreams, ConnectionTo, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, Responder, UntypedMessage,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Echo {
    session: String,
    text: String,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    Bare,
    AcpRpc,
    AcpRpcTasks,
    Sdk,
}

impl Server {
    pub(crate) const ALL: [Self; 4] = [Self::Bare, Self::AcpRpc, Self::AcpRpcTasks, Self::Sdk];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare loop",
            Self::AcpRpc => "acp-rpc",
            Self::AcpRpcTasks => "acp-rpc, a task each",
            Self::Sdk => "Rust SDK",
        }
    }

    /// Serves `end` until the other one is dropped.
    pub(crate) async fn serve(self, end: End) {
        match self {
            Self::Bare => bare(end).await,
            Self::AcpRpc => {
                acp_rpc(end, |peer| Handlers::new(peer).answer("echo", |echo: Echo| Ok(echo))).await;
            }
            Self::AcpRpcTasks => acp_rpc(end, |peer| Handlers::new(peer).request("echo", in_task)).await,
            Self::Sdk => sdk(end).await,
        }
    }
}

async fn in_task(echo: Echo, _: Call) -> Result<Echo, RpcError> {
    Ok(echo)
}

async fn acp_rpc(end: End, service: impl FnOnce(Peer) -> Handlers) {
    serve(end.reader, end.writer, Config::default(), service).await.expect("a clean end");
}

/// The least that answers: no table of requests, no limits, no errors, no one but the reader who may write.
async fn bare(end: End) {
    #[derive(Deserialize)]
    struct Request {
        id: i64,
        method: String,
        params: Echo,
    }
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'a str,
        id: i64,
        result: &'a Echo,
    }
    let mut reader = BufReader::with_capacity(64 << 10, end.reader);
    let mut writer = BufWriter::with_capacity(64 << 10, end.writer);
    let (mut line, mut out) = (String::new(), Vec::new());
    while reader.read_line(&mut line).await.expect("a pipe") > 0 {
        let request: Request = serde_json::from_str(&line).expect("a request");
        assert_eq!(request.method, "echo");
        let response = Response { jsonrpc: "2.0", id: request.id, result: &request.params };
        serde_json::to_writer(&mut out, &response).expect("JSON");
        out.push(b'\n');
        writer.write_all(&out).await.expect("a pipe");
        if reader.buffer().is_empty() {
            writer.flush().await.expect("a pipe");
        }
        line.clear();
        out.clear();
    }
}

async fn sdk(end: End) {
    let answer = async move |echo: Echo, responder: Responder<Echo>, _: ConnectionTo<UntypedRole>| {
        responder.respond(echo)
    };
    UntypedRole
        .builder()
        .on_receive_request(answer, agent_client_protocol::on_receive_request!())
        .connect_to(ByteStreams::new(end.writer.compat_write(), end.reader.compat()))
        .await
        .expect("a clean end");
}

impl JsonRpcMessage for Echo {
    fn matches_method(method: &str) -> bool {
        method == "echo"
    }

    fn method(&self) -> &'static str {
        "echo"
    }

    fn to_untyped_message(&self) -> agent_client_protocol::Result<UntypedMessage> {
        UntypedMessage::new("echo", self)
    }

    fn parse_message(method: &str, params: &serde_json::Value) -> agent_client_protocol::Result<Self> {
        if !Self::matches_method(method) {
            return Err(agent_client_protocol::Error::method_not_found());
        }
        agent_client_protocol::util::json_cast(params)
    }
}

impl JsonRpcRequest for Echo {
    type Response = Self;
}

impl JsonRpcResponse for Echo {
    fn into_json(self, _method: &str) -> agent_client_protocol::Result<serde_json::Value> {
        serde_json::to_value(self).map_err(agent_client_protocol::Error::into_internal_error)
    }

    fn from_json(_method: &str, value: serde_json::Value) -> agent_client_protocol::Result<Self> {
        agent_client_protocol::util::json_cast(&value)
    }
}
