//! The rules of a session as tables: a list of inputs, and everything that comes of them.

use std::fmt::Write as _;

use insta::assert_snapshot;
use session_model::{
    AskOption, AskOptionKind, OptionId, PermissionAsk, Spent, Summary, ToolCallId, ToolKind,
};

use super::*;

/// Runs the inputs through a fresh core and prints the effects, indented under each.
fn run(inputs: Vec<Input>) -> String {
    run_on(&mut Core::new(terms()), inputs)
}

fn terms() -> Terms {
    Terms {
        handle: "h".into(),
        show_thoughts: true,
        by_segment: false,
        withdrawing_cancels: true,
        inserted: HashMap::new(),
        usage: SessionUsage::default(),
    }
}

fn run_on(core: &mut Core, inputs: Vec<Input>) -> String {
    let mut out = String::new();
    for input in inputs {
        let _ = writeln!(out, "{}", name(&input));
        for effect in core.step(input) {
            let mark = if effect.is_urgent() { "!" } else { "-" };
            let _ = writeln!(out, "  {mark} {}", told(&effect));
        }
    }
    out
}

fn name(input: &Input) -> String {
    match input {
        Input::Prompt(prompt) => format!("prompt {}", prompt.reply.0),
        Input::Withdrawn(reply) => format!("withdrawn {}", reply.0),
        Input::Cancel => "cancel".to_owned(),
        Input::Emitted(event) => format!("emitted {}", event_told(event)),
        Input::Asked(id, _) => format!("asked {id}"),
        Input::Called(id) => format!("called {id}"),
        Input::Answered(id, answer) => format!("answered {id} {answer:?}"),
        Input::Ended(outcome) => format!("ended {outcome:?}"),
        Input::ShowThoughts(show) => format!("show thoughts {show}"),
        Input::Bound(keys, _) => format!("bound, {} keys", keys.len()),
        Input::Attached(handle) => format!("attached as {handle}"),
    }
}

fn told(effect: &Effect) -> String {
    match effect {
        Effect::Persist(turn, items) => {
            let items: Vec<String> = items.iter().map(item_told).collect();
            format!("keep in {turn}: {}", items.join(", "))
        }
        Effect::Emit(event) => format!("tell {}", event_told(event)),
        Effect::Inserted(reply, message) => format!("answer {} inserted {message}", reply.0),
        Effect::Finish { reply, message, stop, .. } => format!("answer {} {message} {stop:?}", reply.0),
        Effect::Fail(reply, failure) => format!("answer {} failed {}", reply.0, failure.code),
        Effect::Refuse(reply) => format!("answer {} cancelled", reply.0),
        Effect::Start(turn, _) => format!("start {turn}"),
        Effect::SendAsk(id, _) => format!("ask {id}"),
        Effect::Call(id) => format!("call {id}"),
        Effect::Forgo(id) => format!("forgo {id}"),
        Effect::CancelTurn => "cancel the turn".to_owned(),
        Effect::Withdraw(id) => format!("withdraw {id}"),
        Effect::Settle(id, answer) => format!("settle {id} {answer:?}"),
        Effect::KeepUsage(usage) => format!("keep usage {}", usage.tokens().total()),
        Effect::Speak(handle) => format!("speak as {handle}"),
    }
}

fn item_told(item: &Item) -> String {
    match item {
        Item::User { id, .. } => format!("user {id}"),
        Item::Agent { text, step, .. } => format!("agent@{step} {text:?}"),
        Item::Thought { text, step, .. } => format!("thought@{step} {text:?}"),
        Item::Tool { call, step } => format!("tool@{step} {} {:?}", call.id, call.status),
        Item::Remark { text, .. } => format!("remark {text:?}"),
        Item::Compaction { id, summary } => format!("{id} {:?}", summary.text),
        Item::TurnEnd { stop, error, .. } => format!("end {stop:?} {:?}", error.as_ref().map(|e| &e.code)),
    }
}

fn event_told(event: &Event) -> String {
    match event {
        Event::Message { id, role, .. } => format!("{role:?} message {id}"),
        Event::MessageDelta { role, content, .. } => format!("{role:?} {:?}", content.as_text()),
        Event::ToolCall(update) => format!("tool {} {:?}", update.id, update.status),
        Event::Foreground(foreground) => match foreground {
            Foreground::Idle { stop, error, .. } => {
                format!("idle {stop:?} {:?}", error.as_ref().map(|error| &error.code))
            }
            Foreground::Running | Foreground::RequiresAction => format!("{foreground:?}"),
        },
        Event::ToolOutput { .. }
        | Event::Terminal(_)
        | Event::TerminalOutput { .. }
        | Event::Plan(_)
        | Event::PlanRemoved(_)
        | Event::Compaction(_)
        | Event::Spent(_)
        | Event::Usage(_)
        | Event::Commands(_)
        | Event::Options(_)
        | Event::Title(_)
        | Event::Routed(_)
        | Event::Warning(_)
        | Event::Notice(_)
        | Event::Remark { .. }
        | Event::ReplayComplete => format!("{event:?}"),
    }
}

