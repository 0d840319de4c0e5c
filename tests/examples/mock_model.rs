//! A model server for CI and benchmarks that needs no model: `mock_model [--port N] [--chunks N] [--delay-us N]`.
//!
//! Prints its URL and serves until it is killed. A request whose last user message says `use <tool> <json>`, with
//! that tool on offer, is answered with the call, once; one whose last message is a tool's result with that result;
//! one whose last user message holds images with what they are; every other with `--chunks` pieces of text,
//! `--delay-us` apart.

use std::future;
use std::io::{self, Write};
use std::time::Duration;

use milk_tests::mock_openai::{MockOpenAi, Reply, Request, finish_chunk, text_chunk, usage_chunk};
use serde_json::Value;

const USAGE: &str = "usage: mock_model [--port N] [--chunks N] [--delay-us N]";

struct Options {
    port: u16,
    chunks: u64,
    delay: Duration,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let options = read(std::env::args().skip(1)).ok_or_else(|| io::Error::other(USAGE))?;
    let mock = MockOpenAi::start_on(options.port).await?;
    mock.forget_requests();
    mock.respond(move |request| called(request).or_else(|| seen(request)).unwrap_or_else(|| text(&options)));
    writeln!(io::stdout(), "{}", mock.url())?;
    io::stdout().flush()?;
    future::pending().await
}

fn read(mut words: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options { port: 0, chunks: 20, delay: Duration::ZERO };
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--port" => options.port = value.parse().ok()?,
            "--chunks" => options.chunks = value.parse().ok()?,
            "--delay-us" => options.delay = Duration::from_micros(value.parse().ok()?),
            _ => return None,
        }
    }
    Some(options)
}

/// The call that the last user message asks for, unless its result is there already.
fn called(request: &Request) -> Option<Reply> {
    if request.body["messages"].as_array()?.last()?["role"] != "user" {
        return None;
    }
    let text = request.last_user_text();
    let tools = request.body["tools"].as_array()?;
    tools.iter().find_map(|tool| {
        let name = tool["function"]["name"].as_str()?;
        let (_, rest) = text.split_once(&format!("use {name} "))?;
        let arguments = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
        arguments.is_object().then(|| Reply::call(name, &arguments))
    })
}

/// What the request's last message shows: a tool's result, or images by their types and the length of their base64.
fn seen(request: &Request) -> Option<Reply> {
    let last = request.body["messages"].as_array()?.last()?;
    if last["role"] == "tool" {
        return Some(Reply::say(&["The tool said: ", last["content"].as_str()?]));
    }
    let urls = last["content"].as_array()?.iter().filter_map(|part| part["image_url"]["url"].as_str());
    let images: Vec<String> = urls
        .filter_map(|url| url.strip_prefix("data:")?.split_once(";base64,"))
        .map(|(media_type, data)| format!("image {media_type} of {} characters. ", data.len()))
        .collect();
    let words: Vec<&str> = images.iter().map(String::as_str).collect();
    (!words.is_empty()).then(|| Reply::say(&words))
}

fn text(options: &Options) -> Reply {
    let words = (1..=options.chunks).map(|number| text_chunk(&format!("word{number} ")));
    let end = [finish_chunk("stop"), usage_chunk(10, options.chunks)];
    Reply::chunks(words.chain(end)).paced(options.delay)
}
