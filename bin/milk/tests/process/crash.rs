//! Killed in the middle: whatever was shown as done is there afterwards, once and under the same ids.
//!
//! `MILK_TEST_KILLS` is how many kills at random moments there are (else 20), `MILK_TEST_SEED` where they begin (else
//! 1): run number n of a seed is the first of seed + n.

use std::time::Duration;

use milk_tests::mock_openai::{DONE, Gate, MockOpenAi, Reply, call_chunk, event, finish_chunk, text_chunk};
use milk_tests::schema::Version;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::program::{Home, Program, asked, in_time, model};
use crate::random::{Random, setting};
use crate::talk::{Item, Talk, connect, items};

const PROMPT: &str = "What does the answer say? ä€😀";

/// When the program is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// The model holds its reply of this number before the piece of this number.
    Model(usize, usize),
    /// The tool's permission is asked for.
    Permission,
    /// The tool runs and wrote something.
    Running,
    /// The prompt is answered.
    Answered,
}

/// The pieces of the three replies of a whole turn: text and a call, text and a call, text.
const TEXTS: [[&str; 2]; 3] = [["Let me", " look."], ["Now the", " file."], ["It says", " forty-two."]];

const MOMENTS: [Moment; 20] = [
    Moment::Model(0, 0),
    Moment::Model(0, 1),
    Moment::Model(0, 2),
    Moment::Model(0, 3),
    Moment::Model(0, 4),
    Moment::Permission,
    Moment::Running,
    Moment::Model(1, 0),
    Moment::Model(1, 1),
    Moment::Model(1, 2),
    Moment::Model(1, 3),
    Moment::Model(1, 4),
    Moment::Model(1, 5),
    Moment::Model(2, 0),
    Moment::Model(2, 1),
    Moment::Model(2, 2),
    Moment::Model(2, 3),
    Moment::Model(2, 4),
    Moment::Answered,
    Moment::Model(0, 5),
];

fn replies(moment: Moment) -> Vec<Reply> {
    let command = match moment {
        Moment::Running => "echo pid=$$; exec sleep 600",
        Moment::Model(..) | Moment::Permission | Moment::Answered => "echo found it",
    };
    let calls = [
        Some(("bash", json!({ "command": command }))),
        Some(("read_file", json!({ "path": "answer.txt" }))),
        None,
    ];
    let reply = |(number, call): (usize, &Option<(&str, Value)>)| {
        let mut pieces: Vec<String> = TEXTS[number].iter().map(|text| event(&text_chunk(text))).collect();
        let reason = if let Some((name, arguments)) = call {
            pieces.push(event(&call_chunk(0, &format!("call_{number}"), name, &arguments.to_string())));
            "tool_calls"
        } else {
            "stop"
        };
        pieces.extend([event(&finish_chunk(reason)), DONE.to_owned()]);
        let reply = Reply::pieces(pieces);
        match moment {
            Moment::Model(held, piece) if held == number => reply.gate(piece, &Gate::default()),
            Moment::Model(..) | Moment::Permission | Moment::Running | Moment::Answered => reply,
        }
    };
    calls.iter().enumerate().map(reply).collect()
}

/// Plays the turn up to the moment; the tool's process where one is left running.
async fn play(talk: &mut Talk, model: &MockOpenAi, moment: Moment) -> Option<i32> {
    let id = talk.client.prompt(&talk.session, PROMPT).await;
    match moment {
        Moment::Model(reply, piece) => {
            if reply > 0 {
                talk.allow().await;
            }
            in_time(asked(model, reply + 1)).await;
            // The model may hear of a tool's end before the client does; what counts is what the client was told.
            talk.see(|seen| completed(&items(seen)) >= reply).await;
            if piece > 0 {
                talk.see_text(TEXTS[reply][usize::from(piece > 1)]).await;
            }
            None
        }
        Moment::Permission => {
            let request = in_time(talk.client.request("session/request_permission")).await;
            assert_ne!(request.0, Value::Null);
            None
        }
        Moment::Running => {
            talk.allow().await;
            Some(talk.tool_pid().await)
        }
        Moment::Answered => {
            talk.allow().await;
            in_time(talk.client.response(&id)).await.expect("answered");
            None
        }
    }
}

fn completed(items: &[Item]) -> usize {
    items.iter().filter(|item| item.status == "completed").count()
}

/// How many tools the client has seen end at this moment, at least.
fn finished_tools(moment: Moment) -> usize {
    match moment {
        Moment::Model(reply, _) => reply,
        Moment::Permission | Moment::Running => 0,
        Moment::Answered => TEXTS.len() - 1,
    }
}