fn prompt(number: u64) -> Input {
    prompt_with(number, Ack::TurnEnd, None)
}

fn prompt_with(number: u64, ack: Ack, key: Option<&str>) -> Input {
    Input::Prompt(NewPrompt {
        reply: ReplyId(number),
        handle: "h".into(),
        content: vec![Content::text(format!("prompt {number}"))],
        ack,
        key: key.map(str::to_owned),
        message: MessageId::from(format!("u{number}")),
        turn: TurnId::from(format!("t{number}")),
        local: false,
    })
}

fn says(text: &str) -> Input {
    delta(Role::Agent, "a1", text)
}

fn delta(role: Role, id: &str, text: &str) -> Input {
    Input::Emitted(Event::MessageDelta { id: id.into(), role, content: Content::text(text) })
}

fn tool(id: &str, status: ToolStatus) -> Input {
    let mut update = ToolCallUpdate::new(ToolCallId::from(id));
    update.name = Some("read_file".to_owned());
    update.kind = Some(ToolKind::Read);
    update.status = Some(status);
    Input::Emitted(Event::ToolCall(update))
}

fn asks(id: &str) -> Input {
    let option =
        AskOption { id: OptionId::from("allow"), name: "Allow".to_owned(), kind: AskOptionKind::AllowOnce };
    let ask = PermissionAsk {
        tool_call: ToolCallUpdate::new(ToolCallId::from("c1")),
        title: "Allow?".to_owned(),
        description: None,
        options: vec![option],
    };
    Input::Asked(id.into(), Ask::Permission(Box::new(ask)))
}

fn done() -> Input {
    Input::Ended(Outcome::Done { stop: StopReason::EndTurn, usage: None })
}

#[test]
fn a_turn_keeps_before_it_tells_and_answers_last() {
    let transcript = run(vec![
        prompt(1),
        says("Look"),
        says("ing."),
        tool("c1", ToolStatus::Pending),
        tool("c1", ToolStatus::InProgress),
        tool("c1", ToolStatus::Completed),
        delta(Role::Agent, "a2", "Done."),
        done(),
    ]);
    assert_snapshot!(transcript);
}

#[test]
fn an_early_answer_comes_with_the_insertion_and_only_then() {
    assert_snapshot!(run(vec![prompt_with(1, Ack::Insertion, None), says("Hi"), done()]));
}

#[test]
fn prompts_wait_in_order_and_a_cancel_refuses_those_that_wait() {
    assert_snapshot!(run(vec![
        prompt(1),
        prompt(2),
        prompt(3),
        done(),
        Input::Cancel,
        Input::Ended(Outcome::Interrupted),
        prompt(4),
    ]));
}

#[test]
fn a_withdrawn_prompt_that_waits_never_runs() {
    assert_snapshot!(run(vec![prompt(1), prompt(2), Input::Withdrawn(ReplyId(2)), done()]));
}

#[test]
fn withdrawing_a_running_prompt_ends_its_turn_only_where_the_request_is_the_turn() {
    assert_snapshot!(run(vec![prompt(1), Input::Withdrawn(ReplyId(1)), Input::Ended(Outcome::Interrupted)]));
    let mut core = Core::new(Terms { withdrawing_cancels: false, ..terms() });
    assert_snapshot!(run_on(&mut core, vec![prompt(1), Input::Withdrawn(ReplyId(1)), done()]));
}

#[test]
fn a_cancel_reaches_the_turn_before_its_questions_are_settled() {
    assert_snapshot!(run(vec![
        prompt(1),
        tool("c1", ToolStatus::Pending),
        asks("q1"),
        Input::Cancel,
        Input::Answered("q1".into(), Answer::Selected("allow".into())),
        Input::Ended(Outcome::Interrupted),
    ]));
}

#[test]
fn an_answered_question_lets_the_turn_run_on() {
    let answer = Answer::Selected("allow".into());
    assert_snapshot!(run(vec![
        prompt(1),
        asks("q1"),
        asks("q2"),
        Input::Answered("q2".into(), answer.clone()),
        Input::Answered("q1".into(), answer),
        done(),
    ]));
}

#[test]
fn a_failure_is_idle_with_an_error_and_then_the_error_response() {
    let failure = TurnFailure { code: "provider_unreachable".to_owned(), message: "no server".to_owned() };
    assert_snapshot!(run(vec![prompt(1), says("So f"), Input::Ended(Outcome::Failed(failure))]));
}

#[test]
fn a_failure_after_a_cancel_is_a_cancel() {
    let failure = TurnFailure { code: "provider_truncated".to_owned(), message: "cut".to_owned() };
    assert_snapshot!(run(vec![prompt(1), Input::Cancel, Input::Ended(Outcome::Failed(failure))]));
}

#[test]
fn a_tool_that_finished_before_it_saw_the_cancel_did_finish() {
    assert_snapshot!(run(vec![
        prompt(1),
        tool("c1", ToolStatus::InProgress),
        tool("c2", ToolStatus::InProgress),
        Input::Cancel,
        tool("c1", ToolStatus::Completed),
        Input::Ended(Outcome::Interrupted),
    ]));
}

