//! `milk sessions show` and `export`: one session, for people or for programs.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use milk_acp::settings::redactor;
use milk_acp::transcript::{self, Form};
use session_store::{SessionStore, StoredSession, export as forms};

use super::Sessions;
use crate::args::ExportForm;
use crate::error::CliError;
use crate::export;
use crate::output::{self, Style, harmless};
use crate::places::variable;

pub(super) async fn show(
    sessions: &Sessions<'_>,
    id: Option<&str>,
    cwd: Option<&Path>,
    json: bool,
) -> Result<(), CliError> {
    let session = load(sessions, id, cwd).await?;
    if json {
        return Ok(output::print(forms::json(&session)? + "\n")?);
    }
    Ok(output::print(export::text(&session, Style::of_stdout()))?)
}

/// What is exported, and where to.
pub(super) struct Export<'a> {
    pub(super) form: ExportForm,
    pub(super) with_secrets: bool,
    /// Standard output where there is none.
    pub(super) to: Option<&'a Path>,
}

pub(super) async fn export(
    sessions: &Sessions<'_>,
    id: Option<&str>,
    cwd: Option<&Path>,
    wanted: Export<'_>,
) -> Result<(), CliError> {
    let session = load(sessions, id, cwd).await?;
    let text = rendered(sessions, &session, &wanted)?;
    let Some(path) = wanted.to else {
        // A file gets every byte; a terminal would act on some.
        return Ok(output::print(if io::stdout().is_terminal() { harmless(&text) } else { text })?);
    };
    fs::write(path, &text).map_err(|source| CliError::File {
        doing: "write",
        path: path.to_owned(),
        source,
    })?;
    output::remark(format_args!("wrote {} ({} bytes)", path.display(), text.len()));
    Ok(())
}

fn rendered(
    sessions: &Sessions<'_>,
    session: &StoredSession,
    wanted: &Export<'_>,
) -> Result<String, CliError> {
    let redactor = if wanted.with_secrets {
        None
    } else {
        let loaded = sessions.places.loader().load(&session.meta.cwd)?;
        redactor(&loaded.settings, &variable, session.meta.id.as_str())
    };
    Ok(match wanted.form {
        ExportForm::Text => transcript::document(session, Form::Text, redactor.as_ref())?,
        ExportForm::Json => transcript::document(session, Form::Json, redactor.as_ref())? + "\n",
    })
}

/// The session meant: by id or a beginning of it, else the folder's last.
async fn load(
    sessions: &Sessions<'_>,
    id: Option<&str>,
    cwd: Option<&Path>,
) -> Result<StoredSession, CliError> {
    let meta = if let Some(id) = id {
        sessions.find(id).await?
    } else {
        let cwd = sessions.places.folder(cwd)?;
        let latest = if sessions.empty { None } else { sessions.store.latest(&cwd).await? };
        latest.ok_or_else(|| CliError::NoSession(format!(" of {}", cwd.display())))?
    };
    let session = sessions.store.load(&meta.id).await?;
    if session.damaged > 0 {
        output::remark(format_args!("{} damaged entries of this session are left out", session.damaged));
    }
    Ok(session)
}
