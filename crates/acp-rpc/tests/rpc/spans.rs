//! What is logged about a connection, and how a trace crosses it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use acp_rpc::{Config, Handlers};
use acp_rpc::{Params, TraceContext, connect, memory, serve};
use serde_json::{Value, json};
use tracing::Span;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::{MakeWriter, format::FmtSpan};

/// A log in memory.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Runs `work` on one thread with a log filtered as `RUST_LOG` would; what was logged.
fn logged<F: Future<Output = ()>>(filter: &str, work: impl FnOnce() -> F) -> String {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .without_time()
        .with_writer(log.clone())
        .finish();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    tracing::subscriber::with_default(subscriber, || runtime.block_on(async { work().await }));
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// One request and one notification from `client` to `server`, which both leave afterwards.
async fn talk(client: Config, server: Config, heard: Arc<Mutex<Vec<Value>>>) {
    let (near, far) = memory();
    let server = serve(far.reader, far.writer, server, |peer| {
        let notes = Arc::clone(&heard);
        Handlers::new(peer)
            .answer("echo", move |said: Value| {
                heard.lock().unwrap().push(said.clone());
                Ok(said)
            })
            .receive("note", move |said: Value| notes.lock().unwrap().push(said))
    });
    let (peer, connection) = connect(near.reader, near.writer, client);
    let client = connection.run(Handlers::new(peer.clone()));
    let calls = async {
        let answer: Value = peer.request("echo", &json!({"secret": "hunter2"})).typed().await.unwrap();
        assert_eq!(answer["secret"], "hunter2");
        assert!(peer.request("unknown", &()).await.is_err());
        peer.notify("note", &()).await.unwrap();
        let place = peer.reserve().await.unwrap();
        peer.notify_reserved(place, "note", &json!({"n": 2})).unwrap();
        peer.shutdown();
    };
    let (there, here, ()) = tokio::join!(server, client, calls);
    there.unwrap();
    here.unwrap();
}

async fn talk_plainly() {
    talk(Config::default(), Config::default(), Arc::default()).await;
}

#[test]
fn trace_shows_every_line_both_ways() {
    let log = logged("acp_rpc=trace", talk_plainly);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"secret":"hunter2"}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"secret":"hunter2"}}"#;
    for line in [request, answer, r#"{"jsonrpc":"2.0","method":"note"}"#] {
        for arrow in ['>', '<'] {
            let shown = log.lines().filter(|shown| shown.contains(&format!("{arrow} {line}"))).count();
            assert_eq!(shown, 1, "{arrow} {line} in\n{log}");
        }
    }
    assert!(
        log.lines().filter(|shown| shown.contains("hunter2")).all(|shown| shown.contains("acp_rpc::line"))
    );
}

#[test]
fn below_trace_nothing_of_a_payload_is_shown() {
    for filter in ["acp_rpc=debug", "acp_rpc=trace,acp_rpc::line=off"] {
        let log = logged(filter, talk_plainly);
        assert!(!log.contains("hunter2"), "{log}");
        for span in [
            "request{dir=\"in\" id=1 method=\"echo\" code=0}",
            "request{dir=\"out\" id=1 method=\"echo\" code=0}",
            "request{dir=\"in\" id=2 method=\"unknown\" code=-32601}",
            "request{dir=\"out\" id=2 method=\"unknown\" code=-32601}",
            "notification{method=\"note\"}",
        ] {
            assert!(log.contains(span), "{span} in\n{log}");
        }
    }
    assert_eq!(logged("acp_rpc=warn", talk_plainly), "");
}

/// The span's name, the method, and the context that came with it.
type Arrived = (String, String, Option<String>);

/// Carries the name of the span a message was sent from; keeps what arrived.
#[derive(Debug, Default, Clone)]
struct Carrier {
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl TraceContext for Carrier {
    fn incoming(&self, span: &Span, method: &str, params: &Params) {
        let span = span.metadata().map(tracing::Metadata::name).unwrap_or_default().to_owned();
        let context = params.parse::<Value>().unwrap()["meta"]["context"].as_str().map(str::to_owned);
        self.arrived.lock().unwrap().push((span, method.to_owned(), context));
    }

    fn outgoing(&self, span: &Span, _: &str, params: &mut Value) {
        let name = span.metadata().map(tracing::Metadata::name).unwrap_or_default();
        params["meta"]["context"] = json!(name);
    }
}

#[test]
fn a_trace_context_goes_with_every_message_and_is_shown_before_the_handler_runs() {
    let (carrier, heard) = (Carrier::default(), Arc::default());
    let (there, here) = (carrier.clone(), Arc::clone(&heard));
    let log = logged("acp_rpc=debug,rpc=debug", || async {
        let client = Config::default().trace_context(Carrier::default());
        let server = Config::default().trace_context(there);
        let outer = tracing::debug_span!("outer");
        tracing::Instrument::instrument(talk(client, server, here), outer).await;
    });
    let arrived = carrier.arrived.lock().unwrap().clone();
    let arrived: Vec<_> =
        arrived.iter().map(|(span, method, context)| (&**span, &**method, context.as_deref())).collect();
    assert_eq!(
        arrived,
        [
            ("request", "echo", Some("request")),
            ("request", "unknown", Some("request")),
            ("notification", "note", Some("outer")),
            ("notification", "note", Some("outer")),
        ],
        "{log}"
    );
    let heard: Vec<Value> = heard.lock().unwrap().clone();
    assert_eq!(
        heard,
        [
            json!({"secret": "hunter2", "meta": {"context": "request"}}),
            json!({"meta": {"context": "outer"}}),
            json!({"n": 2, "meta": {"context": "outer"}}),
        ]
    );
}

/// Panics over everything.
#[derive(Debug)]
struct Broken;

impl TraceContext for Broken {
    fn incoming(&self, _: &Span, _: &str, _: &Params) {
        panic!("a context's bug");
    }

    fn outgoing(&self, _: &Span, _: &str, _: &mut Value) {}
}

#[tokio::test(start_paused = true)]
async fn a_context_that_panics_costs_the_request_and_not_the_connection() {
    let (near, far) = memory();
    let server = serve(far.reader, far.writer, Config::default().trace_context(Broken), |peer| {
        Handlers::new(peer).answer("echo", |said: Value| Ok(said))
    });
    let (peer, connection) = connect(near.reader, near.writer, Config::default());
    let client = connection.run(Handlers::new(peer.clone()));
    let calls = async {
        for _ in 0..2 {
            let error = peer.request("echo", &json!({})).await.unwrap_err();
            assert_eq!(error.code(), Some(-32603));
        }
        peer.notify("note", &()).await.unwrap();
        peer.shutdown();
    };
    let (there, here, ()) = tokio::join!(server, client, calls);
    there.unwrap();
    here.unwrap();
}
