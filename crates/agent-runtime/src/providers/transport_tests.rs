//! What lies between a provider and its server: TLS, HTTP/2, compression, redirects, and servers that never begin.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt;
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::auth::Auth;
use super::http::TlsOptions;
use super::mock_openai::{Gate, MockOpenAi, Reply, event, finish_chunk, text_chunk};
use super::openai_chat::{OpenAiChat, OpenAiChatConfig};
use super::testing::{all, ask};
use super::tls_server::{TlsServer, TlsSetup};
use crate::provider::{FinishReason, ModelDelta, Provider, ProviderError};

const KEY: &str = "sk-secret-4711";

/// An agent with a key.
fn provider(url: &str, tls: TlsOptions) -> OpenAiChat {
    OpenAiChat::new(OpenAiChatConfig {
        auth: Auth::Key(KEY.into()),
        tls,
        ..OpenAiChatConfig::new("gateway", url)
    })
}

/// A server that says the same to whatever it hears, and nothing more until its client goes away.
struct Raw {
    url: String,
    _server: JoinSet<()>,
}

impl Raw {
    async fn start(says: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut server = JoinSet::new();
        server.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                stream.read_u8().await.unwrap();
                stream.write_all(says.as_bytes()).await.unwrap();
                while stream.read_u8().await.is_ok() {}
            }
        });
        Self { url, _server: server }
    }
}

fn https(server: &TlsServer) -> String {
    format!("https://{}", server.address)
}

fn file(authority: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(authority.as_bytes()).unwrap();
    file
}

fn trusting(file: &NamedTempFile) -> TlsOptions {
    TlsOptions { ca_cert: Some(file.path().to_owned()), ..TlsOptions::default() }
}

async fn says_ok(provider: &OpenAiChat) {
    let expected = [ModelDelta::Text("ok".to_owned()), ModelDelta::Finish(FinishReason::Stop)];
    assert_eq!(all(provider, ask("hi")).await.unwrap(), expected);
}

async fn refused(provider: &OpenAiChat) -> ProviderError {
    all(provider, ask("hi")).await.unwrap_err()
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_and_http_2_is_spoken() {
    let server = TlsServer::start(TlsSetup::default()).await.unwrap();
    let authority = file(&server.authority);
    let mut config = OpenAiChatConfig {
        auth: Auth::Key(KEY.into()),
        tls: trusting(&authority),
        ..OpenAiChatConfig::new("gateway", https(&server))
    };
    config.headers.insert("X-Team".to_owned(), "blue".to_owned());
    config.headers.insert("Content-Type".to_owned(), "application/json; charset=utf-8".to_owned());
    let provider = OpenAiChat::new(config);
    says_ok(&provider).await;
    let asked = &server.requests()[0];
    assert_eq!((asked.protocol, asked.path.as_str()), ("h2", "/v1/chat/completions"));
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(asked.headers["x-team"], "blue");
    assert_eq!(asked.headers["content-type"], "application/json; charset=utf-8");
}

#[tokio::test]
async fn a_server_that_knows_http_1_only_is_spoken_to_so() {
    let setup = TlsSetup { protocols: vec!["http/1.1"], ..TlsSetup::default() };
    let server = TlsServer::start(setup).await.unwrap();
    let authority = file(&server.authority);
    says_ok(&provider(&https(&server), trusting(&authority))).await;
    assert_eq!(server.requests()[0].protocol, "http/1.1");
}

#[tokio::test]
async fn a_certificate_that_cannot_be_trusted_is_told_with_the_remedy_and_nothing_is_sent() {
    let for_another = TlsSetup { names: vec!["models.example".to_owned()], ..TlsSetup::default() };
    let table = [
        (TlsSetup::default(), false, "signed by nobody this machine trusts; give the PEM file"),
        (for_another, true, "its certificate is for another name; correct the agent's `url`"),
        (
            TlsSetup { until: 1999, ..TlsSetup::default() },
            true,
            "its certificate has expired; it has to be renewed",
        ),
    ];
    for (setup, is_trusted, expected) in table {
        let server = TlsServer::start(setup).await.unwrap();
        let authority = file(&server.authority);
        let tls = if is_trusted { trusting(&authority) } else { TlsOptions::default() };
        let error = refused(&provider(&https(&server), tls)).await;
        assert_eq!(error.code(), "provider_untrusted", "{error}");
        let told = error.to_string();
        assert!(
            told.starts_with(&format!("gateway: no secure connection to https://{}", server.address)),
            "{told}"
        );
        assert!(told.contains(expected) && !told.contains('\n'), "{told}");
        assert_eq!(server.requests(), []);
        // Whoever wants to may.
        let any = TlsOptions { skip_verify: true, ..TlsOptions::default() };
        says_ok(&provider(&https(&server), any)).await;
    }
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_trusted() {
    // What web servers say to whoever speaks TLS on their plain port.
    let server = Raw::start("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    let error = refused(&provider(&server.url.replace("http:", "https:"), TlsOptions::default())).await;
    let expected = "it does not speak TLS there; does its `url` begin with http://?";
    assert!(error.to_string().contains(expected), "{error}");
}

#[tokio::test]
async fn compressed_answers_are_read_as_they_come() {
    let mock = MockOpenAi::start().await.unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut pieces = Vec::new();
    for chunk in [text_chunk("now"), text_chunk(" later"), finish_chunk("stop")] {
        gzip.write_all(event(&chunk).as_bytes()).unwrap();
        gzip.flush().unwrap();
        pieces.push(std::mem::take(gzip.get_mut()));
    }
    pieces.push(gzip.finish().unwrap());
    let gate = Gate::default();
    mock.reply(Reply::pieces(pieces).header("content-encoding", "gzip").gate(1, &gate));
    let provider = provider(&mock.url(), TlsOptions::default());
    let mut stream = provider.stream(ask("hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(ModelDelta::Text("now".to_owned()))));
    gate.open();
    let rest: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert_eq!(rest, [ModelDelta::Text(" later".to_owned()), ModelDelta::Finish(FinishReason::Stop)]);
    assert!(mock.chats()[0].headers["accept-encoding"].contains("gzip"));
}

#[tokio::test]
async fn a_redirect_is_told_and_neither_followed_nor_given_the_key() {
    let (first, second) = (MockOpenAi::start().await.unwrap(), MockOpenAi::start().await.unwrap());
    for status in [301, 302, 307, 308] {
        let to = format!("{}/v1/chat/completions?token=t", second.url());
        first.reply(Reply::error(status, &json!({})).header("location", &to));
        let told = refused(&provider(&first.url(), TlsOptions::default())).await.to_string();
        let expected = format!(
            "gateway: the server answered HTTP {status}: it redirects to {}/v1/chat/completions; set the agent's `url` to \
             where the API is",
            second.url()
        );
        assert_eq!(told, expected);
    }
    assert_eq!(second.connections_so_far(), 0);
}

#[tokio::test]
async fn a_server_whose_headers_never_end_is_given_up() {
    let server = Raw::start("HTTP/1.1 200 OK\r\nx-one: 1\r\n").await;
    let config = OpenAiChatConfig {
        idle_timeout: Duration::from_millis(50),
        ..OpenAiChatConfig::new("gateway", &server.url)
    };
    let error = refused(&OpenAiChat::new(config)).await;
    assert!(matches!(error, ProviderError::TimedOut { .. }), "{error}");
}
