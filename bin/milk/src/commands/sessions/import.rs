//! `milk sessions import`: session files of this program's and of the Go milk's.
//!
//! One bad file costs itself. Nothing stored is ever replaced.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use session_model::Item;
use session_model::source::{IdKind, Ids as _, RandomIds};
use session_store::{SessionStore, StoreError, StoredSession, export};

use super::Sessions;
use crate::error::CliError;
use crate::output::{self, harmless};

/// The Go milk's list of its sessions, beside them.
const LIST: &str = "index.json";

pub(super) async fn run(sessions: &Sessions<'_>, given: &[PathBuf], new_id: bool) -> Result<(), CliError> {
    let files = files(given)?;
    let mut failed = 0;
    for file in &files {
        match import(sessions, file, new_id).await {
            Ok(session) => output::print(said(&session))?,
            Err(cause) => {
                failed += 1;
                output::remark(format_args!("{}: {cause}", file.display()));
            }
        }
    }
    if failed > 0 {
        return Err(CliError::Undone(format!(
            "{failed} of {} session files not imported; see above",
            files.len()
        )));
    }
    Ok(())
}

/// The files meant: a folder stands for the session files in it.
fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for path in given {
        if path.is_dir() {
            files.extend(within(path).map_err(|source| CliError::File {
                doing: "read",
                path: path.clone(),
                source,
            })?);
        } else if is_list(path) {
            output::remark(format_args!("{}: left out, it is only the list of the others", path.display()));
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn within(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("json")) && !is_list(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn is_list(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new(LIST))
}

async fn import(sessions: &Sessions<'_>, file: &Path, new_id: bool) -> Result<StoredSession, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"))?;
    // Our own exports may begin with what editors on Windows put there.
    let mut session = export::import(text.trim_start_matches('\u{feff}')).map_err(|error| told(&error))?;
    if !session.meta.cwd.is_absolute() {
        return Err(format!("its folder `{}` is not absolute", session.meta.cwd.display()));
    }
    match sessions.store.insert(session.clone()).await {
        Err(StoreError::Exists(_)) if new_id => {
            session.meta.id = RandomIds::new().fresh(IdKind::Session).into();
            sessions.store.insert(session.clone()).await.map_err(|error| told(&error))?;
        }
        Err(error @ StoreError::Exists(_)) => {
            return Err(format!("{error}; --new-id imports it under a fresh id"));
        }
        other => other.map_err(|error| told(&error))?,
    }
    if session.damaged > 0 {
        let name = file.display();
        output::remark(format_args!("{name}: {} damaged entries are left out", session.damaged));
    }
    Ok(session)
}

/// A store's failure is told without saying that it is the store's: here it is the file's.
fn told(error: &StoreError) -> String {
    match error {
        StoreError::Failed(cause) => cause.clone(),
        StoreError::NotFound(_)
        | StoreError::Ambiguous(_)
        | StoreError::Exists(_)
        | StoreError::Leased { .. }
        | StoreError::Unavailable { .. } => error.to_string(),
    }
}

fn said(session: &StoredSession) -> String {
    let turns = session.entries.iter().filter(|entry| matches!(entry.item, Item::User { .. })).count();
    let plural = if turns == 1 { "" } else { "s" };
    let title = session.meta.name.as_deref().or(session.meta.title.as_deref()).unwrap_or("(nothing said)");
    format!("imported {}  {} ({turns} turn{plural})\n", session.meta.id, harmless(title).replace('\n', " "))
}
