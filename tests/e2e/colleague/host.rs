//! Another agent uses its client's files and terminals, which are ours: by our rules, and by our own client where that
//! offers its own.

use std::fs;

use milk_tests::client::Client;
use milk_tests::editor::Editor;
use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended, leave, soon, subject};

fn ask(method: &str, params: &Value) -> Value {
    json!({"ask": {"method": method, "params": params}})
}

fn create(command: &str) -> Value {
    ask("terminal/create", &json!({"command": command}))
}

fn on_terminal(method: &str) -> Value {
    ask(method, &json!({"terminalId": "$terminal"}))
}

/// Prompts, waits for a permission request and answers it; gives what was asked.
async fn answered_with(client: &mut Client, prompt: &Value, option: &str) -> Value {
    let (id, params) = client.request("session/request_permission").await;
    client.choose(&id, option).await;
    ended(client, prompt).await.expect("answered");
    params
}

#[tokio::test]
async fn files_and_terminals_are_offered_unless_the_configuration_says_otherwise() {
    let rows = [
        (json!({}), json!({"readTextFile": true, "writeTextFile": true}), true),
        (json!({"client_files": false}), json!({"readTextFile": false, "writeTextFile": false}), true),
        (json!({"client_terminals": false}), json!({"readTextFile": true, "writeTextFile": true}), false),
    ];
    for (entry, files, terminal) in rows {
        let script = json!({"prompts": [[ask("fs/read_text_file", &json!({"path": "x"})), create("true")]]});
        let scene = Scene::with(&script, entry, json!({}));
        let (mut client, session) = scene.rig.session(Version::V2).await;
        let prompt = client.prompt(&session, "go").await;
        if terminal {
            answered_with(&mut client, &prompt, "reject").await;
        } else {
            ended(&mut client, &prompt).await.expect("answered");
        }
        let hello = &scene.requests("initialize")[0]["clientCapabilities"];
        assert_eq!((&hello["fs"], &hello["terminal"]), (&files, &json!(terminal)));
        let refused = |number| scene.answer(number)["error"]["code"] == -32601;
        assert_eq!((refused(1), refused(2)), (files["readTextFile"] == false, !terminal));
        client.finish().await;
    }
}

#[tokio::test]
async fn files_are_read_as_they_are_and_by_lines() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!({}));
        scene.rig.file("a.txt", "one\r\ntwo\nthree");
        let read = |params: Value| ask("fs/read_text_file", &params);
        let path = scene.path("a.txt");
        scene.script(&json!({"prompts": [[
            read(json!({"path": path})),
            read(json!({"path": path, "line": 2, "limit": 1})),
            read(json!({"path": scene.path("none")})),
            read(json!({"path": "a.txt"})),
            read(json!({"line": 1})),
            read(json!({"path": path, "sessionId": "another"})),
            ask("fs/remove", &json!({"path": path})),
        ]]}));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        ended(&mut client, &prompt).await.expect("answered");
        assert_eq!(scene.answer(1)["result"], json!({"content": "one\r\ntwo\nthree"}));
        assert_eq!(scene.answer(2)["result"], json!({"content": "two\n"}));
        let codes: Vec<_> = (3..=7).map(|number| scene.answer(number)["error"]["code"].clone()).collect();
        assert_eq!(codes, [-32002, -32602, -32602, -32002, -32601]);
        client.finish().await;
    }
}

