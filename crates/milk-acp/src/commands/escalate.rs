//! `/escalate [fresh] [message]`: the escalation agent answers, from now on or this one message. With a message it is
//! a turn and runs as one; the option `routing` is the same switch.

use router::Target;

use super::{Change, CommandCx, Said, no_second};

pub(super) fn run(argument: &str, cx: &CommandCx) -> Said {
    let Some(routing) = &cx.routing else { return no_second() };
    let (fresh, _) = fresh(argument);
    let mut changes = vec![Change::Pin(Some(Target::Escalation))];
    let mut text = format!(
        "pinned to {}; `/primary` pins the other agent, `/auto` lets the rules decide",
        routing.escalation
    );
    if fresh {
        changes.push(Change::BeginAnew);
        text = format!("{text}. Its next turn begins anew, without what was said to it before");
    }
    Said { text, changes }
}

/// Whether the agent is to begin anew, and the message.
pub(super) fn fresh(argument: &str) -> (bool, &str) {
    match argument.split_once(char::is_whitespace) {
        Some(("fresh", message)) => (true, message.trim()),
        Some(_) => (false, argument),
        None => (argument == "fresh", if argument == "fresh" { "" } else { argument }),
    }
}
