//! Words results for a client of version 1.

use acp_wire::v1;
use serde_json::json;
use serde_json::value::RawValue;
use session_model::{StopReason, TokenUsage};
use time::format_description::well_known::Rfc3339;

use super::{decode, result, v1_words as words};
use crate::command::{ClientFeatures, Reply, SessionRow};

pub(super) fn reply(features: ClientFeatures, reply: &Reply) -> Box<RawValue> {
    let settings = |options| words::options(options, features.boolean_options);
    match reply {
        // The commands follow as an update: the version's results have no place for them.
        Reply::NewSession { session, options, commands: _ } => result(
            &v1::NewSessionResponse::new(session.as_str())
                .modes(words::modes(options))
                .config_options(settings(options)),
        ),
        Reply::OpenSession { options, commands: _ } => result(
            &v1::LoadSessionResponse::new().modes(words::modes(options)).config_options(settings(options)),
        ),
        Reply::ListSessions { sessions, next } => result(
            &v1::ListSessionsResponse::new(sessions.iter().map(row).collect::<Vec<_>>())
                .next_cursor(next.map(decode::cursor)),
        ),
        Reply::Done => result(&json!({})),
        Reply::Prompted { message: _, stop, usage: tokens } => {
            let stop = words::stop_reason(stop.unwrap_or(StopReason::EndTurn));
            result(&v1::PromptResponse::new(stop).usage(tokens.as_ref().and_then(usage)))
        }
        Reply::OptionSet { options } => result(&v1::SetSessionConfigOptionResponse::new(settings(options))),
    }
}

fn row(row: &SessionRow) -> v1::SessionInfo {
    let directories: Vec<String> =
        row.additional_directories.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    v1::SessionInfo::new(row.id.as_str(), row.cwd.to_string_lossy())
        .additional_directories(directories)
        .title(row.title.clone())
        .updated_at(row.updated_at.format(&Rfc3339).ok())
}

/// A turn that counted nothing says nothing.
fn usage(usage: &TokenUsage) -> Option<v1::Usage> {
    let some = |count: u64| (count > 0).then_some(count);
    let total = some(usage.total())?;
    Some(
        v1::Usage::new(total, usage.input, usage.output)
            .thought_tokens(some(usage.thought))
            .cached_read_tokens(some(usage.cached))
            .cached_write_tokens(some(usage.written)),
    )
}