/// What was seen before the crash against what is told afterwards; these prompts were sent, and the last was answered
/// or not.
fn compare(live: &[Item], told: &[Item], (prompts, is_answered): (&[String], bool), context: &str) {
    let users: Vec<&str> = told.iter().filter(|i| i.role == "user").map(|item| &*item.text).collect();
    assert_eq!(users, prompts[..users.len().min(prompts.len())], "{context}");
    let acknowledged = prompts.len() - usize::from(!is_answered);
    assert!(users.len() >= acknowledged, "an answered prompt is lost\n{context}");
    let mut ids: Vec<&str> = told.iter().map(|item| &*item.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), told.len(), "something is told twice\n{context}");
    let mut at = 0;
    for (number, item) in live.iter().enumerate() {
        let is_finished = match item.role {
            "tool" => item.is_final(),
            _ => item.role == "user" || is_answered || number + 1 < live.len(),
        };
        let place = told.iter().position(|other| other.id == item.id);
        if is_finished {
            let place = place.unwrap_or_else(|| panic!("{item:?} is lost\n{context}"));
            assert_eq!(&told[place], item, "{context}");
        }
        if let Some(place) = place {
            assert!(place >= at, "{item:?} is told out of order\n{context}");
            at = place;
        }
    }
    for item in told {
        match item.role {
            "tool" => assert!(item.is_final(), "{item:?} is left open\n{context}"),
            "agent" => {
                let whole = TEXTS.iter().any(|text| text.concat().starts_with(&*item.text));
                assert!(whole && !item.text.is_empty(), "{item:?} was never said\n{context}");
            }
            _ => {}
        }
    }
}

async fn survives(version: Version, moment: Moment) {
    let first = model().await;
    first.script(replies(moment));
    let home = Home::with(&first);
    let (program, mut talk) = Talk::start(&home, version).await;
    let left_running = play(&mut talk, &first, moment).await;
    program.kill().await;
    #[cfg(unix)]
    if let Some(pid) = left_running {
        crate::pids::gone(pid).await;
    }
    #[cfg(not(unix))]
    let _ = left_running;
    talk.client.settle().await;
    talk.collect();
    let live = items(&talk.seen);

    let second = model().await;
    second.reply(Reply::say(&["Welcome", " back."]));
    home.use_model(&second);
    let (program, again) = find_again(&home, &talk).await;
    let before = items(&again.seen);
    let context = format!("{version:?} {moment:?}\nseen {live:#?}\ntold {before:#?}");
    compare(&live, &before, (&[PROMPT.to_owned()], matches!(moment, Moment::Answered)), &context);
    assert!(
        before.iter().any(|item| item.role == "user"),
        "the model was asked before the prompt was kept\n{context}"
    );
    assert!(completed(&live) >= finished_tools(moment), "the moment came too early\n{context}");
    assert!(completed(&before) >= finished_tools(moment), "a finished tool is lost\n{context}");

    let heard = goes_on(&home, (program, again), &second, &context).await;
    assert!(heard.contains(PROMPT), "{context}\n{heard}");
}

/// The conversation goes on after the crash, and is told again as before with what was added; what the model heard.
async fn goes_on(
    home: &Home,
    (program, mut again): (Program, Talk),
    model: &MockOpenAi,
    context: &str,
) -> String {
    let before = items(&again.seen);
    again.ask("And now?").await;
    let heard = model.chats().pop().expect("the model was asked").body["messages"].to_string();
    assert!(heard.contains("And now?"), "{context}\n{heard}");
    again.replay(home).await.expect("it is told again");
    let after = items(&again.seen);
    assert_eq!(after[..before.len()], before[..], "{context}");
    let rest: Vec<(&str, &str)> = after[before.len()..].iter().map(|item| (item.role, &*item.text)).collect();
    assert_eq!(rest, [("user", "And now?"), ("agent", "Welcome back.")], "{context}");
    in_time(again.client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0), "{context}");
    assert_eq!(home.integrity(), "ok", "{context}");
    heard
}

