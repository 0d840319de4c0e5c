//! When an item is finished, and to which model answer it belongs.

use serde_json::json;
use session_model::{
    Compaction, CompactionState, Content, ContextUsage, Event, Foreground, Item, Notice, Role, Route,
    Severity, StopReason, Summary, ToolKind, ToolStatus, Warning,
};
use session_store::fold::Folder;

use crate::support::{agent, delta, output, shown, thinking, thought, tool, update, whole};

fn fold(events: &[Event]) -> Vec<Item> {
    let mut folder = Folder::new();
    let mut items: Vec<_> = events.iter().flat_map(|event| folder.event(event)).collect();
    items.extend(folder.finish());
    items
}

fn steps(items: &[Item]) -> Vec<u32> {
    let step = |item: &Item| match item {
        Item::Agent { step, .. } | Item::Thought { step, .. } | Item::Tool { step, .. } => Some(*step),
        Item::User { .. } | Item::Remark { .. } | Item::Compaction { .. } | Item::TurnEnd { .. } => None,
    };
    items.iter().filter_map(step).collect()
}

#[test]
fn a_message_is_finished_by_the_next_part_of_the_conversation() {
    let route = Route {
        agent: "a".into(),
        target: "primary".to_owned(),
        reason: "default".to_owned(),
        conclusive: None,
    };
    for other in [
        delta("m2", "x"),
        thinking("m1", "x"),
        whole("m2", Role::Agent, ""),
        whole("u", Role::User, "stop"),
        tool("c", ToolStatus::Pending),
        Event::Routed(route),
        Event::Foreground(Foreground::Idle { stop: Some(StopReason::EndTurn), error: None, route: None }),
    ] {
        let mut folder = Folder::new();
        assert_eq!(folder.event(&delta("m1", "Hel")), []);
        assert_eq!(folder.event(&delta("m1", "lo")), []);
        assert_eq!(folder.event(&other), [agent("m1", 0, "Hello")], "{other:?}");
    }
}

#[test]
fn what_is_no_part_of_the_conversation_finishes_nothing() {
    let warning = Warning { category: "loop".to_owned(), consumption: false, message: "again".to_owned() };
    let notice = Notice { id: "n".into(), severity: Severity::Info, title: "note".to_owned() };
    for other in [
        Event::Usage(ContextUsage { used: 1, size: 2, cost: None }),
        Event::Commands(Vec::new()),
        Event::Options(Vec::new()),
        Event::Title(None),
        Event::Warning(warning),
        Event::Notice(notice),
        Event::PlanRemoved("p".into()),
        Event::Foreground(Foreground::Running),
        Event::Foreground(Foreground::RequiresAction),
        Event::ReplayComplete,
        output("c", "x"),
    ] {
        let items = fold(&[delta("m", "a"), other.clone(), delta("m", "b")]);
        assert_eq!(items, [agent("m", 0, "ab")], "{other:?}");
    }
}

fn compaction(state: CompactionState) -> Event {
    Event::Compaction(Compaction { id: "comp".into(), requested: false, state })
}

#[test]
fn a_summary_is_an_item_once_it_is_there_and_until_then_it_is_open() {
    let summary = Summary { turns: 2, last: "t0".into(), text: "so far".to_owned() };
    let ends = [
        (CompactionState::Done(summary.clone()), vec![Item::Compaction { id: "comp".into(), summary }]),
        (CompactionState::Failed("no".to_owned()), Vec::new()),
        (CompactionState::Cancelled, Vec::new()),
    ];
    for (end, items) in ends {
        let mut folder = Folder::new();
        folder.event(&delta("m", "a"));
        assert_eq!(folder.event(&compaction(CompactionState::Running)), [agent("m", 0, "a")]);
        assert_eq!(folder.open_compaction(), Some(&"comp".into()));
        assert_eq!(folder.event(&compaction(end)), items);
        assert_eq!(folder.open_compaction(), None);
    }
}

#[test]
fn a_whole_message_is_finished_at_once_and_replaces_its_deltas() {
    let mut folder = Folder::new();
    assert_eq!(folder.event(&whole("m", Role::Agent, "hi")), [agent("m", 0, "hi")]);
    folder.event(&delta("n", "dra"));
    assert_eq!(folder.event(&whole("n", Role::Agent, "draft, better")), [agent("n", 0, "draft, better")]);
    assert_eq!(folder.event(&whole("t", Role::Thought, "hm")), [thought("t", 0, "hm")]);
    assert_eq!(folder.finish(), []);
}

