//! A server for one connection at a time: what it is made of, and how it is run.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use acp_rpc::{CancelMethod, Config, ConnectionError, RequestId};
use serde::Deserialize;
use serde_json::json;
use session_model::source::{Clock, Ids};
use session_store::SessionStore;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::dispatch::Dispatch;
use crate::drivers::Drivers;
use crate::negotiate::ServerInfo;

/// How this protocol spells "cancel", in both directions and versions.
pub(crate) const CANCEL_REQUEST: CancelMethod = CancelMethod {
    method: "$/cancel_request",
    params: |id| json!({ "requestId": id }),
    target: |params| params.get("requestId").and_then(|id| RequestId::deserialize(id).ok()),
};

/// What a server is made of. The binary passes in everything that touches the world.
#[derive(Debug)]
pub struct Parts {
    /// Keeps the sessions.
    pub store: Arc<dyn SessionStore>,
    /// Chooses who answers.
    pub drivers: Arc<dyn Drivers>,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
    /// Where relative folders start: the process's own folder.
    pub base: PathBuf,
    /// How the server names itself.
    pub info: ServerInfo,
}

/// The server.
pub struct Server {
    parts: Arc<Parts>,
    rpc: Config,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl Server {
    /// A server of these parts, with this transport configuration (line limit, tap, malformed input); what the
    /// protocol fixes is set here.
    #[must_use]
    pub fn new(parts: Parts, rpc: Config) -> Self {
        Self { parts: Arc::new(parts), rpc: rpc.cancel(CANCEL_REQUEST) }
    }

    /// Serves one connection to its end: of input, or by `shutdown`. Running turns are cancelled then, sessions
    /// kept and everything said is flushed before this returns.
    ///
    /// # Errors
    /// When the transport fails otherwise than by ending.
    pub async fn serve<R, W>(
        &self,
        reader: R,
        writer: W,
        shutdown: CancellationToken,
    ) -> Result<(), ConnectionError>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin,
    {
        let parts = Arc::clone(&self.parts);
        let rpc = self.rpc.clone().shutdown(shutdown.clone());
        acp_rpc::serve(reader, writer, rpc, move |peer| Dispatch::new(parts, peer, shutdown.child_token()))
            .await
    }
}
