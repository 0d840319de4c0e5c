//! `milk sessions list`.

use serde_json::Value;
use session_store::{ListQuery, SessionMeta, SessionStore};

use super::{PAGE, Sessions, line, row};
use crate::args::Scope;
use crate::error::CliError;
use crate::output::{self, Style};

pub(super) async fn run(sessions: &Sessions<'_>, scope: &Scope, json: bool) -> Result<(), CliError> {
    let found = stored(sessions, scope).await?;
    if json {
        let rows: Vec<_> = found.iter().map(row).collect();
        return Ok(output::print(format_args!("{:#}\n", Value::Array(rows)))?);
    }
    if found.is_empty() {
        output::remark(if scope.all {
            "no sessions are stored"
        } else {
            "no sessions of this folder; --all lists every folder's"
        });
    }
    let style = Style::of_stdout();
    let lines: String = found.iter().map(|meta| line(meta, scope.all, style)).collect();
    Ok(output::print(lines)?)
}

/// All sessions of the scope, last used first.
pub(super) async fn stored(sessions: &Sessions<'_>, scope: &Scope) -> Result<Vec<SessionMeta>, CliError> {
    let mut found = Vec::new();
    if sessions.empty {
        return Ok(found);
    }
    let cwd = sessions.folder(scope)?;
    loop {
        let query = ListQuery { cwd: cwd.clone(), offset: found.len(), limit: PAGE };
        let page = sessions.store.list(query).await?;
        let more = page.more && !page.sessions.is_empty();
        found.extend(page.sessions);
        if !more {
            return Ok(found);
        }
    }
}
