//! A server with a slow method that its client can withdraw, in a spelling of the protocol's own.
//!
//! Try it, and look at the second answer:
//! `printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"count","params":{"to":2}}'
//! '{"jsonrpc":"2.0","id":2,"method":"count","params":{"to":999}}' '{"jsonrpc":"2.0","method":"abort","params":{"call":2}}'
//! | cargo run --example custom_cancel`

use std::time::Duration;

use acp_rpc::{Call, CancelMethod, Config, Handlers, RpcError, serve, stdio};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
struct Count {
    to: u64,
}

/// Counts aloud, ten numbers a second. When the call is withdrawn this future is dropped where it waits.
async fn count(count: Count, call: Call) -> Result<u64, RpcError> {
    for number in 1..=count.to {
        tokio::time::sleep(Duration::from_millis(100)).await;
        // Waits while the client does not read; fails only when it has gone.
        if call.peer().notify("counted", &json!({"number": number})).await.is_err() {
            break;
        }
    }
    Ok(count.to)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::default().cancel(CancelMethod {
        method: "abort",
        params: |id| json!({"call": id}),
        target: |params| serde_json::from_value(params["call"].clone()).ok(),
    });
    let service = |peer| Handlers::new(peer).request("count", count);
    serve(stdio::stdin()?, stdio::stdout()?, config, service).await?;
    Ok(())
}
