//! `milk sessions`: look at stored sessions, take them out, delete them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use session_store::{ListQuery, SessionMeta, SessionStore, SqliteStore, StoredSession};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

use crate::args::{ExportForm, Scope, SessionsCommand};
use crate::error::CliError;
use crate::export;
use crate::output::{self, Style, harmless};
use crate::places::Places;
use crate::store::{block_on, open};

/// How many sessions are fetched at a time.
const PAGE: usize = 200;
/// How many characters of an id tell it from others in practice.
const SHORT_ID: usize = 8;

/// Runs the subcommand.
pub(crate) fn run(command: SessionsCommand, places: &Places) -> Result<(), CliError> {
    let store = open(places)?;
    // Looking must not make anything: without a file there are no sessions.
    let empty = !places.session_db().is_some_and(|path| path.exists());
    block_on(async {
        match command {
            SessionsCommand::List { scope, json } => {
                let sessions = if empty { Vec::new() } else { list(&store, &scope, places).await? };
                show_list(&sessions, &scope, json)
            }
            SessionsCommand::Show { id, cwd, json } => {
                let session = load(&store, empty, id.as_deref(), &places.folder(cwd.as_deref())?).await?;
                let form = if json { ExportForm::Json } else { ExportForm::Text };
                Ok(output::print(rendered(&session, form, Style::of_stdout()))?)
            }
            SessionsCommand::Export { id, format, output, cwd } => {
                let session = load(&store, empty, id.as_deref(), &places.folder(cwd.as_deref())?).await?;
                export(&session, format, output.as_deref())
            }
            SessionsCommand::Delete { ids } => {
                for id in ids {
                    let meta = find(&store, empty, &id).await?;
                    store.delete(&meta.id).await?;
                    output::print(format_args!("deleted {}\n", meta.id))?;
                }
                Ok(())
            }
        }
    })
}

async fn list(store: &SqliteStore, scope: &Scope, places: &Places) -> Result<Vec<SessionMeta>, CliError> {
    let cwd = if scope.all { None } else { Some(places.folder(scope.cwd.as_deref())?) };
    let mut sessions = Vec::new();
    loop {
        let query = ListQuery { cwd: cwd.clone(), offset: sessions.len(), limit: PAGE };
        let page = store.list(query).await?;
        let more = page.more && !page.sessions.is_empty();
        sessions.extend(page.sessions);
        if !more {
            return Ok(sessions);
        }
    }
}

fn show_list(sessions: &[SessionMeta], scope: &Scope, as_json: bool) -> Result<(), CliError> {
    if as_json {
        let rows: Vec<_> = sessions.iter().map(row_json).collect();
        return Ok(output::print(format_args!("{:#}\n", Value::Array(rows)))?);
    }
    if sessions.is_empty() {
        output::remark(if scope.all {
            "no sessions are stored"
        } else {
            "no sessions of this folder; --all lists every folder's"
        });
        return Ok(());
    }
    let style = Style::of_stdout();
    let mut text = String::new();
    for meta in sessions {
        let id: String = meta.id.as_str().chars().take(SHORT_ID).collect();
        let used = meta
            .updated_at
            .format(format_description!("[year]-[month]-[day] [hour]:[minute]"))
            .unwrap_or_default();
        let title = meta.name.as_deref().or(meta.title.as_deref()).unwrap_or("(nothing said yet)");
        let place = if scope.all {
            format!("  {}", style.dim(&harmless(&meta.cwd.to_string_lossy())))
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "{}  {}  {}{place}",
            style.yellow(&id),
            style.dim(&used),
            harmless(title).replace('\n', " ")
        );
    }
    Ok(output::print(text)?)
}

fn row_json(meta: &SessionMeta) -> Value {
    json!({
        "id": meta.id.as_str(),
        "cwd": meta.cwd.to_string_lossy(),
        "name": meta.name,
        "title": meta.title,
        "createdAt": meta.created_at.format(&Rfc3339).ok(),
        "updatedAt": meta.updated_at.format(&Rfc3339).ok(),
    })
}

/// The session meant: by id or a beginning of it, else the folder's last.
async fn load(
    store: &SqliteStore,
    empty: bool,
    id: Option<&str>,
    cwd: &Path,
) -> Result<StoredSession, CliError> {
    let meta = match id {
        Some(id) => find(store, empty, id).await?,
        None if empty => return Err(CliError::NoSession(format!(" of {}", cwd.display()))),
        None => {
            store.latest(cwd).await?.ok_or_else(|| CliError::NoSession(format!(" of {}", cwd.display())))?
        }
    };
    let session = store.load(&meta.id).await?;
    if session.damaged > 0 {
        output::remark(format_args!("{} damaged entries of this session are left out", session.damaged));
    }
    Ok(session)
}

async fn find(store: &SqliteStore, empty: bool, id: &str) -> Result<SessionMeta, CliError> {
    if empty {
        return Err(CliError::NoSession(format!(" has the id `{id}`")));
    }
    Ok(store.find(id).await?)
}

fn rendered(session: &StoredSession, form: ExportForm, style: Style) -> String {
    match form {
        ExportForm::Text => export::text(session, style),
        ExportForm::Json => format!("{:#}\n", export::json(session)),
    }
}

fn export(session: &StoredSession, form: ExportForm, to: Option<&Path>) -> Result<(), CliError> {
    let text = rendered(session, form, Style::PLAIN);
    let Some(path) = to else { return Ok(output::print(text)?) };
    fs::write(path, &text).map_err(|source| CliError::File {
        doing: "write",
        path: path.to_owned(),
        source,
    })?;
    output::remark(format_args!("wrote {} ({} bytes)", path.display(), text.len()));
    Ok(())
}
