//! Two agents: who answers, what is said of it, and what holds for the next prompt.

use agent_runtime::provider::ProviderError;
use agent_runtime::scripted::{Latch, Line, Scripted};
use insta::assert_snapshot;
use milk_acp::drivers::Routing;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::TokenUsage;

/// Every prompt is the rules' to decide, however short.
fn unshort(mut routing: Routing) -> Routing {
    routing.rules.local_below_tokens = 0;
    routing
}

fn say(text: &str) -> Vec<Line> {
    vec![Line::say(text)]
}

fn unreachable(agent: &str) -> Vec<Line> {
    let (url, reason) = ("http://127.0.0.1:1".to_owned(), "refused".to_owned());
    vec![Line::Fail(ProviderError::Unreachable { agent: agent.to_owned(), url, reason })]
}

async fn ask(client: &mut Client, session: &str, prompt: &str) -> Value {
    let id = client.prompt(session, prompt).await;
    client.response(&id).await.expect("answered")
}

async fn set_routing(client: &mut Client, session: &str, value: &str) -> Value {
    let mut params = json!({ "sessionId": session, "configId": "routing", "value": value });
    if client.version() == Version::V2 {
        params["type"] = json!("id");
    }
    client.call("session/set_config_option", params).await.expect("set")
}

/// What `routing` is among these options.
fn routing_of(options: &Value) -> Option<String> {
    let options = options["configOptions"].as_array()?;
    let routing =
        options.iter().find(|option| option["id"] == "routing" || option["configId"] == "routing")?;
    routing["currentValue"].as_str().map(str::to_owned)
}

