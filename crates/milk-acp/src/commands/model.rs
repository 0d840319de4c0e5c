//! `/model [name]`: which of the configured agents answers; the option `model` is the same choice.

use super::{Change, CommandCx, Said};

pub(super) fn run(argument: &str, cx: &CommandCx) -> Said {
    let models = cx.options.models();
    if models.is_empty() {
        return Said::text("there is only one agent; more of them can be configured under `agents`");
    }
    let names = || models.iter().map(|model| model.value.as_str()).collect::<Vec<_>>().join(", ");
    if argument.is_empty() {
        let now = cx.options.model().unwrap_or("none");
        return Said::text(format!("{now} answers; `/model <name>` chooses another one of {}", names()));
    }
    match models.iter().find(|model| model.value.eq_ignore_ascii_case(argument)) {
        Some(model) => Said {
            text: format!("{} answers from the next turn on", model.value),
            changes: vec![Change::Model(model.value.clone())],
        },
        None => Said::text(format!("there is no agent `{argument}`; there is {}", names())),
    }
}
