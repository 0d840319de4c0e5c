//! Every method of both versions, with what is refused and how it is told.

use acp_rpc::RpcError;
use session_model::{Content, EmbeddedResource, OptionInput, ResourceBody, ResourceLink};

use super::{Dialect, params, rich, v1, v2};
use crate::command::{
    Ack, Command, DeleteSession, ListSessions, NewSession, Notice, OpenSession, Prompt, Replay, SetOption,
};

fn read(dialect: &Dialect, method: &str, text: &str) -> Command {
    dialect.request(method, &params(text)).unwrap_or_else(|error| panic!("{method} {text}: {error}"))
}

/// The message of a `-32602`.
fn refused(dialect: &Dialect, method: &str, text: &str) -> String {
    let error = dialect.request(method, &params(text)).expect_err(text);
    assert_eq!(error.code, RpcError::INVALID_PARAMS, "{method} {text}: {error}");
    error.message
}

#[test]
fn session_new_is_read_alike() {
    let text =
        r#"{"cwd":"/w","mcpServers":[],"additionalDirectories":["/x"],"_meta":{"milk":{"fresh":true}}}"#;
    let command = Command::NewSession(NewSession {
        cwd: "/w".to_owned(),
        additional_directories: vec!["/x".to_owned()],
        fresh: true,
        mcp_servers: Vec::new(),
    });
    assert_eq!(read(&v1(), "session/new", text), command);
    assert_eq!(read(&v2(), "session/new", text), command);
}