#[test]
fn the_whole_of_a_finished_message_adds_only_what_is_new() {
    let finished = [delta("m", "one"), thinking("t", "x"), whole("m", Role::Agent, "one")];
    assert_eq!(fold(&finished), [agent("m", 0, "one"), thought("t", 0, "x")]);
    let grown = [delta("m", "one"), thinking("t", "x"), whole("m", Role::Agent, "one two")];
    assert_eq!(fold(&grown), [agent("m", 0, "one"), thought("t", 0, "x"), agent("m", 0, " two")]);
}

#[test]
fn the_users_messages_and_empty_ones_are_not_given_out() {
    assert_eq!(fold(&[whole("u", Role::User, "hi"), delta("m", ""), whole("n", Role::Agent, "")]), []);
}

#[test]
fn partial_text_is_kept_at_the_end() {
    let mut folder = Folder::new();
    folder.event(&delta("m", "cut o"));
    assert_eq!(folder.finish(), [agent("m", 0, "cut o")]);
    assert_eq!(folder.finish(), []);
}

#[test]
fn a_tool_call_gathers_its_updates_and_output_until_its_final_status() {
    let mut first = update("c", ToolStatus::Pending);
    first.name = Some("bash".to_owned());
    first.title = Some("bash: ls".to_owned());
    first.kind = Some(ToolKind::Execute);
    let mut last = update("c", ToolStatus::Completed);
    last.raw_output = Some(json!({"exit_code": 0}));
    let mut folder = Folder::new();
    for event in [Event::ToolCall(first.clone()), tool("c", ToolStatus::InProgress)] {
        assert_eq!(folder.event(&event), []);
    }
    folder.event(&output("c", "a\n"));
    folder.event(&output("c", "b\n"));
    let mut call = first;
    call.merge(&update("c", ToolStatus::InProgress));
    call.content = Some(vec![shown("a\nb\n")]);
    assert_eq!(folder.open_tools(), [call.clone()]);
    call.merge(&last);
    assert_eq!(folder.event(&Event::ToolCall(last)), [Item::Tool { step: 0, call }]);
    assert_eq!(folder.open_tools(), []);
    assert_eq!(folder.event(&tool("c", ToolStatus::Failed)), [], "a final status is final");
}

#[test]
fn new_content_replaces_the_output_shown_so_far() {
    let mut last = update("c", ToolStatus::Failed);
    last.content = Some(vec![shown("all of it")]);
    let events = [tool("c", ToolStatus::InProgress), output("c", "part"), Event::ToolCall(last.clone())];
    assert_eq!(fold(&events), [Item::Tool { step: 0, call: last }]);
}

#[test]
fn a_step_begins_with_what_follows_a_tools_result() {
    use ToolStatus::{Completed, InProgress, Pending};
    let items = fold(&[
        thinking("t1", "hm"),
        delta("m1", "let me look"),
        tool("a", Pending),
        tool("b", Pending),
        tool("a", Completed),
        tool("b", InProgress),
        tool("b", Completed),
        thinking("t2", "so"),
        delta("m2", "and now"),
        tool("c", Pending),
        tool("c", Completed),
        tool("d", Pending),
        tool("d", Completed),
        delta("m3", "done"),
    ]);
    assert_eq!(steps(&items), [0, 0, 0, 0, 1, 1, 1, 2, 3]);
}

#[test]
fn a_step_that_a_tool_call_names_wins() {
    use ToolStatus::{Completed, Pending};
    let named = |id: &str, status, step| {
        let mut update = update(id, status);
        update.step = Some(step);
        Event::ToolCall(update)
    };
    let items = fold(&[
        // Both of one answer, though the first had ended before the second appeared.
        named("a", Pending, 0),
        named("a", Completed, 0),
        named("b", Pending, 0),
        named("b", Completed, 0),
        delta("m", "next"),
        named("c", Completed, 1),
        named("d", Completed, 5),
        delta("n", "last"),
        // Named only in the end.
        tool("e", Pending),
        named("e", Completed, 2),
    ]);
    assert_eq!(steps(&items), [0, 0, 1, 1, 5, 6, 2]);
}

#[test]
fn what_is_no_text_is_named_in_the_agents_message() {
    let image = |uri: Option<&str>| Content::Image {
        data: String::new(),
        mime_type: "image/png".to_owned(),
        uri: uri.map(str::to_owned),
    };
    let content = vec![Content::text("see "), image(Some("file:///a.png")), image(None)];
    let event = Event::Message { id: "m".into(), role: Role::Agent, content };
    assert_eq!(fold(&[event]), [agent("m", 0, "see ![image/png](file:///a.png)[image/png]")]);
}
