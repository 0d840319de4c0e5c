//! `/export [session <id|name>] [json] [path]`: a conversation as text or JSON, printed or written to a file.

use std::path::Path;

use session_model::SessionId;
use session_store::{StoreError, StoredSession, export};

use super::{CommandCx, Said, resume};

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
    let document = if json { export::json(&stored) } else { Ok(export::text(&stored)) };
    match document {
        Err(error) => Said::text(format!("cannot export the conversation: {error}")),
        Ok(text) if path.is_empty() && json => Said::text(format!("```json\n{text}\n```")),
        Ok(text) if path.is_empty() => Said::text(text),
        Ok(text) => Said::text(write(&cx.place.cwd.join(path), text).await),
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

async fn write(path: &Path, text: String) -> String {
    let (target, bytes) = (path.to_owned(), text.len());
    let written = tokio::task::spawn_blocking(move || std::fs::write(target, text)).await;
    match written {
        Ok(Ok(())) => format!("wrote {bytes} bytes to {}", path.display()),
        Ok(Err(error)) => format!("cannot write {}: {error}", path.display()),
        Err(error) => format!("cannot write {}: {error}", path.display()),
    }
}
