//! `/new [name]` and `/clear [name]`: the view goes on in a fresh session.

use super::{Change, CommandCx, Said};
use crate::session::open::{self, Place};
use crate::session::replay::short;

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    let name = (!argument.is_empty()).then_some(argument);
    if let Some(name) = &name {
        match cx.shared.store.named(&cx.place.cwd, name).await {
            Ok(None) => {}
            Ok(Some(other)) => {
                let id = short(&other.id);
                return Said::text(format!(
                    "session `{id}` of this folder is named {name} already; choose another name, or `/resume {id}`"
                ));
            }
            Err(error) => return Said::text(format!("cannot look the name up: {error}")),
        }
    }
    let label = name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let opened = open::fresh(&cx.shared, cx.view, Place { name, ..cx.place }).await;
    let (new, old) = (short(opened.claim.session()), short(&cx.session));
    Said {
        text: format!(
            "[milk] new session {new}{label}; it begins empty, and `/resume {old}` returns to this one"
        ),
        changes: vec![Change::Show(Box::new(opened))],
    }
}