/// The conversation in short: prompts, routes, text, notices, options, ends.
fn told(transcript: &str) -> String {
    let lines = transcript.lines().filter_map(|line| {
        let (from, json) = line.split_once(' ')?;
        let line: Value = serde_json::from_str(json).ok()?;
        let params = &line["params"];
        if from == "→" {
            return match line["method"].as_str()? {
                "session/prompt" => Some(format!("> {}", params["prompt"][0]["text"].as_str()?)),
                "session/set_config_option" => Some(format!("> routing={}", params["value"].as_str()?)),
                "session/cancel" => Some("> cancel".to_owned()),
                _ => None,
            };
        }
        if line["method"] == "_milk/route" {
            return Some(format!(
                "route {}/{}: {}",
                params["agent"].as_str()?,
                params["target"].as_str()?,
                params["reason"].as_str()?
            ));
        }
        let update = &params["update"];
        match update["sessionUpdate"].as_str() {
            Some(kind @ ("agent_message_chunk" | "agent_message")) => {
                let text =
                    update["content"]["text"].as_str().or_else(|| update["content"][0]["text"].as_str())?;
                Some(format!("{kind}: {}", text.trim_end()))
            }
            Some("notice") => Some(format!("notice: {}", update["title"].as_str()?)),
            Some("config_option_update") => Some(format!("routing is {}", routing_of(update)?)),
            Some("tool_call") => Some(format!("row: {}", update["title"].as_str()?)),
            Some("tool_call_update") => Some(format!(
                "row: {} {}",
                update["title"].as_str().unwrap_or("…"),
                update["status"].as_str()?
            )),
            Some("state_update") if update["state"] == "idle" => {
                let route = &update["_meta"]["milk/route"];
                Some(format!(
                    "idle {} {}",
                    update["stopReason"].as_str()?,
                    route["target"].as_str().unwrap_or("-")
                ))
            }
            _ => line["result"]["stopReason"].as_str().map(|stop| format!("answer {stop}")).or_else(|| {
                Some(format!("error {}: {}", line["error"]["code"], line["error"]["message"].as_str()?))
            }),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs `script` in both versions and holds what was told against its snapshot.
macro_rules! in_both {
    ($name:literal, $rig:expr, $script:expr) => {
        for version in Version::BOTH {
            let rig: Rig = $rig;
            let (client, session) = rig.session(version).await;
            let client: Client = $script(&rig, client, session).await;
            let transcript = client.finish().await;
            assert_snapshot!(format!("{}_v{}", $name, version.number()), told(&transcript));
        }
    };
}

/// What the model was sent last, as text.
fn heard(model: &Scripted) -> String {
    format!("{:?}", model.requests().pop().expect("asked").messages)
}

#[tokio::test(start_paused = true)]
async fn pins_hold_until_another_one_and_the_option_follows() {
    let rig =
        || Rig::pair(vec![say("s1"), say("s2"), say("s3")], vec![say("b1"), say("b2")], |routing| routing);
    in_both!("pins", rig(), async |rig: &Rig, mut client: Client, session: String| {
        for prompt in
            ["one", "/escalate", "two", "three", "/primary", "refactor entire crate", "/auto", "four"]
        {
            ask(&mut client, &session, prompt).await;
        }
        assert_eq!((rig.model.remaining(), rig.relief.remaining()), (0, 0));
        client
    });
}

#[tokio::test(start_paused = true)]
async fn one_message_goes_to_one_agent_and_leaves_nothing_behind() {
    let rig = || Rig::pair(vec![say("s1"), say("s2")], vec![say("b1"), say("b2")], |routing| routing);
    in_both!("once", rig(), async |rig: &Rig, mut client: Client, session: String| {
        ask(&mut client, &session, "/escalate look into it").await;
        assert!(!heard(&rig.relief).contains("/escalate"), "the command is milk's");
        ask(&mut client, &session, "go on").await;
        assert!(!heard(&rig.model).contains("/escalate"), "nor does the history have it");
        ask(&mut client, &session, "/escalate").await;
        ask(&mut client, &session, "/primary a small thing").await;
        ask(&mut client, &session, "/escalate another").await;
        client
    });
}

#[tokio::test(start_paused = true)]
async fn what_the_rules_escalated_stays_escalated_until_the_user_says_otherwise() {
    let rig = || Rig::pair(vec![say("s1"), say("s2")], vec![say("b1"), say("b2")], |routing| routing);
    in_both!("sticky", rig(), async |_: &Rig, mut client: Client, session: String| {
        ask(&mut client, &session, "list the files").await;
        ask(&mut client, &session, "refactor entire crate").await;
        ask(&mut client, &session, "go on").await;
        let answer = set_routing(&mut client, &session, "auto").await;
        assert_eq!(routing_of(&answer).as_deref(), Some("auto"));
        ask(&mut client, &session, "go on").await;
        client
    });
}

#[tokio::test(start_paused = true)]
async fn without_stickiness_the_rules_decide_each_time() {
    for version in Version::BOTH {
        let unsticky = |routing| Routing { sticky: false, ..routing };
        let rig = Rig::pair(vec![say("s1")], vec![say("b1")], unsticky);
        let (mut client, session) = rig.session(version).await;
        ask(&mut client, &session, "refactor entire crate").await;
        ask(&mut client, &session, "thanks").await;
        assert_eq!((rig.model.remaining(), rig.relief.remaining()), (0, 0));
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_primary_cannot_be_asked_the_other_answers_and_it_is_said_once() {
    let rig = || {
        Rig::pair(
            vec![unreachable("small"), unreachable("small"), say("s1"), unreachable("small")],
            vec![say("b1"), say("b2"), say("b3")],
            |routing| routing,
        )
    };
    in_both!("fallback_up", rig(), async |rig: &Rig, mut client: Client, session: String| {
        for prompt in ["one", "two", "three", "four"] {
            ask(&mut client, &session, prompt).await;
        }
        assert_eq!(rig.relief.remaining(), 0);
        client
    });
}

#[tokio::test(start_paused = true)]
async fn when_the_escalation_agent_cannot_be_asked_the_primary_answers() {
    let unauthorized = || {
        let url = "http://127.0.0.1:1".to_owned();
        vec![Line::Fail(ProviderError::Unauthorized { agent: "big".to_owned(), url, status: 401 })]
    };
    let rig =
        || Rig::pair(vec![say("s1"), say("s2")], vec![unauthorized(), unauthorized()], |routing| routing);
    in_both!("fallback_down", rig(), async |_: &Rig, mut client: Client, session: String| {
        ask(&mut client, &session, "/escalate").await;
        ask(&mut client, &session, "one").await;
        ask(&mut client, &session, "two").await;
        client
    });
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_fails_after_it_has_spoken_is_not_replaced() {
    let broken = || {
        let error = ProviderError::Truncated { agent: "small".to_owned(), reason: "gone".to_owned() };
        vec![Line::say("half"), Line::Fail(error)]
    };
    let rig = || Rig::pair(vec![broken()], vec![say("never")], |routing| routing);
    in_both!("no_fallback", rig(), async |rig: &Rig, mut client: Client, session: String| {
        let id = client.prompt(&session, "one").await;
        client.response(&id).await.expect_err("failed");
        assert_eq!(rig.relief.remaining(), 1, "two answers to one question are none");
        client
    });
}

#[tokio::test(start_paused = true)]
async fn when_neither_can_be_asked_the_turn_fails_with_both_causes_told() {
    let rig = || Rig::pair(vec![unreachable("small")], vec![unreachable("big")], |routing| routing);
    in_both!("fallback_none", rig(), async |_: &Rig, mut client: Client, session: String| {
        let id = client.prompt(&session, "one").await;
        client.response(&id).await.expect_err("failed");
        client
    });
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_agent_has_not_failed() {
    for version in Version::BOTH {
        let rig = Rig::pair(vec![vec![Line::Hang]], vec![say("never")], |routing| routing);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "one").await;
        client.notification("_milk/route").await;
        client.cancel(&session).await;
        client.response(&id).await.expect("answered");
        assert_eq!(rig.relief.remaining(), 1);
        client.finish().await;
    }
}

fn escalate(reason: &str) -> Line {
    Line::call("escalate", json!({ "reason": reason }))
}

fn used(input: u64, output: u64) -> Line {
    Line::Usage(TokenUsage { input, output, ..TokenUsage::default() })
}

#[tokio::test(start_paused = true)]
async fn the_primary_hands_over_within_the_turn() {
    let rig = || {
        Rig::pair(
            vec![
                vec![Line::call("read_file", json!({ "path": "a.txt" })), used(10, 1)],
                vec![Line::say("Too deep."), escalate("it needs a design"), used(20, 2)],
                say("s3"),
            ],
            vec![vec![Line::say("Here is one."), used(100, 5)]],
            |routing| Routing { sticky: false, ..routing },
        )
    };
    for version in Version::BOTH {
        let rig = rig();
        rig.file("a.txt", "the secret of a");
        let (mut client, session) = rig.session(version).await;
        let answer = ask(&mut client, &session, "do it").await;
        if version == Version::V1 {
            assert_eq!(
                (&answer["usage"]["inputTokens"], &answer["usage"]["outputTokens"]),
                (&json!(130), &json!(8))
            );
        }
        let brief = heard(&rig.relief);
        for part in ["it needs a design", "the secret of a", "Too deep.", "do it"] {
            assert!(brief.contains(part), "{part}: {brief}");
        }
        ask(&mut client, &session, "thanks").await;
        let after = heard(&rig.model);
        assert!(after.contains("[big as escalation]: Here is one."), "the other's answer is marked: {after}");
        assert_eq!(after.matches("do it").count(), 1, "one turn: {after}");
        let transcript = client.finish().await;
        assert_snapshot!(format!("handover_v{}", version.number()), told(&transcript));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_reaches_whoever_runs() {
    for version in Version::BOTH {
        let latch = Latch::new();
        let big = vec![vec![Line::say("Well"), Line::Wait(latch.clone())]];
        let rig = Rig::pair(vec![vec![escalate("hard")]], big, |routing| routing);
        let (mut client, session) = rig.session(version).await;
        let id = client.prompt(&session, "do it").await;
        latch.reached().await;
        client.cancel(&session).await;
        let answer = client.response(&id).await.expect("answered");
        if version == Version::V1 {
            assert_eq!(answer["stopReason"], "cancelled");
        }
        assert_eq!(rig.relief.streaming(), 0);
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn when_nobody_can_take_over_the_primary_goes_on_itself() {
    let rig = || {
        let small = vec![vec![escalate("hard")], say("my best")];
        Rig::pair(small, vec![unreachable("big")], |routing| routing)
    };
    in_both!("handover_fails", rig(), async |rig: &Rig, mut client: Client, session: String| {
        ask(&mut client, &session, "do it").await;
        assert!(heard(&rig.model).contains("could not be asked"), "{}", heard(&rig.model));
        client
    });
}

#[tokio::test(start_paused = true)]
async fn a_pinned_primary_is_not_relieved() {
    for version in Version::BOTH {
        let question = "why does the build fail on windows?";
        let rig = Rig::pair(vec![say("a"), say("b")], vec![say("never")], |routing| routing);
        let (mut client, session) = rig.session(version).await;
        ask(&mut client, &session, "/primary").await;
        ask(&mut client, &session, question).await;
        ask(&mut client, &session, question).await;
        assert_eq!((rig.model.remaining(), rig.relief.remaining()), (0, 1));
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_the_same_again_is_not_helped_and_gets_the_other_agent() {
    let question = "why does the build fail on windows?";
    let rig = || {
        let failed =
            ProviderError::Status { agent: "small".to_owned(), status: 500, message: "x".to_owned() };
        let broken = vec![Line::say("hm"), Line::Fail(failed)];
        Rig::pair(vec![broken, say("s1"), say("s2")], vec![say("b1")], |routing| Routing {
            sticky: false,
            ..routing
        })
    };
    in_both!("repeated", rig(), async |_: &Rig, mut client: Client, session: String| {
        let id = client.prompt(&session, question).await;
        client.response(&id).await.expect_err("failed");
        // That was no answer, so this is no repetition; the next one is.
        ask(&mut client, &session, question).await;
        ask(&mut client, &session, question).await;
        // Who asks for the primary begins anew.
        ask(&mut client, &session, "/primary").await;
        ask(&mut client, &session, "/auto").await;
        ask(&mut client, &session, question).await;
        client
    });
}

#[tokio::test(start_paused = true)]
async fn a_choice_made_during_a_turn_is_shown_at_once_and_holds_from_its_end() {
    for version in Version::BOTH {
        let latch = Latch::new();
        let big = vec![vec![Line::say("b1"), Line::Wait(latch.clone())]];
        let rig = Rig::pair(vec![say("s1")], big, |routing| routing);
        let (mut client, session) = rig.session(version).await;
        let first = client.prompt(&session, "refactor entire crate").await;
        latch.reached().await;
        let answer = set_routing(&mut client, &session, "primary").await;
        assert_eq!(routing_of(&answer).as_deref(), Some("primary"), "shown at once");
        let second = client.prompt(&session, "and then").await;
        latch.open();
        client.response(&first).await.expect("answered");
        client.response(&second).await.expect("answered");
        assert_eq!((rig.model.remaining(), rig.relief.remaining()), (0, 0));
        let transcript = client.finish().await;
        assert!(!told(&transcript).contains("routing is"), "the setter has its answer");
        assert_snapshot!(format!("queued_v{}", version.number()), told(&transcript));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_asks_back_gets_the_answer_also_after_a_restart() {
    for version in Version::BOTH {
        let unsticky = |routing| Routing { sticky: false, ..routing };
        let rig = Rig::pair(vec![say("s1")], vec![say("Which one?"), say("Done.")], unsticky);
        let (mut client, session) = rig.session(version).await;
        ask(&mut client, &session, "/escalate choose").await;
        client.finish().await;
        let mut client = rig.connect(version).await;
        let params = json!({ "sessionId": session, "cwd": rig.cwd(), "mcpServers": [] });
        client.call("session/resume", params).await.expect("opened");
        ask(&mut client, &session, "the left one").await;
        ask(&mut client, &session, "thanks").await;
        let transcript = client.finish().await;
        assert_snapshot!(format!("waiting_v{}", version.number()), told(&transcript));
    }
}

#[tokio::test(start_paused = true)]
async fn pins_belong_to_the_view_and_survive_another_session() {
    for version in Version::BOTH {
        let rig = Rig::pair(vec![], vec![say("b1")], |routing| routing);
        let (mut client, session) = rig.session(version).await;
        ask(&mut client, &session, "/escalate").await;
        ask(&mut client, &session, "/new").await;
        ask(&mut client, &session, "hello").await;
        assert_eq!(rig.relief.remaining(), 0);
        client.finish().await;
        let mut client = rig.connect(version).await;
        let opened = client.call("session/new", json!({ "cwd": rig.cwd(), "mcpServers": [] })).await;
        assert_eq!(routing_of(&opened.expect("opened")).as_deref(), Some("auto"), "and are kept nowhere");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_begins_anew_is_told_only_what_was_since() {
    for version in Version::BOTH {
        let rig = Rig::pair(vec![say("s1")], vec![say("b1"), say("b2")], |routing| routing);
        let (mut client, session) = rig.session(version).await;
        ask(&mut client, &session, "/escalate the first matter").await;
        ask(&mut client, &session, "a small thing").await;
        ask(&mut client, &session, "/escalate fresh the second matter").await;
        let requests = rig.relief.requests();
        let last = &requests.last().expect("asked").messages;
        let text = format!("{last:?}");
        assert!(text.contains("What you did here before") && text.contains("a small thing"), "{text}");
        assert_eq!(last.len(), 3, "the primary's turn, and the prompt: {text}");
        client.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn paths_are_looked_for_in_the_sessions_folder_and_under_home() {
    for (prompt, local) in
        [("fix src/a.rs", true), ("fix ~/notes.md", true), ("fix src/b.rs", false), ("fix ~/other.md", false)]
    {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::write(home.path().join("notes.md"), "").expect("written");
        let rig = Rig::pair(vec![say("s1")], vec![say("b1")], |routing| {
            let mut routing = Routing { home: Some(home.path().to_owned()), ..unshort(routing) };
            routing.rules.classifier_fallback = router::Fallback::Escalation;
            routing
        });
        std::fs::create_dir(rig.dir.path().join("src")).expect("made");
        rig.file("src/a.rs", "");
        let (mut client, session) = rig.session(Version::V2).await;
        ask(&mut client, &session, prompt).await;
        assert_eq!(rig.model.remaining() == 0, local, "{prompt}");
        client.finish().await;
    }
}