#[test]
fn missing_and_null_lists_are_empty_in_both_versions() {
    let command = Command::NewSession(NewSession { cwd: "/w".to_owned(), ..NewSession::default() });
    for text in [
        r#"{"cwd":"/w"}"#,
        r#"{"cwd":"/w","mcpServers":null,"additionalDirectories":null}"#,
        r#"{"cwd":"/w","mcpServers":[],"_meta":null,"extra":1}"#,
    ] {
        assert_eq!(read(&v1(), "session/new", text), command, "{text}");
        assert_eq!(read(&v2(), "session/new", text), command, "{text}");
    }
    for method in ["session/load", "session/resume"] {
        read(&v1(), method, r#"{"sessionId":"s","cwd":"/w"}"#);
    }
}

#[test]
fn a_relative_folder_is_left_to_the_session_and_an_empty_one_refused() {
    for dialect in [v1(), v2()] {
        let Command::NewSession(new) = read(&dialect, "session/new", r#"{"cwd":".","mcpServers":[]}"#) else {
            panic!("another command");
        };
        assert_eq!(new.cwd, ".");
        assert_eq!(
            refused(&dialect, "session/new", r#"{"cwd":"","mcpServers":[]}"#),
            "`cwd` is empty; send the absolute path of an existing directory"
        );
        assert_eq!(
            refused(
                &dialect,
                "session/new",
                r#"{"cwd":"/w","mcpServers":[],"additionalDirectories":["/x","y"]}"#
            ),
            "`additionalDirectories[1]` is not an absolute path; send one"
        );
        assert!(refused(&dialect, "session/new", "{}").contains("`cwd`"));
        assert!(refused(&dialect, "session/new", r#"{"cwd":5}"#).contains("cwd"));
    }
}

#[test]
fn mcp_servers_need_a_transport_that_is_advertised() {
    let stdio = r#"{"name":"git","command":"/bin/git-mcp","args":[],"env":[]}"#;
    let Command::NewSession(new) =
        read(&v1(), "session/new", &format!(r#"{{"cwd":"/w","mcpServers":[{stdio}]}}"#))
    else {
        panic!("another command");
    };
    assert_eq!(new.mcp_servers, ["git"]);
    for (transport, headers) in [("http", "\"headers\":[]"), ("sse", "\"headers\":[]")] {
        let server = format!(r#"{{"type":"{transport}","name":"web","url":"https://x",{headers}}}"#);
        let text = format!(r#"{{"sessionId":"s","cwd":"/w","mcpServers":[{stdio},{server}]}}"#);
        for method in ["session/new", "session/load", "session/resume"] {
            let message = refused(&v1(), method, &text);
            assert!(
                message.starts_with(&format!("`mcpServers[1]` (web) uses the transport {transport}")),
                "{message}"
            );
        }
    }
    for (server, said) in [
        (
            r#"{"type":"stdio","name":"git","command":"/bin/git-mcp"}"#,
            "`mcpServers[0]` (git) uses the transport stdio",
        ),
        (
            r#"{"type":"http","name":"web","url":"https://x"}"#,
            "`mcpServers[0]` (web) uses the transport http",
        ),
        (r#"{"type":"_mine","name":"own"}"#, "`mcpServers[0]` (own) uses the transport _mine"),
        (stdio, "mcpServers"),
    ] {
        let text = format!(r#"{{"sessionId":"s","cwd":"/w","mcpServers":[{server}]}}"#);
        for method in ["session/new", "session/resume"] {
            let message = refused(&v2(), method, &text);
            assert!(message.contains(said), "{message}");
        }
    }
}

fn open(replay: Replay) -> Command {
    Command::OpenSession(OpenSession {
        session: "s".into(),
        cwd: "/w".to_owned(),
        additional_directories: Vec::new(),
        replay,
        mcp_servers: Vec::new(),
    })
}

#[test]
fn how_much_is_replayed_follows_the_method_and_the_cursor() {
    let plain = r#"{"sessionId":"s","cwd":"/w"}"#;
    let start = r#"{"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}"#;
    let null = r#"{"sessionId":"s","cwd":"/w","replayFrom":null}"#;
    assert_eq!(read(&v1(), "session/load", plain), open(Replay::Everything));
    for text in [plain, start, null] {
        assert_eq!(read(&v1(), "session/resume", text), open(Replay::Nothing), "{text}");
    }
    assert_eq!(read(&v2(), "session/resume", plain), open(Replay::Nothing));
    assert_eq!(read(&v2(), "session/resume", null), open(Replay::Nothing));
    assert_eq!(read(&v2(), "session/resume", start), open(Replay::Window));
    assert_eq!(
        refused(
            &v2(),
            "session/resume",
            r#"{"sessionId":"s","cwd":"/w","replayFrom":{"type":"message","id":"m"}}"#
        ),
        r#"`replayFrom` is of the unknown type message; send {"type":"start"}, or leave it out to replay nothing"#
    );
    for cursor in [r#""start""#, "{}", "[]", "5", "true", r#"{"type":5}"#] {
        let text = format!(r#"{{"sessionId":"s","cwd":"/w","replayFrom":{cursor}}}"#);
        assert!(refused(&v2(), "session/resume", &text).contains("replayFrom"), "{cursor}");
    }
}

#[test]
fn a_missing_or_null_session_is_refused_and_named() {
    let cases = [
        ("session/resume", r#""cwd":"/w""#),
        ("session/close", r#""x":1"#),
        ("session/delete", r#""x":1"#),
        ("session/prompt", r#""prompt":[{"type":"text","text":"x"}]"#),
        ("session/set_config_option", r#""configId":"think","type":"boolean","value":true"#),
    ];
    for dialect in [v1(), v2()] {
        for (method, rest) in cases {
            for text in [format!("{{{rest}}}"), format!(r#"{{"sessionId":null,{rest}}}"#)] {
                assert!(refused(&dialect, method, &text).contains("sessionId"), "{method} {text}");
            }
            if method != "session/close" {
                let message = refused(&dialect, method, &format!(r#"{{"sessionId":"",{rest}}}"#));
                assert_eq!(
                    message, "`sessionId` is empty; send the id that session/new returned",
                    "{method}"
                );
            }
        }
    }
}

#[test]
fn sessions_are_listed_by_page_and_folder() {
    let all = Command::ListSessions(ListSessions::default());
    let some = Command::ListSessions(ListSessions { cwd: Some("/w".into()), offset: 50 });
    for dialect in [v1(), v2()] {
        assert_eq!(dialect.request("session/list", &acp_rpc::Params::none()).unwrap(), all);
        assert_eq!(read(&dialect, "session/list", r#"{"cwd":null,"cursor":null}"#), all);
        assert_eq!(read(&dialect, "session/list", r#"{"cwd":"/w","cursor":"bzo1MA=="}"#), some);
        assert_eq!(
            refused(&dialect, "session/list", r#"{"cursor":"garbage"}"#),
            "`cursor` is not one that session/list returned; leave it out to begin at the first page"
        );
        assert!(refused(&dialect, "session/list", r#"{"cursor":5}"#).contains("cursor"));
        assert_eq!(
            refused(&dialect, "session/list", r#"{"cwd":"w"}"#),
            "`cwd` is not an absolute path; send one, or leave it out to list every folder"
        );
    }
}

#[test]
fn closing_takes_any_id_and_deleting_follows_the_version() {
    let text = r#"{"sessionId":"abc"}"#;
    let delete = |by_prefix, missing_ok| {
        Command::DeleteSession(DeleteSession { reference: "abc".to_owned(), by_prefix, missing_ok })
    };
    assert_eq!(read(&v1(), "session/delete", text), delete(false, true));
    assert_eq!(read(&v2(), "session/delete", text), delete(true, false));
    for dialect in [v1(), v2()] {
        assert_eq!(read(&dialect, "session/close", text), Command::CloseSession("abc".into()));
        assert_eq!(read(&dialect, "session/close", r#"{"sessionId":""}"#), Command::CloseSession("".into()));
    }
}

#[test]
fn a_prompt_keeps_its_blocks_in_order() {
    let text = r#"{"sessionId":"s","prompt":[
        {"type":"text","text":"look"},
        {"type":"resource_link","uri":"file:///w/a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":3},
        {"type":"image","data":"AA==","mimeType":"image/png","uri":"file:///p"},
        {"type":"audio","data":"AA==","mimeType":"audio/wav"},
        {"type":"resource","resource":{"uri":"file:///b","text":"b","mimeType":"text/plain"}},
        {"type":"resource","resource":{"uri":"file:///c","blob":"AA=="}}]}"#;
    let content = vec![
        Content::text("look"),
        Content::Link(ResourceLink {
            uri: "file:///w/a".to_owned(),
            name: "a".to_owned(),
            title: Some("A".to_owned()),
            description: Some("d".to_owned()),
            mime_type: Some("text/plain".to_owned()),
            size: Some(3),
        }),
        Content::Image {
            data: "AA==".to_owned(),
            mime_type: "image/png".to_owned(),
            uri: Some("file:///p".to_owned()),
        },
        Content::Audio { data: "AA==".to_owned(), mime_type: "audio/wav".to_owned() },
        Content::Resource(EmbeddedResource {
            uri: "file:///b".to_owned(),
            mime_type: Some("text/plain".to_owned()),
            body: ResourceBody::Text("b".to_owned()),
        }),
        Content::Resource(EmbeddedResource {
            uri: "file:///c".to_owned(),
            mime_type: None,
            body: ResourceBody::Blob("AA==".to_owned()),
        }),
    ];
    let command = Command::Prompt(Prompt { session: "s".into(), content, ack: Ack::TurnEnd, key: None });
    assert_eq!(read(&rich(1), "session/prompt", text), command);
    assert_eq!(read(&rich(2), "session/prompt", text), command);
}

#[test]
fn a_prompt_of_nothing_or_of_what_is_not_advertised_is_refused() {
    for dialect in [v1(), v2()] {
        assert_eq!(
            refused(&dialect, "session/prompt", r#"{"sessionId":"s","prompt":[]}"#),
            "`prompt` is empty; send at least one content block"
        );
        for (kind, block) in [
            ("image", r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#),
            ("audio", r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#),
            ("resource", r#"{"type":"resource","resource":{"uri":"file:///b","text":"b"}}"#),
        ] {
            let text = format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"x"}},{block}]}}"#);
            assert_eq!(
                refused(&dialect, "session/prompt", &text),
                format!(
                    "`prompt[1]` is of type {kind}, which this agent does not advertise; send text or a resource_link"
                )
            );
        }
        for block in
            [r#"{"type":"hologram"}"#, "{}", r#"{"type":"text"}"#, r#"{"text":"x"}"#, "\"x\"", "null"]
        {
            let text = format!(r#"{{"sessionId":"s","prompt":[{block}]}}"#);
            assert!(refused(&dialect, "session/prompt", &text).contains("prompt"), "{block}");
        }
        for text in
            [r#"{"sessionId":"s"}"#, r#"{"sessionId":"s","prompt":"x"}"#, r#"{"sessionId":"s","content":[]}"#]
        {
            assert!(refused(&dialect, "session/prompt", text).contains("prompt"), "{text}");
        }
    }
}

#[test]
fn an_idempotency_key_has_1_to_255_characters() {
    let prompt = |key: &str| {
        format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"x"}}],"idempotencyKey":{key}}}"#)
    };
    for key in ["k".to_owned(), "é".repeat(255)] {
        let Command::Prompt(read) = read(&v2(), "session/prompt", &prompt(&format!("\"{key}\""))) else {
            panic!("another command");
        };
        assert_eq!(read.key, Some(key));
        assert_eq!(read.ack, Ack::Insertion);
    }
    for key in ["\"\"".to_owned(), format!("\"{}\"", "k".repeat(256)), "5".to_owned(), "[]".to_owned()] {
        assert!(refused(&v2(), "session/prompt", &prompt(&key)).contains("idempotencyKey"), "{key}");
    }
    let Command::Prompt(read) = read(&v2(), "session/prompt", &prompt("null")) else {
        panic!("another command")
    };
    assert_eq!(read.key, None);
}

#[test]
fn a_setting_is_changed_in_each_versions_form() {
    let set = |value| {
        Command::SetOption(SetOption { session: "s".into(), option: "o".to_owned(), value, bare: false })
    };
    let text = |rest: &str| format!(r#"{{"sessionId":"s","configId":"o"{rest}}}"#);
    let method = "session/set_config_option";
    let choice = || set(OptionInput::Choice("auto".to_owned()));
    assert_eq!(read(&v1(), method, &text(r#","value":"auto""#)), choice());
    assert_eq!(read(&v2(), method, &text(r#","type":"id","value":"auto""#)), choice());
    for dialect in [v1(), v2()] {
        let toggle = read(&dialect, method, &text(r#","type":"boolean","value":true"#));
        assert_eq!(toggle, set(OptionInput::Toggle(true)));
        for rest in ["", r#","type":"boolean""#, r#","value":true"#, r#","value":null"#] {
            refused(&dialect, method, &text(rest));
        }
        let no_id = r#"{"sessionId":"s","optionId":"o","type":"boolean","value":true}"#;
        assert!(refused(&dialect, method, no_id).contains("configId"));
    }
    // Version 1 reads a text as a value's name whatever `type` says, as its official types do.
    let named = text(r#","type":"boolean","value":"on""#);
    assert_eq!(read(&v1(), method, &named), set(OptionInput::Choice("on".to_owned())));
    refused(&v2(), method, &named);
    assert!(refused(&v2(), method, &text(r#","value":"auto""#)).contains("type"));
    assert_eq!(
        refused(&v2(), method, &text(r#","type":"number","value":1"#)),
        "`type` number is unknown; send id or boolean, as the option is"
    );
}

#[test]
fn the_mode_has_a_method_in_version_1_only() {
    let text = r#"{"sessionId":"s","modeId":"auto"}"#;
    let command = Command::SetOption(SetOption {
        session: "s".into(),
        option: "mode".to_owned(),
        value: OptionInput::Choice("auto".to_owned()),
        bare: true,
    });
    assert_eq!(read(&v1(), "session/set_mode", text), command);
    assert!(refused(&v1(), "session/set_mode", r#"{"sessionId":"s"}"#).contains("modeId"));
}

#[test]
fn unknown_and_unadvertised_methods_are_named() {
    let both = [
        "session/fork",
        "session/status",
        "authenticate",
        "logout",
        "auth/login",
        "auth/logout",
        "providers/list",
        "mcp/message",
        "$/cancel_request",
        "session/cancel",
        "session/update",
        "_qa/ping",
        "",
    ];
    let v2_only = ["session/load", "session/set_mode", "fs/read_text_file"];
    let v1_only = ["tool_call/cancel", "terminal/cancel"];
    let all = |dialect: Dialect, methods: &[&str]| {
        for method in methods {
            let error = dialect.request(method, &params(r#"{"sessionId":"s","methodId":"m"}"#)).unwrap_err();
            assert_eq!(error.code, RpcError::METHOD_NOT_FOUND, "{method}");
            assert!(error.message.contains(method), "{error}");
        }
    };
    all(v1(), &[&both[..], &v1_only[..]].concat());
    all(v2(), &[&both[..], &v2_only[..]].concat());
}

#[test]
fn cancelling_one_call_or_terminal_names_the_call_in_version_2() {
    for (method, params) in [
        ("tool_call/cancel", r#"{"sessionId":"s","toolCallId":"c"}"#),
        ("terminal/cancel", r#"{"sessionId":"s","terminalId":"c"}"#),
    ] {
        assert_eq!(read(&v2(), method, params), Command::CancelCall("s".into(), "c".into()), "{method}");
        refused(&v2(), method, r#"{"sessionId":"s"}"#);
        assert_eq!(
            v1().request(method, &self::params(params)).expect_err(method).code,
            RpcError::METHOD_NOT_FOUND
        );
    }
}

#[test]
fn arrays_and_scalars_are_no_parameters() {
    for dialect in [v1(), v2()] {
        for text in ["[]", "5", "\"x\"", "true"] {
            refused(&dialect, "session/new", text);
            refused(&dialect, "session/list", text);
        }
    }
}

#[test]
fn only_a_well_formed_cancel_is_heard() {
    for dialect in [v1(), v2()] {
        let heard = |method: &str, text: &str| dialect.notification(method, &params(text));
        let cancel = Some(Notice::Cancel("s".into()));
        assert_eq!(heard("session/cancel", r#"{"sessionId":"s"}"#), cancel);
        assert_eq!(heard("session/cancel", r#"{"sessionId":"s","reason":"user"}"#), cancel);
        for text in ["{}", r#"{"sessionId":null}"#, r#"{"sessionId":5}"#, "[]", "7"] {
            assert_eq!(heard("session/cancel", text), None, "{text}");
        }
        for method in ["foo/bar", "_x/y", "$/x", "session/prompt"] {
            assert_eq!(heard(method, r#"{"sessionId":"s"}"#), None, "{method}");
        }
    }
}