/// Starts the program again, finds the session in the list and has it told.
async fn find_again(home: &Home, talk: &Talk) -> (Program, Talk) {
    let (program, mut client) = connect(home, talk.client.version()).await;
    let list = in_time(client.call("session/list", json!({ "cwd": home.work() }))).await.expect("listed");
    let listed: Vec<&Value> = list["sessions"].as_array().expect("a list").iter().collect();
    assert_eq!(listed.len(), 1, "{list}");
    assert_eq!(listed[0]["sessionId"], talk.session);
    let mut again = Talk { client, session: talk.session.clone(), seen: Vec::new(), rest: Vec::new() };
    again.replay(home).await.expect("it opens");
    (program, again)
}

#[tokio::test]
async fn a_killed_version_1_turn_is_found_again_at_every_moment() {
    for moment in MOMENTS {
        survives(Version::V1, moment).await;
    }
}

#[tokio::test]
async fn a_killed_version_2_turn_is_found_again_at_every_moment() {
    for moment in MOMENTS {
        survives(Version::V2, moment).await;
    }
}

/// How many prompts a conversation has that is killed at a random moment.
const PROMPTS: usize = 3;

/// A conversation up to where it was killed.
#[derive(Debug, Default)]
struct Conversation {
    sent: Vec<String>,
    answered: usize,
}

/// Plays the whole conversation, or as far as it is let.
async fn converse(talk: &mut Talk, so_far: &mut Conversation) {
    for number in 0..PROMPTS {
        let prompt = format!("{PROMPT} ({number})");
        so_far.sent.push(prompt.clone());
        let id = talk.client.prompt(&talk.session, &prompt).await;
        talk.allow().await;
        in_time(talk.client.response(&id)).await.expect("answered");
        so_far.answered += 1;
    }
}

async fn scene(version: Version) -> (MockOpenAi, Home, Program, Talk) {
    let model = model().await;
    model.script((0..PROMPTS).flat_map(|_| replies(Moment::Answered)));
    let home = Home::with(&model);
    let (program, talk) = Talk::start(&home, version).await;
    (model, home, program, talk)
}

/// How long a whole conversation takes here.
async fn length(version: Version) -> Duration {
    let (_model, _home, program, mut talk) = scene(version).await;
    let began = Instant::now();
    converse(&mut talk, &mut Conversation::default()).await;
    let took = began.elapsed();
    in_time(talk.client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0));
    took
}

/// Kills it at a random moment; how many prompts were answered by then, and how many items told.
async fn survives_at_random(version: Version, seed: u64, length: Duration) -> (usize, usize) {
    let mut random = Random::new(seed);
    // A little longer than it usually takes: the moment just after the end counts as well.
    let moment = length.mul_f64(random.fraction() * 1.1);
    let (_model, home, program, mut talk) = scene(version).await;
    let mut so_far = Conversation::default();
    // Real time, for the moment of a crash is no event of ours.
    let ended = timeout(moment, converse(&mut talk, &mut so_far)).await;
    program.kill().await;
    talk.client.settle().await;
    talk.collect();
    let live = items(&talk.seen);
    let Conversation { sent, mut answered } = so_far;
    // Its answer may have come with the last lines read.
    answered += usize::from(ended.is_err() && talk.answers_left() > 0);

    let second = model().await;
    second.reply(Reply::say(&["Welcome", " back."]));
    home.use_model(&second);
    let (program, again) = find_again(&home, &talk).await;
    let before = items(&again.seen);
    let context = format!("{version:?} seed {seed} at {moment:?}\nseen {live:#?}\ntold {before:#?}");
    assert_eq!(home.integrity(), "ok", "{context}");
    compare(&live, &before, (&sent, answered == sent.len()), &context);
    let heard = goes_on(&home, (program, again), &second, &context).await;
    let kept = before.iter().filter(|item| item.role == "user").map(|item| &item.text);
    for prompt in kept {
        assert!(heard.contains(prompt), "{context}\n{heard}");
    }
    (answered, before.len())
}

#[tokio::test]
async fn a_conversation_killed_at_random_moments_is_found_again() {
    let (runs, seed) = (setting("MILK_TEST_KILLS", 20), setting("MILK_TEST_SEED", 1));
    let lengths = [length(Version::V1).await, length(Version::V2).await];
    let mut by_answered = [0_usize; PROMPTS + 1];
    let mut told = 0;
    for run in 0..runs {
        let which = usize::from(run % 2 == 1);
        let (answered, items) = survives_at_random(Version::BOTH[which], seed + run, lengths[which]).await;
        by_answered[answered] += 1;
        told += items;
    }
    println!(
        "{runs} kills from seed {seed}; a conversation takes {lengths:?}; killed after 0, 1, … answers: {by_answered:?}; {told} items told afterwards"
    );
}
