//! Conversations that outgrow the window and are summarised.

use std::path::PathBuf;
use std::sync::Arc;

use session_model::source::SequentialIds;
use session_model::{Content, Entry, Item, MessageId, SessionId, StopReason, TokenUsage, TurnId, text_of};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use super::rig::event_line;
use super::trouble::too_long;
use crate::agent::{Agent, Summaries};
use crate::driver::{Permissions, TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::io::{TurnIo, TurnSignal};
use crate::provider::{ModelMessage, ModelRequest};
use crate::scripted::{Line, Scripted};
use crate::tools::registry::ToolRegistry;

/// A window of 4,000 tokens leaves 9,000 bytes, less than a kilobyte of them for the system prompt.
fn agent(script: Vec<Vec<Line>>) -> (Agent, Arc<Scripted>) {
    agent_with(script, Summaries::default())
}

fn agent_with(script: Vec<Vec<Line>>, summaries: Summaries) -> (Agent, Arc<Scripted>) {
    let model = Arc::new(Scripted::new(script).with_context_window(4_000));
    let provider = Arc::<Scripted>::clone(&model);
    let agent = Agent::new(provider, ToolRegistry::new(), Arc::new(SequentialIds::default()));
    (agent.with_summaries(summaries), model)
}

/// So many turns of about two kilobytes each.
fn history(turns: usize) -> Vec<Entry> {
    let turn = |n: usize| {
        let items = [
            Item::User {
                id: MessageId::from("u"),
                content: vec![Content::text(format!("ask {n}"))],
                key: None,
            },
            Item::Agent {
                id: MessageId::from("a"),
                step: 0,
                text: format!("answer {n} {}", "x".repeat(2_000)),
            },
            Item::TurnEnd { stop: StopReason::EndTurn, error: None, route: None },
        ];
        items.map(|item| Entry { turn: TurnId::from(format!("t{n}")), at: OffsetDateTime::UNIX_EPOCH, item })
    };
    (0..turns).flat_map(turn).collect()
}

async fn drive(agent: &Agent, history: Vec<Entry>) -> (Vec<String>, Result<TurnEnd, TurnError>) {
    let (io, mut signals) = TurnIo::channel(CancellationToken::new());
    let input = TurnInput {
        session: SessionId::from("s"),
        turn: TurnId::from("now"),
        prompt: vec![Content::text("go")],
        cwd: PathBuf::from("/work"),
        additional_roots: Vec::new(),
        history: history.into(),
        permissions: Permissions::default(),
        show_thoughts: true,
    };
    let listen = async {
        let mut log = Vec::new();
        while let Some(signal) = signals.recv().await {
            let TurnSignal::Event(event) = signal else { panic!("{signal:?}") };
            log.push(event_line(&event));
        }
        log
    };
    let (end, log) = tokio::join!(agent.drive(input, io), listen);
    (log.into_iter().filter(|line| !line.starts_with("usage")).collect(), end)
}

fn first(request: &ModelRequest) -> String {
    crate::context::check(&request.messages).unwrap();
    let ModelMessage::User(content) = &request.messages[0] else { panic!("{request:?}") };
    text_of(content)
}

#[tokio::test(start_paused = true)]
async fn turns_that_outgrow_the_window_are_summarised_once_and_silently() {
    let usage = TokenUsage { input: 7, cached: 0, output: 3, thought: 0 };
    let (agent, model) = agent(vec![
        vec![Line::think("hm"), Line::say("decided on nom"), Line::Usage(usage)],
        vec![Line::say("one")],
        vec![Line::say("two")],
    ]);
    let (log, end) = drive(&agent, history(6)).await;
    assert_eq!(log, ["notice Info: The 4 oldest turns were summarised to make room.", "agent msg-2: one"]);
    assert_eq!(end.unwrap().usage, Some(usage));
    let requests = model.requests();
    assert!(requests[0].system.starts_with("You summarise") && requests[0].tools.is_empty());
    assert!(first(&requests[0]).starts_with("USER: ask 0\n\nAGENT: answer 0"));
    assert!(
        first(&requests[1]).contains("The task: ask 0") && first(&requests[1]).contains("decided on nom")
    );
    // The next turn begins with the same words, and asks for no summary.
    let (log, _) = drive(&agent, history(7)).await;
    assert_eq!(log, ["agent msg-3: two"]);
    let requests = model.requests();
    assert_eq!(requests[1].messages[..2], requests[2].messages[..2]);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_cannot_be_had_leaves_the_recap() {
    for failing in [vec![Line::Fail(too_long())], vec![Line::say("half"), Line::Cut], vec![Line::say(" ")]] {
        let (agent, model) = agent(vec![failing, vec![Line::say("ok")]]);
        let (log, end) = drive(&agent, history(6)).await;
        assert_eq!(log, ["agent msg-1: ok"]);
        assert!(end.is_ok());
        let told = first(&model.requests()[1]);
        assert!(told.contains("The task: ask 0") && !told.contains("Summary:"), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_too_long_leads_to_one_summary_and_one_more_try() {
    let (agent, model) =
        agent(vec![vec![Line::Fail(too_long())], vec![Line::say("decided on nom")], vec![Line::say("ok")]]);
    let (log, end) = drive(&agent, history(3)).await;
    assert!(end.is_ok(), "{end:?} {log:?}");
    assert!(first(&model.requests()[2]).contains("decided on nom"));
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_user_can_have_all_but_the_newest_turn_summarised() {
    let summaries = Summaries::default();
    let script = vec![vec![Line::say("in short")], vec![Line::say("one")], vec![Line::say("two")]];
    let (agent, model) = agent_with(script, summaries.clone());
    summaries.wish(&SessionId::from("s"), " mind the tests ");
    let (log, _) = drive(&agent, history(3)).await;
    assert_eq!(log, ["notice Info: The 2 oldest turns were summarised to make room.", "agent msg-2: one"]);
    assert!(first(&model.requests()[0]).ends_with("mind: mind the tests"));
    assert_eq!(model.requests()[1].messages.len(), 3);
    drive(&agent, history(3)).await.1.unwrap();
    assert_eq!(model.requests()[2].messages, model.requests()[1].messages, "the wish is granted once");
    let (rebuilt, model) = agent_with(vec![vec![Line::say("three")]], summaries);
    drive(&rebuilt, history(3)).await.1.unwrap();
    assert!(first(&model.requests()[0]).contains("in short"), "an agent built anew goes on with it");
}

#[tokio::test(start_paused = true)]
async fn an_agent_summarises_nothing_unless_it_is_told_to() {
    let model = Arc::new(Scripted::new(vec![vec![Line::say("ok")]]).with_context_window(4_000));
    let provider = Arc::<Scripted>::clone(&model);
    let agent = Agent::new(provider, ToolRegistry::new(), Arc::new(SequentialIds::default()));
    drive(&agent, history(6)).await.1.unwrap();
    assert_eq!(model.requests().len(), 1);
}
