//! `initialize`: which version is chosen, what it is told, and what is taken from what the client says.

use acp_rpc::RpcError;
use serde_json::{Value, json};

use super::super::conformance::assert_valid;
use super::{dialect, params, rich, server, v1, v1_full, v2};
use crate::command::{Ack, ClientFeatures, Command};
use crate::dialect::Dialect;
use crate::negotiate::{PromptFeatures, ServerInfo, negotiate};

fn result(initialize: &str, server: &ServerInfo) -> Value {
    let negotiated = negotiate(&params(initialize), server).unwrap();
    let result = serde_json::from_str(negotiated.result.get()).unwrap();
    assert_valid(&negotiated.dialect, "InitializeResponse", &result);
    result
}

#[test]
fn the_number_chooses_the_version() {
    for (asked, chosen) in [
        ("1", 1),
        ("2", 2),
        ("3", 2),
        ("99", 2),
        ("65536", 2),
        ("99999999999999999999999999", 2),
        ("\"1\"", 1),
        ("\"2\"", 2),
        ("\"99\"", 2),
    ] {
        let result = result(&format!(r#"{{"protocolVersion":{asked}}}"#), &server());
        assert_eq!(result["protocolVersion"], chosen, "{asked}");
    }
}

#[test]
fn a_version_older_than_all_is_unsupported() {
    for asked in ["0", "\"0\""] {
        let error = negotiate(&params(&format!(r#"{{"protocolVersion":{asked}}}"#)), &server()).unwrap_err();
        assert_eq!(error.code, -32022);
        assert_eq!(error.data, Some(json!({"requested": 0, "supported": [1, 2]})));
    }
}

#[test]
fn what_is_no_whole_number_is_invalid_and_named() {
    for text in [
        "{}",
        r#"{"protocolVersion":null}"#,
        r#"{"protocolVersion":-1}"#,
        r#"{"protocolVersion":1.0}"#,
        r#"{"protocolVersion":1.5}"#,
        r#"{"protocolVersion":1e0}"#,
        r#"{"protocolVersion":true}"#,
        r#"{"protocolVersion":""}"#,
        r#"{"protocolVersion":"1.0"}"#,
        r#"{"protocolVersion":"latest"}"#,
        r#"{"protocolVersion":" 1"}"#,
        r#"{"protocolVersion":[1]}"#,
        r#"{"protocolVersion":{}}"#,
        r#"{"protocol_version":1}"#,
    ] {
        let error = negotiate(&params(text), &server()).unwrap_err();
        assert_eq!(error.code, RpcError::INVALID_PARAMS, "{text}");
        assert_eq!(error.message, "`protocolVersion` must be a whole number; send 1 or 2", "{text}");
    }
    assert_eq!(negotiate(&params("[1]"), &server()).unwrap_err().code, RpcError::INVALID_PARAMS);
}

#[test]
fn version_1_is_told_in_its_own_names_what_works() {
    insta::assert_snapshot!(format!("{:#}", result(r#"{"protocolVersion":1}"#, &server())), @r#"
    {
      "protocolVersion": 1,
      "agentCapabilities": {
        "loadSession": true,
        "promptCapabilities": {
          "image": false,
          "audio": false,
          "embeddedContext": false
        },
        "mcpCapabilities": {
          "http": false,
          "sse": false
        },
        "sessionCapabilities": {
          "list": {},
          "delete": {},
          "additionalDirectories": {},
          "resume": {},
          "close": {}
        },
        "auth": {},
        "_meta": {
          "milk": {
            "notifications": [
              "_milk/route",
              "_milk/warning"
            ]
          }
        }
      },
      "authMethods": [],
      "agentInfo": {
        "name": "milk",
        "version": "0.1.0"
      }
    }
    "#);
}

#[test]
fn version_2_is_told_in_its_own_names_what_works() {
    insta::assert_snapshot!(format!("{:#}", result(r#"{"protocolVersion":2}"#, &server())), @r#"
    {
      "protocolVersion": 2,
      "info": {
        "name": "milk",
        "version": "0.1.0"
      },
      "capabilities": {
        "session": {
          "delete": {},
          "additionalDirectories": {}
        },
        "_meta": {
          "milk": {
            "notifications": [
              "_milk/route",
              "_milk/warning"
            ],
            "promptAck": {
              "default": "turn_end",
              "supported": [
                "turn_end",
                "insertion"
              ]
            }
          }
        }
      }
    }
    "#);
}

#[test]
fn what_prompts_may_hold_is_advertised_only_where_it_works() {
    let prompt = PromptFeatures { image: true, audio: false, embedded_context: true };
    let server = ServerInfo { prompt, title: Some("Milk".to_owned()), ..server() };
    let v1 = result(r#"{"protocolVersion":1}"#, &server);
    assert_eq!(
        v1["agentCapabilities"]["promptCapabilities"],
        json!({"image": true, "audio": false, "embeddedContext": true})
    );
    assert_eq!(v1["agentInfo"], json!({"name": "milk", "title": "Milk", "version": "0.1.0"}));
    let v2 = result(r#"{"protocolVersion":2}"#, &server);
    assert_eq!(v2["capabilities"]["session"]["prompt"], json!({"image": {}, "embeddedContext": {}}));
    assert_eq!(v2["info"], json!({"name": "milk", "title": "Milk", "version": "0.1.0"}));
}

#[test]
fn a_client_of_version_2_may_leave_out_everything_but_the_number() {
    for text in [
        r#"{"protocolVersion":2}"#,
        r#"{"protocolVersion":2,"info":{"name":"my-editor"}}"#,
        r#"{"protocolVersion":2,"info":null,"capabilities":null}"#,
        r#"{"protocolVersion":2,"info":5,"capabilities":[],"_meta":7,"extra":{}}"#,
    ] {
        assert_eq!(result(text, &server())["protocolVersion"], 2, "{text}");
    }
}

#[test]
fn malformed_capabilities_are_not_advertised() {
    for capabilities in [
        "null",
        "true",
        "[]",
        r#"{"elicitation":true}"#,
        r#"{"elicitation":{}}"#,
        r#"{"elicitation":{"form":true,"url":null}}"#,
        r#"{"session":{"configOptions":{"boolean":true},"notices":false},"fs":{"readTextFile":"yes"},"terminal":1}"#,
    ] {
        let v1 =
            dialect(&format!(r#"{{"protocolVersion":1,"clientCapabilities":{capabilities}}}"#)).features();
        assert_eq!(ClientFeatures { usage: false, ..v1 }, ClientFeatures::default(), "{capabilities}");
        let v2 = dialect(&format!(r#"{{"protocolVersion":2,"capabilities":{capabilities}}}"#)).features();
        assert!(!v2.elicit_form && !v2.elicit_url, "{capabilities}");
    }
}

#[test]
fn what_a_client_of_version_1_can_do_is_read() {
    assert_eq!(v1().features(), ClientFeatures::default());
    assert_eq!(
        v1_full().features(),
        ClientFeatures {
            boolean_options: true,
            notices: true,
            compaction: true,
            elicit_form: true,
            usage: true,
            ..ClientFeatures::default()
        }
    );
    let editor = dialect(
        r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,
            "auth":{"terminal":false}}}"#,
    );
    assert_eq!(
        editor.features(),
        ClientFeatures { read_file: true, write_file: true, terminal: true, ..ClientFeatures::default() }
    );
}

#[test]
fn what_a_client_of_version_2_can_do_is_read_under_either_name() {
    let all = ClientFeatures {
        boolean_options: true,
        notices: true,
        compaction: true,
        usage: true,
        elicit_form: true,
        ..ClientFeatures::default()
    };
    assert_eq!(v2().features(), all);
    let contract = r#"{"protocolVersion":2,"clientCapabilities":{"elicitation":{"form":{}}}}"#;
    assert_eq!(dialect(contract).features(), all);
    let both = r#"{"protocolVersion":2,"capabilities":{},"clientCapabilities":{"elicitation":{"form":{}}}}"#;
    assert_eq!(dialect(both).features(), ClientFeatures { elicit_form: false, ..all });
}

fn ack(dialect: &Dialect, prompt: &str) -> Ack {
    let Command::Prompt(prompt) = dialect.request("session/prompt", &params(prompt)).unwrap() else {
        panic!("another command");
    };
    prompt.ack
}

#[test]
fn the_moment_of_the_response_is_chosen_by_the_first_that_says_so() {
    let plain = r#"{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}"#;
    let held = r#"{"sessionId":"s","prompt":[{"type":"text","text":"x"}],"_meta":{"milk":{"promptAck":"turn_end"}}}"#;
    let early = r#"{"sessionId":"s","prompt":[{"type":"text","text":"x"}],"_meta":{"milk":{"promptAck":"insertion"}}}"#;
    let keyed = r#"{"sessionId":"s","prompt":[{"type":"text","text":"x"}],"idempotencyKey":"k",
        "_meta":{"milk":{"promptAck":"turn_end"}}}"#;
    let by_default = v2();
    assert_eq!(
        [plain, held, early, keyed].map(|prompt| ack(&by_default, prompt)),
        [Ack::TurnEnd, Ack::TurnEnd, Ack::Insertion, Ack::Insertion]
    );
    let asked = dialect(r#"{"protocolVersion":2,"_meta":{"milk":{"promptAck":"insertion"}}}"#);
    assert_eq!([plain, held].map(|prompt| ack(&asked, prompt)), [Ack::Insertion, Ack::TurnEnd]);
    let set = ServerInfo { default_ack: Ack::Insertion, ..server() };
    let set = negotiate(&params(r#"{"protocolVersion":2}"#), &set).unwrap().dialect;
    assert_eq!([plain, held].map(|prompt| ack(&set, prompt)), [Ack::Insertion, Ack::TurnEnd]);
    let v1 = dialect(r#"{"protocolVersion":1,"_meta":{"milk":{"promptAck":"insertion"}}}"#);
    assert_eq!(ack(&v1, keyed), Ack::TurnEnd);
    assert_eq!(ack(&rich(1), early), Ack::TurnEnd);
}

#[test]
fn a_client_is_told_the_moment_that_holds_on_its_connection() {
    let asked = result(r#"{"protocolVersion":2,"_meta":{"milk":{"promptAck":"insertion"}}}"#, &server());
    assert_eq!(
        asked["capabilities"]["_meta"]["milk"]["promptAck"],
        json!({"default": "insertion", "supported": ["turn_end", "insertion"]})
    );
}