#[tokio::test]
async fn no_path_leads_out_of_the_folders_unasked() {
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().canonicalize().expect("a folder").join("secret.txt");
    fs::write(&secret, "secret").expect("written");
    for (option, given) in [("allow", true), ("reject", false)] {
        for way in ["plain", "link", "dots"] {
            let scene = Scene::new(&json!({}));
            let path = match way {
                "plain" => secret.clone(),
                "link" => {
                    std::os::unix::fs::symlink(outside.path(), scene.path("link")).expect("a link");
                    scene.path("link/secret.txt")
                }
                _ => {
                    let up = "../".repeat(scene.rig.cwd().components().count());
                    scene.path(&format!("{up}{}", secret.display()))
                }
            };
            scene.script(&json!({"prompts": [[ask("fs/read_text_file", &json!({"path": path}))]]}));
            let (mut client, session) = scene.rig.session(Version::V2).await;
            let prompt = client.prompt(&session, "go").await;
            let params = answered_with(&mut client, &prompt, option).await;
            assert_eq!(subject(&params)["title"], format!("read_file: {}", secret.display()), "{way}");
            let answer = scene.answer(1);
            assert_eq!(answer["result"]["content"] == "secret", given, "{way}: {answer}");
            assert_eq!(answer["error"]["code"] == -32603, !given, "{way}: {answer}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_write_is_asked_about_with_its_change_and_only_done_when_allowed() {
    for version in Version::BOTH {
        for (option, written) in [("allow", true), ("reject", false)] {
            let scene = Scene::new(&json!({}));
            let write =
                ask("fs/write_text_file", &json!({"path": scene.path("new/a.txt"), "content": "hello\n"}));
            scene.script(&json!({"prompts": [[write]]}));
            let (mut client, session) = scene.rig.session(version).await;
            let prompt = client.prompt(&session, "go").await;
            let params = answered_with(&mut client, &prompt, option).await;
            assert_eq!(subject(&params)["title"], "write_file: new/a.txt");
            assert_eq!(subject(&params)["content"][0]["type"], "diff", "{params}");
            assert_eq!(scene.path("new/a.txt").exists(), written);
            assert_eq!(scene.answer(1)["error"]["code"] == -32603, !written, "{}", scene.answer(1));
            let transcript = client.finish().await;
            let status = if written { r#""status":"completed""# } else { r#""status":"failed""# };
            assert!(transcript.contains(status), "{transcript}");
        }
    }
}

#[tokio::test]
async fn leave_for_the_agents_own_call_is_leave_for_what_we_do_for_it_while_the_call_lasts() {
    for version in Version::BOTH {
        let scene = Scene::new(&json!({}));
        let (a, b) = (scene.path("a.txt"), scene.path("b.txt"));
        let call = json!({"toolCallId": "t", "title": "Edit", "kind": "edit", "locations": [{"path": a}]});
        let write = |path, text: &str| ask("fs/write_text_file", &json!({"path": path, "content": text}));
        let done = json!({"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}});
        scene.script(
            &json!({"prompts": [[leave(&call), write(&a, "1"), write(&b, "2"), done, write(&a, "3")]]}),
        );
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let mut titles = Vec::new();
        for option in ["once", "reject", "reject"] {
            let (id, params) = client.request("session/request_permission").await;
            titles.push(subject(&params)["title"].as_str().unwrap_or_default().to_owned());
            client.choose(&id, option).await;
        }
        ended(&mut client, &prompt).await.expect("answered");
        assert_eq!(titles, ["Edit", "write_file: b.txt", "write_file: a.txt"]);
        assert_eq!(scene.rig.read("a.txt"), "1");
        assert!(!b.exists());
        client.finish().await;
    }
}

#[tokio::test]
async fn a_rule_or_a_mode_that_refuses_a_write_refuses_it_here() {
    let rows = [
        (
            json!({"permissions": {"deny": ["edit(*.lock)"]}}),
            json!({}),
            "a.lock",
            "user's rule `edit(*.lock)`",
        ),
        (json!({"permissions": {"allow": ["edit(src/**)"]}}), json!({}), "src/a.rs", ""),
        (json!({"dangerously_skip_permissions": true}), json!({}), "any", ""),
    ];
    for (config, entry, name, why) in rows {
        let scene = Scene::with(&json!({}), entry, config);
        scene.script(&json!({"prompts": [[ask("fs/write_text_file", &json!({"path": scene.path(name), "content": "x"}))]]}));
        let (mut client, session) = scene.rig.session(Version::V2).await;
        let prompt = client.prompt(&session, "go").await;
        ended(&mut client, &prompt).await.expect("answered");
        assert_eq!(scene.path(name).exists(), why.is_empty());
        let answer = scene.answer(1);
        assert!(answer["error"]["message"].as_str().unwrap_or_default().contains(why), "{answer}");
        client.finish().await;
    }
}

#[tokio::test]
async fn the_editors_files_are_used_where_it_has_some() {
    let scene = Scene::new(&json!({}));
    let path = scene.path("a.txt");
    fs::write(&path, "on the disk").expect("written");
    let write = ask("fs/write_text_file", &json!({"path": path, "content": "new"}));
    scene.script(&json!({"prompts": [[ask("fs/read_text_file", &json!({"path": path})), write]]}));
    let mut client = scene.rig.pipe(Version::V1);
    client.initialize_with(Editor::hello(true, true, false)).await;
    let session = client.new_session(&scene.rig.cwd()).await;
    let mut editor = Editor::new();
    editor.files.insert(path.display().to_string(), "unsaved".to_owned());
    let prompt = client.prompt(&session, "go").await;
    editor.serve(&mut client, &prompt).await.expect("answered");
    assert_eq!(scene.answer(1)["result"]["content"], "unsaved");
    assert_eq!(editor.files[&path.display().to_string()], "new");
    assert_eq!(scene.rig.read("a.txt"), "on the disk");
    client.finish().await;
}

#[tokio::test]
async fn an_editor_that_only_reads_has_the_agent_offered_no_writing() {
    let scene = Scene::new(&json!({"prompts": [[]]}));
    let mut client = scene.rig.pipe(Version::V1);
    client.initialize_with(Editor::hello(true, false, false)).await;
    let session = client.new_session(&scene.rig.cwd()).await;
    let prompt = client.prompt(&session, "go").await;
    ended(&mut client, &prompt).await.expect("answered");
    let hello = &scene.requests("initialize")[0]["clientCapabilities"];
    assert_eq!(hello["fs"], json!({"readTextFile": true, "writeTextFile": false}));
    client.finish().await;
}

#[tokio::test]
async fn a_command_is_asked_about_runs_and_is_shown() {
    for version in Version::BOTH {
        let steps = [
            create("printf 'a\\nb\\n'; exit 3"),
            on_terminal("terminal/wait_for_exit"),
            on_terminal("terminal/output"),
            on_terminal("terminal/release"),
            on_terminal("terminal/output"),
        ];
        let scene = Scene::new(&json!({"prompts": [steps]}));
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        let params = answered_with(&mut client, &prompt, "allow").await;
        assert_eq!(subject(&params)["title"], "bash: printf 'a\\nb\\n'; exit 3");
        assert_eq!(scene.answer(2)["result"], json!({"exitCode": 3}));
        let output = json!({"output": "a\nb\n", "truncated": false, "exitStatus": {"exitCode": 3}});
        assert_eq!(scene.answer(3)["result"], output);
        assert_eq!(scene.answer(4)["result"], json!({}));
        assert_eq!(scene.answer(5)["error"]["code"], -32002);
        let transcript = client.finish().await;
        assert!(transcript.contains("the command ended with exit code 3"), "{transcript}");
    }
}

#[tokio::test]
async fn output_is_kept_up_to_the_limit_from_a_characters_beginning_on() {
    let run = json!({"command": "/bin/sh", "args": ["-c", "printf 'aäöü'"], "outputByteLimit": 5});
    let steps =
        [ask("terminal/create", &run), on_terminal("terminal/wait_for_exit"), on_terminal("terminal/output")];
    let scene = Scene::with(
        &json!({"prompts": [steps]}),
        json!({}),
        json!({"permissions": {"allow": ["bash(printf *)"]}}),
    );
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    ended(&mut client, &prompt).await.expect("answered unasked");
    let output = &scene.answer(3)["result"];
    assert_eq!((&output["output"], &output["truncated"]), (&json!("öü"), &json!(true)), "{output}");
    client.finish().await;
}

#[tokio::test]
async fn what_decides_what_a_command_does_is_judged_with_it() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let run = |more: Value| {
        let mut params = json!({"command": "printf x"});
        super::merge(&mut params, more);
        ask("terminal/create", &params)
    };
    let rows = [
        (run(json!({"env": [{"name": "PATH", "value": "/evil"}]})), "bash: PATH=/evil printf x"),
        (run(json!({"cwd": elsewhere.path()})), "bash: cd "),
    ];
    for (step, title) in rows {
        let rules = json!({"permissions": {"allow": ["bash(printf *)"]}});
        let scene = Scene::with(&json!({"prompts": [[step]]}), json!({}), rules);
        let (mut client, session) = scene.rig.session(Version::V2).await;
        let prompt = client.prompt(&session, "go").await;
        let params = answered_with(&mut client, &prompt, "reject").await;
        assert!(subject(&params)["title"].as_str().unwrap_or_default().starts_with(title), "{params}");
        assert_eq!(scene.answer(1)["error"]["code"], -32603);
        client.finish().await;
    }
    // Leave for the command is none for what steers it.
    for (name, asked) in [("LD_PRELOAD", true), ("COLUMNS", false)] {
        let call = json!({"toolCallId": "t", "title": "Run", "kind": "execute", "rawInput": {"command": "printf x"}});
        let step = run(json!({"env": [{"name": name, "value": "80"}]}));
        let scene = Scene::new(&json!({"prompts": [[leave(&call), step]]}));
        let (mut client, session) = scene.rig.session(Version::V2).await;
        let prompt = client.prompt(&session, "go").await;
        let (id, _) = client.request("session/request_permission").await;
        client.choose(&id, "once").await;
        if asked {
            answered_with(&mut client, &prompt, "reject").await;
        } else {
            ended(&mut client, &prompt).await.expect("answered");
        }
        assert_eq!(scene.answer(2)["error"]["code"] == -32603, asked, "{name}");
        client.finish().await;
    }
    let odd = [json!({"cwd": "relative"}), json!({"cwd": "/no/such/folder"}), json!({"command": " "})];
    let scene = Scene::new(&json!({"prompts": [odd.map(run)]}));
    let (mut client, session) = scene.rig.session(Version::V2).await;
    let prompt = client.prompt(&session, "go").await;
    ended(&mut client, &prompt).await.expect("answered");
    let codes: Vec<_> = (1..=3).map(|number| scene.answer(number)["error"]["code"].clone()).collect();
    assert_eq!(codes, [-32602, -32602, -32602]);
    client.finish().await;
}

#[tokio::test]
async fn a_killed_command_has_ended_and_keeps_its_output() {
    let steps = [
        create("echo begun; exec sleep 600"),
        on_terminal("terminal/kill"),
        on_terminal("terminal/wait_for_exit"),
        on_terminal("terminal/kill"),
        on_terminal("terminal/release"),
    ];
    let scene =
        Scene::with(&json!({"prompts": [steps]}), json!({}), json!({"dangerously_skip_permissions": true}));
    let (mut client, session) = scene.rig.session(Version::V1).await;
    let prompt = client.prompt(&session, "go").await;
    ended(&mut client, &prompt).await.expect("answered");
    assert_eq!(scene.answer(3)["result"], json!({"signal": "15"}));
    assert_eq!([&scene.answer(4)["result"], &scene.answer(5)["result"]], [&json!({}), &json!({})]);
    client.finish().await;
}

#[tokio::test]
async fn a_command_ends_with_its_turn_however_that_ends() {
    for version in Version::BOTH {
        for cancelled in [true, false] {
            let scene = Scene::with(&json!({}), json!({}), json!({"dangerously_skip_permissions": true}));
            let pid = scene.path("pid");
            let command = format!("sleep 600 & echo $$ > {0}.new; mv {0}.new {0}; wait", pid.display());
            let last = if cancelled { json!({"hang": true}) } else { json!({"wait": pid}) };
            scene.script(&json!({"prompts": [[create(&command), {"wait": pid}, {"say": "On."}, last]]}));
            let (mut client, session) = scene.rig.session(version).await;
            let prompt = client.prompt(&session, "go").await;
            client.update("agent_message_chunk").await;
            if cancelled {
                client.cancel(&session).await;
            }
            ended(&mut client, &prompt).await.expect("no error");
            let group: i32 = scene.rig.read("pid").trim().parse().expect("a number");
            let group = rustix::process::Pid::from_raw(group).expect("a process");
            soon(|| rustix::process::test_kill_process_group(group).is_err()).await;
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_command_is_shown_in_the_agents_own_row() {
    for version in Version::BOTH {
        let row = json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run it", "kind": "execute",
            "status": "in_progress", "content": [{"type": "terminal", "terminalId": "$terminal"}]}});
        let done = json!({"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}});
        let steps = [
            create("echo shown"),
            row,
            on_terminal("terminal/wait_for_exit"),
            on_terminal("terminal/release"),
            done,
        ];
        let scene = Scene::with(
            &json!({"prompts": [steps]}),
            json!({}),
            json!({"dangerously_skip_permissions": true}),
        );
        let (mut client, session) = scene.rig.session(version).await;
        let prompt = client.prompt(&session, "go").await;
        ended(&mut client, &prompt).await.expect("answered");
        let transcript = client.finish().await;
        let expected = if version == Version::V1 { "shown\\n" } else { "c2hvd24K" };
        assert!(transcript.contains(expected), "{transcript}");
    }
}

#[tokio::test]
async fn the_editors_terminals_are_used_where_it_has_some() {
    let variables = json!([{"name": "A", "value": "b"}]);
    let scene = Scene::new(&json!({"prompts": [[
        ask("terminal/create", &json!({"command": "ls", "args": ["-l"], "env": variables, "outputByteLimit": 99})),
        on_terminal("terminal/wait_for_exit"),
        on_terminal("terminal/output"),
        on_terminal("terminal/release"),
    ]]}));
    let mut client = scene.rig.pipe(Version::V1);
    client.initialize_with(Editor::hello(false, false, true)).await;
    let session = client.new_session(&scene.rig.cwd()).await;
    let mut editor = Editor::new();
    editor.prints = "from the editor".to_owned();
    let prompt = client.prompt(&session, "go").await;
    editor.serve(&mut client, &prompt).await.expect("answered");
    let created = editor.params("terminal/create").expect("asked");
    assert_eq!((&created["command"], &created["args"]), (&json!("ls"), &json!(["-l"])));
    assert_eq!((&created["env"], &created["outputByteLimit"]), (&variables, &json!(99)));
    assert_eq!(scene.answer(3)["result"]["output"], "from the editor");
    assert!(editor.methods().contains(&"terminal/release"), "{:?}", editor.methods());
    client.finish().await;
}
