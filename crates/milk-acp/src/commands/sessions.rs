//! `/sessions [all]`: the kept conversations, last used first, the present one marked.

use std::fmt::Write as _;
use std::path::PathBuf;

use session_store::{ListQuery, SessionMeta};
use time::macros::format_description;

use super::{CommandCx, Said};
use crate::session::replay::short;

/// More than anyone reads; the rest is counted.
const SHOWN: usize = 50;

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    let cwd = match argument.as_str() {
        "" => Some(cx.place.cwd.clone()),
        "all" => None,
        _ => return Said::text("usage: /sessions [all]"),
    };
    Said::text(listed(&cx, cwd).await)
}

/// The sessions of a folder or of all, in words.
pub(super) async fn listed(cx: &CommandCx, cwd: Option<PathBuf>) -> String {
    let page = match cx.shared.store.list(ListQuery { cwd, offset: 0, limit: SHOWN }).await {
        Ok(page) => page,
        Err(error) => return format!("cannot list the sessions: {error}"),
    };
    if page.sessions.is_empty() {
        return "no sessions found".to_owned();
    }
    let mut text = String::new();
    let mut folder: Option<PathBuf> = None;
    for meta in &page.sessions {
        if folder.as_ref() != Some(&meta.cwd) {
            let gap = if folder.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}**{}**", meta.cwd.display());
            folder = Some(meta.cwd.clone());
        }
        let _ = writeln!(text, "{}", row(meta, meta.id == cx.session));
    }
    if page.more {
        let _ = writeln!(text, "\n… and more; `milk sessions list` has them all");
    }
    text.trim_end().to_owned()
}

fn row(meta: &SessionMeta, current: bool) -> String {
    let mark = if current { '*' } else { '-' };
    let id = short(&meta.id);
    let name = meta.name.as_deref().or(meta.title.as_deref()).unwrap_or("(unnamed)");
    let stamp = meta.updated_at.format(format_description!("[year]-[month]-[day] [hour]:[minute]"));
    format!("{mark} `{id}` {name} — {}", stamp.unwrap_or_default())
}
