//! Words results for a client of version 2.

use acp_wire::v2;
use serde_json::json;
use serde_json::value::RawValue;
use time::format_description::well_known::Rfc3339;

use super::{decode, result, v2_words as words};
use crate::command::{Reply, SessionRow};

pub(super) fn reply(reply: &Reply) -> Box<RawValue> {
    match reply {
        Reply::NewSession { session, options, commands } => result(
            &v2::NewSessionResponse::new(session.as_str())
                .config_options(words::options(options))
                .available_commands(words::commands(commands)),
        ),
        Reply::OpenSession { options, commands } => result(
            &v2::ResumeSessionResponse::new()
                .config_options(words::options(options))
                .available_commands(words::commands(commands)),
        ),
        Reply::ListSessions { sessions, next } => {
            let next = next.map(|offset| v2::SessionListCursor::from(decode::cursor(offset)));
            result(
                &v2::ListSessionsResponse::new(sessions.iter().map(row).collect::<Vec<_>>())
                    .next_cursor(next),
            )
        }
        Reply::Done => result(&json!({})),
        // The turn's end was told by an update; both moments of answering have the same body.
        Reply::Prompted { message, stop: _, usage: _ } => result(&v2::PromptResponse::new(message.as_str())),
        Reply::OptionSet { options } => {
            result(&v2::SetSessionConfigOptionResponse::new(words::options(options)))
        }
    }
}

fn row(row: &SessionRow) -> v2::SessionInfo {
    let directories: Vec<v2::AbsolutePath> =
        row.additional_directories.iter().map(|path| path.to_string_lossy().into_owned().into()).collect();
    v2::SessionInfo::new(row.id.as_str(), row.cwd.to_string_lossy().into_owned())
        .additional_directories(directories)
        .title(row.title.clone())
        .updated_at(row.updated_at.format(&Rfc3339).ok())
}
