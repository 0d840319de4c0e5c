//! A server on standard input and output.
//!
//! Try it: `echo '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"hi"}}' | cargo run --example echo_server`

use acp_rpc::{Config, Handlers, serve, stdio};
use serde::{Deserialize, Serialize};

/// What is said, and what comes back.
#[derive(Debug, Serialize, Deserialize)]
struct Said {
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = |peer| Handlers::new(peer).answer("echo", |said: Said| Ok(said));
    serve(stdio::stdin()?, stdio::stdout()?, Config::default(), service).await?;
    Ok(())
}
