//! Fetching, against servers on this machine.
#![cfg(unix)]

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use session_model::GrantScope;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{Rig, scopes};
use crate::rules::{Rule, Rules};
use crate::tools::ToolOutput;

/// What a server heard.
type Heard = Arc<Mutex<Vec<String>>>;

/// A rig that may ask this machine, and calls one tool while a server answers each request in turn.
async fn served(tool: &str, path: &str, args: Value, answers: &[String]) -> (ToolOutput, Vec<String>) {
    let mut rig = Rig::new();
    let allow = vec![Rule::parse("fetch(127.0.0.1)", None).unwrap()];
    rig.rules = Rules::new(Vec::new(), Vec::new(), allow, None);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut args = args;
    args["url"] = format!("http://{address}{path}").into();
    let heard = Heard::default();
    let serving = async {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 65536];
            let count = stream.read(&mut request).await.unwrap();
            heard.lock().unwrap().push(String::from_utf8_lossy(&request[..count]).into_owned());
            let answer = answer.replace("HERE", &address.to_string());
            // One who has enough hangs up.
            drop(stream.write_all(answer.as_bytes()).await);
        }
        std::future::pending::<()>().await;
    };
    let output = tokio::select! {
        output = rig.call(tool, args) => output,
        () = serving => unreachable!(),
    };
    let heard = heard.lock().unwrap().clone();
    (output, heard)
}

fn page(kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn redirect(status: &str, to: &str) -> String {
    format!("HTTP/1.1 {status}\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

#[tokio::test]
async fn a_text_is_told_with_the_status_and_a_page_as_text() {
    let (output, heard) = served("http_get", "/a?b=c", json!({}), &[page("text/plain", "hello")]).await;
    assert_eq!((output.output.as_str(), output.exit_code, &output.error), ("hello", Some(200), &None));
    assert!(heard[0].starts_with("GET /a?b=c HTTP/1.1\r\n"), "{heard:?}");
    let html = "<html><head><title>t</title><script>x()</script></head><body><h1>Head</h1><p>a &amp; b</p></body></html>";
    let (output, _) = served("http_get", "/", json!({}), &[page("text/html; charset=utf-8", html)]).await;
    assert!(output.output.contains("# Head") && output.output.contains("a & b"), "{output:?}");
    assert!(!output.output.contains("x()"), "{output:?}");
    let (output, _) = served("http_get", "/", json!({"raw": true}), &[page("text/html", html)]).await;
    assert_eq!(output.output, html);
}

#[tokio::test]
async fn an_answer_is_read_no_further_than_wanted() {
    let long = page("text/plain", &"é".repeat(200_000));
    let (output, _) = served("http_get", "/", json!({"max_bytes": 101}), &[long]).await;
    assert!(output.output.starts_with(&"é".repeat(50)), "{output:?}");
    assert!(output.output.ends_with("[… the answer is longer; `max_bytes` tells more of it …]"));
    assert!(output.output.len() < 250);
    let (output, _) = served("http_get", "/", json!({}), &[page("image/png", "\u{0}PNG")]).await;
    assert_eq!(output.output, "[4 bytes or more of image/png, which is no text]");
    let missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngone".to_owned();
    let (output, _) = served("http_get", "/", json!({}), &[missing]).await;
    assert_eq!(
        output.to_value(),
        json!({"output": "gone", "error": "the server answered 404 Not Found", "exit_code": 404})
    );
}

#[tokio::test]
async fn what_is_sent_arrives_as_it_was_allowed() {
    let args = json!({"method": "post", "headers": {"X-A": "b"}, "body": "{}"});
    let (output, heard) = served("http_request", "/", args, &[page("text/plain", "ok")]).await;
    assert_eq!(output.output, "ok");
    assert!(heard[0].starts_with("POST / HTTP/1.1\r\n") && heard[0].contains("x-a: b\r\n"), "{heard:?}");
    assert!(heard[0].ends_with("\r\n\r\n{}"), "{heard:?}");
}

#[tokio::test]
async fn redirections_are_followed_on_the_same_server_only() {
    let ok = || page("text/plain", "there");
    let (output, heard) = served("http_get", "/", json!({}), &[redirect("302 Found", "/b"), ok()]).await;
    assert_eq!((output.output.as_str(), heard.len()), ("there", 2));
    let post = json!({"method": "POST", "body": "secret"});
    let (_, heard) =
        served("http_request", "/", post.clone(), &[redirect("303 See Other", "/b"), ok()]).await;
    assert!(heard[1].starts_with("GET /b") && !heard[1].contains("secret"), "{heard:?}");
    let (_, heard) =
        served("http_request", "/", post, &[redirect("307 Temporary Redirect", "http://HERE/b"), ok()]).await;
    assert!(heard[1].starts_with("POST /b") && heard[1].ends_with("secret"), "{heard:?}");
    for elsewhere in [
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost/",
        "http://127.0.0.1:1/",
        "//10.0.0.1/",
        "http://example.com/",
        "https://127.0.0.1:444/",
    ] {
        let (output, heard) = served("http_get", "/", json!({}), &[redirect("302 Found", elsewhere)]).await;
        assert!(output.output.contains("which is another place"), "{elsewhere}: {output:?}");
        assert_eq!(heard.len(), 1, "{elsewhere}");
    }
    let (output, _) = served("http_get", "/", json!({}), &vec![redirect("302 Found", "/"); 6]).await;
    assert_eq!(output.error.as_deref(), Some("127.0.0.1 redirected more than 5 times"));
}

#[tokio::test]
async fn what_is_not_public_is_not_asked_without_a_rule() {
    let rig = Rig::new();
    for url in [
        "http://127.0.0.1:1/",
        "http://localhost:1/",
        "http://[::1]:1/",
        "http://169.254.169.254/",
        "http://0/",
    ] {
        let refused = rig.refused("http_get", json!({"url": url})).await;
        assert!(refused.contains("is not public"), "{url}: {refused}");
    }
    for url in [
        "file:///etc/passwd",
        "ftp://x/",
        "http://user:pw@example.com/",
        "http://",
        "x",
        "http://a\u{202e}b/",
    ] {
        rig.plan("http_get", json!({"url": url})).await.unwrap_err();
    }
    for headers in [
        json!({"Host": "x"}),
        json!({"Content-Length": "1"}),
        json!({"Proxy-Authorization": "x"}),
        json!({"a b": "c"}),
        json!({"a": "b\nc"}),
        json!([]),
    ] {
        rig.plan("http_request", json!({"url": "http://example.com", "headers": headers})).await.unwrap_err();
    }
}

#[tokio::test]
async fn only_looking_is_for_always_and_for_the_host_alone() {
    let rig = Rig::new();
    let url = "HTTPS://Example.com./x";
    let plan = rig.plan("http_get", json!({"url": url})).await.unwrap();
    assert_eq!(plan.title, "http_get: https://example.com./x");
    assert_eq!(scopes(&plan), Some(&[GrantScope::Host("example.com".to_owned())][..]));
    for args in [json!({"method": "POST"}), json!({"body": "x"}), json!({"headers": {"Authorization": "t"}})]
    {
        let mut args = args;
        args["url"] = url.into();
        assert_eq!(scopes(&rig.plan("http_request", args.clone()).await.unwrap()), Some(&[][..]), "{args}");
    }
}
