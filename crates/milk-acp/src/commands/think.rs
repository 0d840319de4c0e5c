//! `/think [on|off]`: whether the model's reasoning is shown; the option `think` is the same switch.

use super::{Change, CommandCx, Said, Switch, switch};

pub(super) fn run(argument: &str, cx: &CommandCx) -> Said {
    let word = |on| if on { "on" } else { "off" };
    match switch(argument) {
        Switch::Set(on) => Said {
            text: format!("reasoning visibility: {}", word(on)),
            changes: vec![Change::ShowThoughts(on)],
        },
        Switch::Show => Said::text(format!(
            "reasoning visibility: {}; `/think on` or `/think off` changes it",
            word(cx.show_thoughts)
        )),
        Switch::Unclear => Said::text("usage: /think [on|off]"),
    }
}
