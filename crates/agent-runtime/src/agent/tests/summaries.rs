//! Conversations that outgrow the window and are summarised.

use std::path::PathBuf;
use std::sync::Arc;

use session_model::source::SequentialIds;
use session_model::{
    Compaction, CompactionState, Content, Entry, Event, Item, MessageId, SessionId, StopReason, Summary,
    TokenUsage, TurnId, text_of,
};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use super::rig::event_line;
use super::trouble::too_long;
use crate::agent::{Agent, Limits};
use crate::calls::RunningCalls;
use crate::driver::{Compacted, Permissions, TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::host::HostFeatures;
use crate::io::{TurnIo, TurnSignal};
use crate::provider::{ModelMessage, ModelRequest};
use crate::scripted::{Line, Scripted};
use crate::tools::registry::ToolRegistry;

/// A window of 4,000 tokens leaves 9,000 bytes, less than a kilobyte of them for the system prompt.
fn agent(script: Vec<Vec<Line>>) -> (Agent, Arc<Scripted>) {
    let model = Arc::new(Scripted::new(script).with_context_window(4_000));
    let provider = Arc::<Scripted>::clone(&model);
    let agent = Agent::new(provider, ToolRegistry::new(), Arc::new(SequentialIds::default()));
    (agent.summarising(), model)
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

fn input(history: Vec<Entry>, prompt: &str) -> TurnInput {
    TurnInput {
        session: SessionId::from("s"),
        turn: TurnId::from("now"),
        prompt: if prompt.is_empty() { Vec::new() } else { vec![Content::text(prompt)] },
        cwd: PathBuf::from("/work"),
        additional_roots: Vec::new(),
        history: history.into(),
        permissions: Permissions::default(),
        show_thoughts: true,
        handover: None,
        effort: None,
        host: HostFeatures::default(),
        calls: RunningCalls::default(),
    }
}

/// What was said while `work` ran, and what came of it.
async fn heard<T>(work: impl AsyncFnOnce(TurnIo) -> T) -> (Vec<String>, Vec<Event>, T) {
    let (io, mut signals) = TurnIo::channel(CancellationToken::new());
    let listen = async {
        let mut events = Vec::new();
        while let Some(signal) = signals.recv().await {
            let TurnSignal::Event(event) = signal else { panic!("{signal:?}") };
            events.push(event);
        }
        events
    };
    let (end, events) = tokio::join!(work(io), listen);
    let lines = events.iter().map(event_line).filter(|line| !line.starts_with("usage")).collect();
    (lines, events, end)
}

async fn drive(agent: &Agent, history: Vec<Entry>) -> (Vec<String>, Vec<Event>, Result<TurnEnd, TurnError>) {
    heard(async |io| agent.drive(input(history, "go"), io).await).await
}

/// `history` with the summary that a turn of these events left.
fn and_summary(mut history: Vec<Entry>, events: &[Event]) -> Vec<Entry> {
    for event in events {
        if let Event::Compaction(Compaction { id, state: CompactionState::Done(summary), .. }) = event {
            let item = Item::Compaction { id: id.clone(), summary: summary.clone() };
            history.push(Entry { turn: TurnId::from("before"), at: OffsetDateTime::UNIX_EPOCH, item });
        }
    }
    history
}

fn first(request: &ModelRequest) -> String {
    crate::context::check(&request.messages).unwrap();
    let ModelMessage::User(content) = &request.messages[0] else { panic!("{request:?}") };
    text_of(content)
}

#[tokio::test(start_paused = true)]
async fn turns_that_outgrow_the_window_are_summarised_once_and_later_turns_begin_alike() {
    let usage = TokenUsage { input: 7, cached: 0, output: 3, thought: 0, written: 0 };
    let (first_agent, model) = agent(vec![
        vec![Line::think("hm"), Line::say("decided on nom"), Line::Usage(usage)],
        vec![Line::say("one")],
    ]);
    let (log, events, end) = drive(&first_agent, history(6)).await;
    assert_eq!(
        log,
        [
            "compaction-1 begins",
            "spent 10 of scripted",
            "compaction-1 of 4 turns to t3: decided on nom",
            "agent msg-2: one"
        ]
    );
    assert_eq!(end.unwrap().usage, Some(usage));
    let requests = model.requests();
    assert!(requests[0].system.starts_with("You summarise") && requests[0].tools.is_empty());
    assert!(first(&requests[0]).starts_with("USER: ask 0\n\nAGENT: answer 0"));
    assert!(
        first(&requests[1]).contains("The task: ask 0") && first(&requests[1]).contains("decided on nom")
    );
    // An agent that knows nothing but the history begins with the same words, and asks for no summary.
    let (second_agent, later) = agent(vec![vec![Line::say("two")]]);
    let (log, ..) = drive(&second_agent, and_summary(history(7), &events)).await;
    assert_eq!(log, ["agent msg-1: two"]);
    assert_eq!(requests[1].messages[..2], later.requests()[0].messages[..2]);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_cannot_be_had_leaves_the_recap_and_is_not_asked_for_again_and_again() {
    let table = [
        (vec![Line::Fail(too_long())], "scripted: the server answered HTTP 400: "),
        (vec![Line::say("half"), Line::Cut], "scripted: the answer broke off: "),
        (vec![Line::say(" ")], "the model wrote no summary"),
    ];
    for (failing, why) in table {
        let (agent, model) = agent(vec![failing, vec![Line::say("ok")], vec![Line::say("again")]]);
        let (log, _, end) = drive(&agent, history(6)).await;
        let [begins, failed, said] = log.as_slice() else { panic!("{log:?}") };
        assert_eq!((begins.as_str(), said.as_str()), ("compaction-1 begins", "agent msg-2: ok"));
        assert!(failed.starts_with(&format!("compaction-1 failed: {why}")), "{failed}");
        assert!(end.is_ok());
        let told = first(&model.requests()[1]);
        assert!(told.contains("The task: ask 0") && !told.contains("Summary:"), "{told}");
        let (log, ..) = drive(&agent, history(6)).await;
        assert_eq!(log, ["agent msg-3: again"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_come_to_an_end_is_not_heard_out() {
    let rambling = vec!["We decided on nom. "; 1_000];
    let (agent, model) = agent(vec![vec![Line::pieces(&rambling), Line::Hang], vec![Line::say("ok")]]);
    let (log, events, end) = drive(&agent, history(6)).await;
    assert!(end.is_ok() && log.len() == 3, "{log:?}");
    let told = &first(&model.requests()[0]);
    assert!(told.ends_with("\n\nSummarise this in at most 180 words."), "{}", &told[told.len() - 60..]);
    let entries = and_summary(Vec::new(), &events);
    let [Entry { item: Item::Compaction { summary: Summary { text, .. }, .. }, .. }] = entries.as_slice()
    else {
        panic!("{entries:?}")
    };
    assert!(text.ends_with("We decided on nom.") && (1_300..=1_500).contains(&text.len()), "{}", text.len());
}

#[tokio::test(start_paused = true)]
async fn a_model_that_only_thinks_has_written_no_summary() {
    let thinking = vec![Line::think("but then again, "); 1_000];
    let script = [thinking, vec![Line::Hang]].concat();
    let (agent, _) = agent(vec![script, vec![Line::say("ok")]]);
    let (log, ..) = drive(&agent, history(6)).await;
    assert_eq!(
        log,
        ["compaction-1 begins", "compaction-1 failed: the model wrote no summary", "agent msg-2: ok"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_too_long_leads_to_one_summary_and_one_more_try() {
    let (agent, model) =
        agent(vec![vec![Line::Fail(too_long())], vec![Line::say("decided on nom")], vec![Line::say("ok")]]);
    let (log, _, end) = drive(&agent, history(3)).await;
    assert!(end.is_ok(), "{end:?} {log:?}");
    assert!(first(&model.requests()[2]).contains("decided on nom"));
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_user_can_have_all_but_the_newest_turn_summarised() {
    let (agent, model) = agent(vec![vec![Line::say("in short")], vec![Line::say("one")]]);
    let compact = async |io| agent.compact(input(history(3), ""), " mind the tests ", io).await.unwrap();
    let (log, events, compacted) = heard(compact).await;
    assert_eq!(log, ["compaction-1 begins", "compaction-1 of 2 turns to t1: in short"]);
    assert_eq!(compacted, Compacted::Done { turns: 2 });
    assert!(first(&model.requests()[0]).ends_with("mind: mind the tests"));
    drive(&agent, and_summary(history(3), &events)).await.2.unwrap();
    let request = &model.requests()[1];
    assert_eq!(request.messages.len(), 3);
    assert!(first(request).contains("in short") && first(request).ends_with("ask 2"), "{}", first(request));
}

#[tokio::test(start_paused = true)]
async fn what_is_summarised_already_or_too_little_is_not_summarised() {
    let (agent, model) = agent(Vec::new());
    for turns in [0, 1] {
        let compact = async |io| agent.compact(input(history(turns), ""), "", io).await.unwrap();
        let (log, _, compacted) = heard(compact).await;
        assert_eq!((log.as_slice(), compacted), (&[] as &[String], Compacted::Nothing));
    }
    assert!(model.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_configured_limit_counts_where_the_window_would_leave_more() {
    for (limit, turns_told) in [(usize::MAX, 6), (9_000, 2), (0, 1)] {
        let model = Arc::new(Scripted::new(vec![vec![Line::say("ok")]]).with_context_window(100_000));
        let provider = Arc::<Scripted>::clone(&model);
        let limits = Limits { history: limit, ..Limits::default() };
        let agent = Agent::new(provider, ToolRegistry::new(), Arc::new(SequentialIds::default()));
        drive(&agent.with_limits(limits), history(6)).await.2.unwrap();
        let told = format!("{:?}", model.requests()[0].messages);
        assert_eq!(told.matches("xxx\"").count(), turns_told, "{limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_summarises_nothing_unless_it_is_told_to() {
    let model = Arc::new(Scripted::new(vec![vec![Line::say("ok")]]).with_context_window(4_000));
    let provider = Arc::<Scripted>::clone(&model);
    let agent = Agent::new(provider, ToolRegistry::new(), Arc::new(SequentialIds::default()));
    drive(&agent, history(6)).await.2.unwrap();
    assert_eq!(model.requests().len(), 1);
    let (_, _, compacted) =
        heard(async |io| agent.compact(input(history(6), ""), "", io).await.unwrap()).await;
    assert_eq!(compacted, Compacted::Unable);
}
