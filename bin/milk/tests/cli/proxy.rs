//! Proxies, as the environment names them.

use std::fs;

use milk_tests::tls_server::{TlsServer, TlsSetup, Tunnel};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::model::Model;
use crate::program::{Home, Outcome, finish};

/// A name that nobody has: whatever answers for it is a proxy.
const NOBODY: &str = "models.invalid";

fn ask(home: &Home, environment: &[(&str, &str)]) -> Outcome {
    let mut command = home.command(&["run", "hi"]);
    command.envs(environment.iter().copied());
    finish(command, "")
}

fn agent(url: &str) -> Value {
    json!({"agents": [{"name": "far", "url": url, "model": "m"}]})
}

#[test]
fn the_environments_proxy_is_used_but_not_where_it_says_otherwise() {
    let proxy = Model::start([]);
    let home = Home::with_config(&agent(&format!("http://{NOBODY}")));
    for (at, name) in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"].into_iter().enumerate() {
        let outcome = ask(&home, &[(name, &proxy.url)]).expect(0);
        assert_eq!(outcome.out, "ok\n", "{name}: {}", outcome.err);
        assert_eq!(proxy.seen().len(), at + 1, "{name}");
    }
    let asked = proxy.seen().len();
    let outcome = ask(&home, &[("HTTP_PROXY", &proxy.url), ("NO_PROXY", NOBODY)]).expect(3);
    assert!(outcome.err.starts_with(&format!("milk: far: cannot reach http://{NOBODY}")), "{}", outcome.err);
    assert_eq!(proxy.seen().len(), asked);
}

#[test]
fn a_proxy_that_is_not_there_is_thought_of_in_the_error() {
    for scheme in ["http", "https"] {
        let home = Home::with_config(&agent(&format!("{scheme}://{NOBODY}")));
        let outcome = ask(&home, &[("ALL_PROXY", "http://127.0.0.1:9")]).expect(3);
        assert!(outcome.err.contains("refused") && outcome.err.contains("HTTPS_PROXY"), "{}", outcome.err);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    }
}

#[test]
fn servers_on_this_machine_are_reached_without_a_proxy() {
    let model = Model::start([]);
    let home = Home::with_config(&model.config());
    let dead = "http://127.0.0.1:9";
    let outcome = ask(&home, &[("HTTP_PROXY", dead), ("HTTPS_PROXY", dead), ("ALL_PROXY", dead)]).expect(0);
    assert_eq!(outcome.out, "ok\n");
}

#[test]
fn what_is_secure_goes_through_a_tunnel_and_stays_so() {
    let runtime = Runtime::new().expect("a runtime");
    let setup = TlsSetup { names: vec![NOBODY.to_owned()], ..TlsSetup::default() };
    let server = runtime.block_on(TlsServer::start(setup)).expect("a server");
    let tunnel = runtime.block_on(Tunnel::start(server.address)).expect("a proxy");
    let mut config = agent(&format!("https://{NOBODY}/v1"));
    config["agents"][0]["tls_ca_cert"] = "ca.pem".into();
    config["agents"][0]["api_key"] = "sk-4711".into();
    let home = Home::with_config(&config);
    fs::write(home.path(".milk/ca.pem"), &server.authority).expect("a file");
    let outcome = ask(&home, &[("HTTPS_PROXY", &tunnel.url)]).expect(0);
    assert_eq!(outcome.out, "ok\n");
    assert_eq!(tunnel.targets(), [format!("{NOBODY}:443")]);
    let asked = &server.requests()[0];
    assert_eq!((asked.protocol, asked.path.as_str()), ("h2", "/v1/chat/completions"));
    assert_eq!(asked.headers["authorization"], "Bearer sk-4711");
}
