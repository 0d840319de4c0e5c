//! `/export [session <id|name>] [json] [path]`: a conversation as text or JSON, printed or written to a file.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use session_model::SessionId;
use session_store::{StoreError, StoredSession};

use super::{CommandCx, Said, resume};
use crate::session::open::Place;
use crate::transcript::{self, Form};

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    let mut rest = argument.as_str();
    let mut session = cx.session.clone();
    if let Some((_, reference)) = word(rest, "session") {
        let (reference, others) = reference.split_once(char::is_whitespace).unwrap_or((reference, ""));
        if reference.is_empty() {
            return Said::text("usage: /export [session <id|name>] [json] [path]");
        }
        session = match resume::find(&cx, reference).await {
            Ok(meta) => meta.id,
            Err(cause) => return Said::text(cause),
        };
        rest = others.trim();
    }
    let (json, path) = word(rest, "json").map_or((false, rest), |(_, path)| (true, path));
    let stored = match load(&cx, &session).await {
        Ok(stored) => stored,
        Err(error) => return Said::text(format!("cannot read the conversation: {error}")),
    };
    let form = if json { Form::Json } else { Form::Text };
    match transcript::document(&stored, form, cx.plan.drivers.redactor().as_deref()) {
        Err(error) => Said::text(format!("cannot export the conversation: {error}")),
        Ok(text) if path.is_empty() && json => Said::text(format!("```json\n{text}\n```")),
        Ok(text) if path.is_empty() => Said::text(text),
        Ok(text) => match target(&cx.place, path) {
            Ok(target) => Said::text(write(&target, text).await),
            Err(cause) => Said::text(cause),
        },
    }
}

/// What follows a text's first word, when it is this one.
fn word<'a>(text: &'a str, expected: &str) -> Option<(&'a str, &'a str)> {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first == expected).then_some((first, rest.trim()))
}

async fn load(cx: &CommandCx, session: &SessionId) -> Result<StoredSession, StoreError> {
    let mut stored = cx.shared.store.load(session).await?;
    if *session == cx.session {
        stored.entries.extend(cx.unsaved.iter().cloned());
    }
    Ok(stored)
}

/// Where the file goes: inside the session's folders, for whoever types `/export` is not asked.
fn target(place: &Place, path: &str) -> Result<PathBuf, String> {
    let target = place.cwd.join(path);
    let folder = target.parent().unwrap_or(&target).canonicalize();
    let folder = folder.map_err(|error| format!("cannot write {}: its folder: {error}", target.display()))?;
    let roots = std::iter::once(&place.cwd).chain(&place.additional_roots);
    if !roots.into_iter().any(|root| folder.starts_with(root)) {
        return Err(format!(
            "{} is outside the session's folders; `milk sessions export` writes anywhere",
            target.display()
        ));
    }
    match target.file_name() {
        Some(name) => Ok(folder.join(name)),
        None => Err(format!("{} names no file", target.display())),
    }
}

/// Makes the file; one that is there stays as it is.
async fn write(path: &Path, text: String) -> String {
    let (target, bytes) = (path.to_owned(), text.len());
    let made = move || {
        let mut file = File::options().write(true).create_new(true).open(target)?;
        file.write_all(text.as_bytes())
    };
    let shown = path.display();
    match tokio::task::spawn_blocking(made).await {
        Ok(Ok(())) => format!("wrote {bytes} bytes to {shown}"),
        Ok(Err(error)) if error.kind() == ErrorKind::AlreadyExists => {
            format!("{shown} exists already; give another name")
        }
        Ok(Err(error)) => format!("cannot write {shown}: {error}"),
        Err(error) => format!("cannot write {shown}: {error}"),
    }
}
