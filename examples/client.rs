//! A client that starts a server as a child process and calls it.
//!
//! Try it: `cargo build --examples && cargo run --example client target/debug/examples/echo_server`

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use acp_rpc::{Config, Handlers, connect};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args().nth(1).ok_or("usage: client PROGRAM")?;
    let mut child = tokio::process::Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(output), Some(input)) = (child.stdout.take(), child.stdin.take()) else {
        return Err("the child has no pipes".into());
    };

    let (peer, connection) = connect(output, input, Config::default());
    let connection = connection.run(Handlers::new(peer.clone()));
    let calls = async {
        let pending = peer.request("echo", &json!({"text": "hello"})).with_deadline(Duration::from_secs(5));
        let echoed: Value = pending.typed().await?;
        writeln!(std::io::stdout(), "the server said {echoed}")?;
        // A server that knows no such method says so; that is an answer too.
        let refused = peer.request("no_such_method", &()).await;
        writeln!(std::io::stdout(), "and of an unknown method: {refused:?}")?;
        peer.shutdown();
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    let (ended, called) = tokio::join!(connection, calls);
    called?;
    ended?;
    child.wait().await?;
    Ok(())
}
