//! `/skip-permissions [on|off]`: whether this conversation's tools run unasked. Not kept beyond it.

use super::{Change, CommandCx, Said, Switch, switch};

const ON: &str = "skip-permissions: ON – tools run without asking in this conversation";
const OFF: &str = "skip-permissions: OFF – tools ask first";

pub(super) fn run(argument: &str, cx: &CommandCx) -> Said {
    let told = |on| if on { ON } else { OFF };
    match switch(argument) {
        Switch::Set(on) => Said { text: told(on).to_owned(), changes: vec![Change::SkipPermissions(on)] },
        Switch::Show => {
            Said::text(format!("{}; usage: /skip-permissions [on|off]", told(cx.skip_permissions)))
        }
        Switch::Unclear => Said::text("usage: /skip-permissions [on|off]"),
    }
}
