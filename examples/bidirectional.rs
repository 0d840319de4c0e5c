//! Both sides serve and both sides call: the server asks the client back before it answers.

use std::io::Write;

use acp_rpc::{Call, Config, Handlers, Method, RpcError, connect, memory, serve};
use serde::{Deserialize, Serialize};

/// The client asks the server to greet.
struct Greet;

#[derive(Debug, Serialize, Deserialize)]
struct Greeting {
    language: String,
}

impl Method for Greet {
    const NAME: &'static str = "greet";
    type Params = Greeting;
    type Result = String;
}

/// The server asks the client who it is.
struct WhoAreYou;

#[derive(Debug, Serialize, Deserialize)]
struct Nothing {}

impl Method for WhoAreYou {
    const NAME: &'static str = "who_are_you";
    type Params = Nothing;
    type Result = String;
}

async fn greet(greeting: Greeting, call: Call) -> Result<String, RpcError> {
    // Awaiting the caller from within its own call is no deadlock: reading goes on meanwhile.
    let name = call.peer().call::<WhoAreYou>(&Nothing {}).await?;
    match greeting.language.as_str() {
        "en" => Ok(format!("Hello, {name}!")),
        "fr" => Ok(format!("Bonjour, {name} !")),
        _ => Err(RpcError::new(1, "I do not speak that")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (near, far) = memory();
    let server = serve(far.reader, far.writer, Config::default(), |peer| {
        Handlers::new(peer).method::<Greet, _, _>(greet)
    });
    let (peer, client) = connect(near.reader, near.writer, Config::default());
    let client =
        client.run(Handlers::new(peer.clone()).method::<WhoAreYou, _, _>(async |_, _| Ok("Ada".to_owned())));
    let calls = async {
        for language in ["en", "fr", "tlh"] {
            let greeting = peer.call::<Greet>(&Greeting { language: language.to_owned() }).await;
            writeln!(std::io::stdout(), "{language}: {greeting:?}")?;
        }
        peer.shutdown();
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    let (server, client, calls) = tokio::join!(server, client, calls);
    calls?;
    client?;
    server?;
    Ok(())
}
