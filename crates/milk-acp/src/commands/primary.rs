//! `/primary [message]`: the primary agent answers, from now on or this one message. With a message it is a turn and
//! runs as one; the option `routing` is the same switch.

use router::Target;

use super::{Change, CommandCx, Said, no_second};

pub(super) fn run(cx: &CommandCx) -> Said {
    let Some(routing) = &cx.routing else { return no_second() };
    Said {
        text: format!(
            "pinned to {}; `/escalate` pins the other agent, `/auto` lets the rules decide",
            routing.primary
        ),
        changes: vec![Change::Pin(Some(Target::Primary))],
    }
}
