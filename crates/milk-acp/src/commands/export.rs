//! `/export [json|<path>]`: this conversation as text or JSON, printed or written to a file.

use std::path::Path;

use session_store::{StoreError, StoredSession, export};

use super::{CommandCx, Said};

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    let session = match load(&cx).await {
        Ok(session) => session,
        Err(error) => return Said::text(format!("cannot read this conversation: {error}")),
    };
    let (json, path) = match argument.split_once(char::is_whitespace) {
        Some(("json", path)) => (true, path.trim()),
        _ if argument == "json" => (true, ""),
        _ => (false, argument.as_str()),
    };
    let document = if json { export::json(&session) } else { Ok(export::text(&session)) };
    match document {
        Err(error) => Said::text(format!("cannot export this conversation: {error}")),
        Ok(text) if path.is_empty() && json => Said::text(format!("```json\n{text}\n```")),
        Ok(text) if path.is_empty() => Said::text(text),
        Ok(text) => Said::text(write(&cx.cwd.join(path), text).await),
    }
}

async fn load(cx: &CommandCx) -> Result<StoredSession, StoreError> {
    let mut session = cx.store.load(&cx.session).await?;
    session.entries.extend(cx.unsaved.iter().cloned());
    Ok(session)
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
