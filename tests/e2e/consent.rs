//! What a question about a call shows, how far its answer reaches, and what becomes of the calls beside it.

use std::collections::BTreeSet;

use agent_runtime::scripted::Line;
use milk_tests::client::{Client, Incoming};
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};

fn write(name: &str) -> Line {
    Line::call("write_file", json!({ "path": name, "content": "x" }))
}

/// How the turn ends; everything asked until then goes to `answer`.
async fn end(
    client: &mut Client,
    id: &Value,
    mut answer: impl AsyncFnMut(&mut Client, Value, Value),
) -> Result<Value, Value> {
    loop {
        match client.incoming(id).await {
            Incoming::Request { id, params, .. } => answer(client, id, params).await,
            Incoming::Response(result) => return result,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn of_three_calls_one_dismissed_with_the_turn_leaves_none_to_be_run_or_asked_about() {
    let dismissed = json!({ "outcome": { "outcome": "cancelled" } });
    for version in Version::BOTH {
        for cancel_first in [true, false] {
            let rig = Rig::new(vec![vec![write("a"), write("b"), write("c")], vec![Line::Hang]]);
            let (mut client, session) = rig.session(version).await;
            let id = client.prompt(&session, "write").await;
            let (question, _) = client.request("session/request_permission").await;
            if cancel_first {
                client.cancel(&session).await;
                client.answer(&question, dismissed.clone()).await;
            } else {
                // Some clients answer first; the cancel is on its way.
                client.answer(&question, dismissed.clone()).await;
                client.settle().await;
                client.cancel(&session).await;
            }
            let result = client.response(&id).await.expect("no error");
            if version == Version::V1 {
                assert_eq!(result["stopReason"], "cancelled");
            }
            for name in ["a", "b", "c"] {
                assert!(!rig.dir.path().join(name).exists(), "{name}");
            }
            // A further question would be left unclaimed.
            client.finish().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn of_three_calls_one_rejected_leaves_the_others_to_be_asked_about_each() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![vec![write("a"), write("b"), write("c")], vec![Line::say("ok")]]);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "write").await;
        let mut asked = Vec::new();
        let answer = async |client: &mut Client, question: Value, params: Value| {
            let title = params["toolCall"]["title"].as_str().or(params["title"].as_str());
            asked.push(title.unwrap_or_default().to_owned());
            client.choose(&question, if asked.len() == 1 { "reject" } else { "allow" }).await;
        };
        end(&mut client, &id, answer).await.expect("answered");
        assert_eq!(asked.len(), 3, "{asked:?}");
        let there = ["a", "b", "c"].map(|name| rig.dir.path().join(name).exists());
        assert_eq!(there, [false, true, true]);
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn always_is_for_the_tool_it_names_and_changes_no_mode() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![
            vec![write("a")],
            vec![write("b")],
            vec![Line::call("bash", json!({ "command": "touch c" }))],
            vec![Line::call("http_request", json!({ "url": "http://example.invalid/", "method": "POST" }))],
            vec![Line::say("ok")],
        ]);
        let (mut client, session) = rig.session(version).await;
        client.settle().await;
        client.take_unclaimed();
        let id = client.prompt(&session, "go").await;
        let mut kinds = Vec::new();
        let answer = async |client: &mut Client, question: Value, params: Value| {
            kinds.push(call(&params)["kind"].as_str().unwrap_or_default().to_owned());
            client.choose(&question, if kinds.len() == 1 { "allow_always" } else { "reject" }).await;
        };
        end(&mut client, &id, answer).await.expect("answered");
        assert_eq!(kinds, ["edit", "execute", "fetch"], "the second file is not asked about, the others are");
        assert!(rig.dir.path().join("b").exists() && !rig.dir.path().join("c").exists());
        client.settle().await;
        let lines = client.take_unclaimed();
        let kind = |line: &Value| line["params"]["update"]["sessionUpdate"].clone();
        assert!(
            lines
                .iter()
                .all(|line| kind(line) != "config_option_update" && kind(line) != "current_mode_update")
        );
        client.finish().await;
    }
}

/// The call that a question is about, in either version.
fn call(params: &Value) -> &Value {
    if params["toolCall"].is_object() { &params["toolCall"] } else { &params["subject"]["toolCall"] }
}

/// Whether no option is offered twice, and both a yes and a no are.
fn is_sound(params: &Value) -> bool {
    let options = params["options"].as_array().expect("options");
    let words = |member: &str| -> Vec<String> {
        options.iter().filter_map(|option| option[member].as_str().map(str::to_owned)).collect()
    };
    let (kinds, ids) = (words("kind"), words("optionId"));
    let unique = |words: &[String]| words.iter().collect::<BTreeSet<_>>().len() == options.len();
    let offers = |kind: &str| kinds.iter().any(|offered| offered.starts_with(kind));
    unique(&kinds) && unique(&ids) && offers("allow") && offers("reject")
}

/// Runs a turn of this answer; each question is answered with `option`. The questions, and all that was said.
async fn asked(rig: &Rig, version: Version, option: &str) -> (Vec<Value>, String) {
    let (mut client, session) = rig.session(version).await;
    let id = client.prompt(&session, "go").await;
    let mut asked = Vec::new();
    let answer = async |client: &mut Client, question: Value, params: Value| {
        assert!(is_sound(&params), "{params}");
        asked.push(params);
        client.choose(&question, option).await;
    };
    end(&mut client, &id, answer).await.expect("answered");
    (asked, client.finish().await)
}

#[tokio::test(start_paused = true)]
async fn a_question_about_a_command_shows_all_of_it_under_a_short_title() {
    let command = format!("printf '%s' \"one\"\necho 'two'\necho {}", "three ".repeat(700));
    for version in Version::BOTH {
        let run = vec![Line::call("bash", json!({ "command": command }))];
        let rig = Rig::new(vec![run, vec![Line::say("ok")]]);
        let (asked, transcript) = asked(&rig, version, "reject").await;
        assert_eq!(asked.len(), 1);
        assert_eq!(call(&asked[0])["kind"], "execute");
        let title = call(&asked[0])["title"].as_str().expect("a title");
        assert!(title.starts_with("bash: printf") && title.chars().count() < 300, "{title}");
        assert!(transcript.contains(&json!(command).to_string()), "the whole command");
        let folder = format!("in {}", rig.cwd().display());
        let told = match version {
            Version::V1 => call(&asked[0])["content"][0]["content"]["text"].as_str(),
            Version::V2 => asked[0]["description"].as_str(),
        };
        let told = told.expect("what is asked for");
        assert!(told.starts_with(&command) && told.ends_with(&folder), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_unusual_about_a_call_is_said_beside_what_it_shows() {
    for version in Version::BOTH {
        let write = json!({ "path": ".git/hooks/pre-commit", "content": "echo\n" });
        let long = format!("echo {} > ../elsewhere", "x ".repeat(400));
        let calls = vec![Line::call("write_file", write), Line::call("bash", json!({ "command": long }))];
        let rig = Rig::new(vec![calls, vec![Line::say("ok")]]);
        let (asked, _) = asked(&rig, version, "reject").await;
        for (params, words) in
            asked.iter().zip(["decide what other programs do", "outside the session's folders"])
        {
            assert!(params.to_string().contains(words), "{version:?}: {params}");
        }
        assert_eq!(asked.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_about_files_shows_what_they_will_hold() {
    for version in Version::BOTH {
        let edit = json!({ "path": "old.txt", "old_string": "one", "new_string": "two" });
        let write = json!({ "path": "new.txt", "content": "new\n" });
        let calls = vec![Line::call("edit_file", edit), Line::call("write_file", write)];
        let rig = Rig::new(vec![calls, vec![Line::say("ok")]]);
        rig.file("old.txt", "zero\none\n");
        let (asked, transcript) = asked(&rig, version, "allow").await;
        assert_eq!(asked.len(), 2);
        let files = [("old.txt", json!("zero\none\n"), "zero\ntwo\n"), ("new.txt", Value::Null, "new\n")];
        for ((name, before, after), params) in files.into_iter().zip(&asked) {
            assert_eq!(rig.read(name), after);
            let path = rig.cwd().join(name).display().to_string();
            assert!(transcript.contains(&json!(path).to_string()), "{path}");
            if version == Version::V1 {
                let content = call(params)["content"].as_array().expect("content");
                let diff = content.iter().find(|part| part["type"] == "diff").expect("a diff");
                let expected = (&json!(path), &before, &json!(after));
                assert_eq!((&diff["path"], &diff["oldText"], &diff["newText"]), expected);
                assert_eq!(call(params)["locations"][0]["path"], path);
            }
        }
    }
}
