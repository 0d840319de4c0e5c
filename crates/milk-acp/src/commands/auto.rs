//! `/auto`: the rules decide again which agent answers; the option `routing` is the same switch.

use super::{Change, CommandCx, Said, no_second};

pub(super) fn run(cx: &CommandCx) -> Said {
    if cx.routing.is_none() {
        return no_second();
    }
    Said {
        text: "the rules decide which agent answers; `/escalate` and `/primary` pin one".to_owned(),
        changes: vec![Change::Pin(None)],
    }
}
