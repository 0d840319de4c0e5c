//! A server with a slow method that the client can cancel: it answers with how far it came.

use std::time::Duration;

use acp_rpc::{Call, CancelMethod, Config, Handlers, RpcError, serve, stdio};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Count {
    to: u64,
}

async fn count(Count { to }: Count, call: Call) -> Result<Value, RpcError> {
    for counted in 0..to {
        tokio::select! {
            () = call.cancelled().cancelled() => return Ok(json!({"counted": counted, "cancelled": true})),
            () = tokio::time::sleep(Duration::from_millis(100)) => {}
        }
    }
    Ok(json!({"counted": to, "cancelled": false}))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::default().cancel(CancelMethod {
        method: "cancel",
        params: |id| json!({"id": id}),
        target: |params| serde_json::from_value(params["id"].clone()).ok(),
    });
    let service = |peer| Handlers::new(peer).request_to_end("count", count);
    serve(stdio::stdin()?, stdio::stdout()?, config, service).await?;
    Ok(())
}
