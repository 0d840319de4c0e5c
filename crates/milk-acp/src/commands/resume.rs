//! `/resume <id|name>`: the view goes on in another stored session of its folder.

use session_store::{SessionMeta, StoreError};

use super::{Change, CommandCx, Said, sessions};
use crate::command::Replay;
use crate::session::open::{self, Opened};
use crate::session::replay::{count, short};

const USAGE: &str = "usage: /resume <id|name>";

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    if argument.is_empty() {
        let list = sessions::listed(&cx, Some(cx.place.cwd.clone())).await;
        return Said::text(format!("{USAGE}\n\n{list}"));
    }
    let meta = match find(&cx, &argument).await {
        Ok(meta) => meta,
        Err(cause) => return Said::text(cause),
    };
    if meta.cwd != cx.place.cwd {
        let folder = meta.cwd.display();
        return Said::text(format!(
            "session {} belongs to `{folder}`; open that folder in your editor to go on with it",
            short(&meta.id)
        ));
    }
    if meta.id == cx.session {
        return Said::text(format!("this conversation is session {} already", short(&meta.id)));
    }
    match open(&cx, &meta).await {
        Ok(opened) => Said {
            text: format!("[milk] resumed session {} ({})", label(&meta), count(opened.past.turns)),
            changes: vec![Change::Show(Box::new(opened))],
        },
        Err(cause) => Said::text(cause),
    }
}

/// The session a reference means (an id or the beginning of one, else a name in this folder), or why there is none.
pub(super) async fn find(cx: &CommandCx, reference: &str) -> Result<SessionMeta, String> {
    let store = &cx.shared.store;
    let found = match store.find(reference).await {
        Err(StoreError::NotFound(_)) => match store.named(&cx.place.cwd, reference).await {
            Ok(Some(meta)) => Ok(meta),
            Ok(None) => {
                return Err(format!(
                    "no session `{reference}`; /sessions lists those there are, /new begins another"
                ));
            }
            Err(error) => Err(error),
        },
        found => found,
    };
    match found {
        Ok(meta) => Ok(meta),
        Err(StoreError::Ambiguous(_)) => {
            Err(format!("several sessions begin with `{reference}`; give more characters of the id"))
        }
        Err(error) => Err(format!("cannot look the session up: {error}")),
    }
}

async fn open(cx: &CommandCx, meta: &SessionMeta) -> Result<Opened, String> {
    let id = short(&meta.id);
    let elsewhere = || format!("session {id} is open in another conversation — close it there first");
    let (claim, after) = cx.shared.views.claim(cx.view, &meta.id).map_err(|_held| elsewhere())?;
    match open::reopen(&cx.shared, claim, after, Replay::Window).await {
        Ok(opened) => Ok(opened),
        Err(error @ StoreError::Leased { .. }) => Err(format!("{} ({error})", elsewhere())),
        Err(error) => Err(format!("cannot open session {id}: {error}")),
    }
}

/// What people know a session by.
fn label(meta: &SessionMeta) -> String {
    let id = short(&meta.id);
    match meta.name.as_deref().or(meta.title.as_deref()) {
        Some(name) => format!("{id} \u{201c}{name}\u{201d}"),
        None => id,
    }
}
