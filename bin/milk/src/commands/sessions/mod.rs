//! `milk sessions`: look at stored sessions, take them in and out, delete them.

mod delete;
mod import;
mod list;
mod prune;
mod search;
mod show;

use std::path::PathBuf;

use serde_json::{Value, json};
use session_store::{SessionMeta, SessionStore, SqliteStore};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

use crate::args::{Scope, SessionsCommand};
use crate::error::CliError;
use crate::output::{Style, harmless};
use crate::places::Places;
use crate::store::{block_on, open};

/// How many sessions are fetched at a time.
const PAGE: usize = 200;
/// How many characters of an id tell it from others in practice.
const SHORT_ID: usize = 8;

/// Runs the subcommand.
pub(crate) fn run(command: SessionsCommand, places: &Places) -> Result<(), CliError> {
    let sessions = Sessions {
        store: open(places)?,
        // Looking must not make anything: without a file there are no sessions.
        empty: !places.session_db().is_some_and(|path| path.exists()),
        places,
    };
    block_on(async {
        match command {
            SessionsCommand::List { scope, json } => list::run(&sessions, &scope, json).await,
            SessionsCommand::Search { text, scope, limit, json } => {
                search::run(&sessions, &text.join(" "), &scope, (limit, json)).await
            }
            SessionsCommand::Show { id, cwd, json } => {
                show::show(&sessions, id.as_deref(), cwd.as_deref(), json).await
            }
            SessionsCommand::Export { id, format, output, cwd, with_secrets } => {
                let wanted = show::Export { form: format, with_secrets, to: output.as_deref() };
                show::export(&sessions, id.as_deref(), cwd.as_deref(), wanted).await
            }
            SessionsCommand::Import { files, new_id } => import::run(&sessions, &files, new_id).await,
            SessionsCommand::Delete { ids } => delete::run(&sessions, &ids).await,
            SessionsCommand::Prune(args) => prune::run(&sessions, &args).await,
        }
    })
}

/// The stored sessions.
struct Sessions<'a> {
    store: SqliteStore,
    /// Whether nothing was ever stored.
    empty: bool,
    places: &'a Places,
}

impl Sessions<'_> {
    /// The session with this id, or whose id alone begins so.
    async fn find(&self, id: &str) -> Result<SessionMeta, CliError> {
        if self.empty {
            return Err(CliError::NoSession(format!(" has the id `{id}`")));
        }
        Ok(self.store.find(id).await?)
    }

    /// The folder whose sessions are meant; `None` is every folder.
    fn folder(&self, scope: &Scope) -> Result<Option<PathBuf>, CliError> {
        if scope.all { Ok(None) } else { Ok(Some(self.places.folder(scope.cwd.as_deref())?)) }
    }
}

/// A session's line: short id, last use, what it is called; and its folder where several are listed.
fn line(meta: &SessionMeta, with_folder: bool, style: Style) -> String {
    let id: String = meta.id.as_str().chars().take(SHORT_ID).collect();
    let used = meta
        .updated_at
        .format(format_description!("[year]-[month]-[day] [hour]:[minute]"))
        .unwrap_or_default();
    let title = meta.name.as_deref().or(meta.title.as_deref()).unwrap_or("(nothing said yet)");
    let place = if with_folder {
        format!("  {}", style.dim(&harmless(&meta.cwd.to_string_lossy())))
    } else {
        String::new()
    };
    format!(
        "{}  {}  {}{place}\n",
        style.yellow(&harmless(&id)),
        style.dim(&used),
        harmless(title).replace('\n', " ")
    )
}

/// A session for programs.
fn row(meta: &SessionMeta) -> Value {
    json!({
        "id": meta.id.as_str(),
        "cwd": meta.cwd.to_string_lossy(),
        "name": meta.name,
        "title": meta.title,
        "createdAt": meta.created_at.format(&Rfc3339).ok(),
        "updatedAt": meta.updated_at.format(&Rfc3339).ok(),
    })
}
