//! `/drop [id|name]`: deletes this session, and the view goes on in a fresh one; or deletes another session, and a
//! view that shows it does.

use super::{Change, CommandCx, Said, resume};
use crate::delete;
use crate::session::moves;
use crate::session::replay::short;

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    if argument.is_empty() {
        return this(cx).await;
    }
    let meta = match resume::find(&cx, &argument).await {
        Ok(meta) => meta,
        Err(cause) => return Said::text(cause),
    };
    if meta.id == cx.session {
        return this(cx).await;
    }
    match delete::drop_elsewhere(&cx.shared, &meta.id).await {
        Ok(()) => Said::text(format!("[milk] dropped session {}", meta.id)),
        Err(error) => Said::text(format!("cannot drop session {}: {error}", meta.id)),
    }
}

async fn this(cx: CommandCx) -> Said {
    let CommandCx { shared, view, session, place, .. } = cx;
    match moves::replaced(&shared, view, place, &session).await {
        Ok(opened) => Said {
            text: format!(
                "[milk] dropped session {session}; this conversation goes on in the fresh session {}",
                short(opened.claim.session())
            ),
            changes: vec![Change::Show(Box::new(opened))],
        },
        Err(error) => Said::text(format!("cannot drop session {session}: {error}")),
    }
}