#[test]
fn a_retry_under_the_same_key_inserts_nothing() {
    let retry = |number| prompt_with(number, Ack::Insertion, Some("k"));
    assert_snapshot!(run(vec![prompt(1), retry(2), retry(3), done(), retry(4), done(), retry(5)]));
}

#[test]
fn a_key_of_an_earlier_process_is_remembered() {
    let keys = HashMap::from([("k".to_owned(), MessageId::from("old"))]);
    let mut core = Core::new(Terms { inserted: keys, ..terms() });
    assert_snapshot!(run_on(&mut core, vec![prompt_with(1, Ack::Insertion, Some("k"))]));
    assert!(core.is_idle());
}

#[test]
fn hidden_thoughts_are_kept_but_not_told() {
    assert_snapshot!(run(vec![
        Input::ShowThoughts(false),
        prompt(1),
        delta(Role::Thought, "h1", "hm"),
        says("Yes."),
        done(),
    ]));
}

#[test]
fn by_segment_text_waits_for_its_end() {
    let mut core = Core::new(Terms { by_segment: true, ..terms() });
    assert_snapshot!(run_on(
        &mut core,
        vec![prompt(1), says("a"), says("b"), tool("c1", ToolStatus::Pending), says("c"), says("d"), done()],
    ));
}

#[test]
fn a_command_is_told_and_kept_nowhere() {
    let Input::Prompt(prompt) = prompt(1) else { unreachable!("it is a prompt") };
    assert_snapshot!(run(vec![
        Input::Prompt(NewPrompt { local: true, ..prompt }),
        says("Commands: …"),
        done()
    ]));
}

#[test]
fn a_turn_is_told_under_the_handle_its_prompt_came_by() {
    let Input::Prompt(other) = prompt(2) else { unreachable!() };
    assert_snapshot!(run(vec![
        prompt(1),
        Input::Prompt(NewPrompt { handle: "alias".into(), ..other }),
        done(),
        Input::Attached("alias".into()),
        done(),
        Input::Attached("h".into()),
    ]));
}

#[test]
fn keys_of_every_session_that_was_shown_stay_known() {
    assert_snapshot!(run(vec![
        Input::Bound(vec![("k".to_owned(), MessageId::from("stored"))], SessionUsage::default()),
        prompt_with(1, Ack::Insertion, Some("k")),
        Input::Bound(Vec::new(), SessionUsage::default()),
        prompt_with(2, Ack::Insertion, Some("k")),
    ]));
}

#[test]
fn events_without_a_turn_are_ignored() {
    assert_snapshot!(run(vec![says("late"), Input::Ended(Outcome::Interrupted), Input::Cancel]));
}

fn compaction(state: CompactionState) -> Input {
    Input::Emitted(Event::Compaction(Compaction { id: "k1".into(), requested: false, state }))
}

#[test]
fn a_compaction_that_a_cancel_cuts_short_ends_as_cancelled() {
    let said = run(vec![
        prompt(1),
        compaction(CompactionState::Running),
        Input::Cancel,
        Input::Ended(Outcome::Interrupted),
    ]);
    let ends = said.matches("state: Cancelled").count();
    assert!(ends == 1 && said.find("state: Cancelled") < said.find("end Cancelled"), "{said}");
}

#[test]
fn of_a_command_nothing_is_kept_but_a_summary() {
    let Input::Prompt(new) = prompt(1) else { panic!("a prompt") };
    let summary = Summary { turns: 2, last: "t0".into(), text: "so far".to_owned() };
    let said = run(vec![
        Input::Prompt(NewPrompt { local: true, ..new }),
        compaction(CompactionState::Running),
        compaction(CompactionState::Done(summary)),
        says("done"),
        done(),
    ]);
    let kept: Vec<_> = said.lines().filter(|line| line.trim().starts_with("- keep")).collect();
    assert_eq!(kept.len(), 1, "{said}");
    assert!(kept[0].contains("so far"), "{said}");
}

#[test]
fn what_requests_took_adds_up_and_is_kept_once_before_the_turns_end_is_told() {
    let tokens = TokenUsage { input: 3, cached: 0, output: 4, thought: 0, written: 0 };
    let spent = Spent { agent: "a".into(), model: "m".to_owned(), tokens, dollars: Some(0.5) };
    let gauge = Event::Usage(ContextUsage { used: 7, size: 9, cost: None });
    let mut core = Core::new(terms());
    let inputs = [Event::Spent(spent.clone()), gauge.clone(), Event::Spent(spent), gauge];
    let said = run_on(
        &mut core,
        [prompt(1)].into_iter().chain(inputs.map(Input::Emitted)).chain([done()]).collect(),
    );
    assert!(said.contains("amount: 0.5,") && said.contains("amount: 1.0,"), "{said}");
    assert_eq!(said.matches("keep usage 14").count(), 1, "{said}");
    assert!(said.find("keep usage") < said.find("idle Some(EndTurn)"), "{said}");
    assert_eq!(core.usage().gauge().and_then(|gauge| gauge.cost), Some(session_model::Cost::usd(1.0)));
}
