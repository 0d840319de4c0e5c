//! `milk sessions search`: sessions by the words in them.

use serde_json::{Value, json};
use session_store::{Hit, SessionStore};

use super::{Sessions, line, row};
use crate::args::Scope;
use crate::error::CliError;
use crate::output::{self, Style, harmless};

pub(super) async fn run(
    sessions: &Sessions<'_>,
    text: &str,
    scope: &Scope,
    (limit, json): (usize, bool),
) -> Result<(), CliError> {
    let cwd = sessions.folder(scope)?;
    let hits =
        if sessions.empty { Vec::new() } else { sessions.store.search(text, cwd.as_deref(), limit).await? };
    if json {
        let rows: Vec<_> = hits.iter().map(hit).collect();
        return Ok(output::print(format_args!("{:#}\n", Value::Array(rows)))?);
    }
    if hits.is_empty() {
        output::remark(if scope.all {
            "nothing found"
        } else {
            "nothing found in this folder's sessions; --all looks in every folder's"
        });
    } else if hits.len() == limit {
        output::remark(format_args!("the last used {limit} are shown; --limit N shows more"));
    }
    let style = Style::of_stdout();
    let shown = |hit: &Hit| {
        format!("{}    {}\n", line(&hit.meta, scope.all, style), style.dim(&harmless(&hit.snippet)))
    };
    Ok(output::print(hits.iter().map(shown).collect::<String>())?)
}

fn hit(hit: &Hit) -> Value {
    let mut found = row(&hit.meta);
    found["snippet"] = json!(hit.snippet);
    found["turnId"] = json!(hit.message.as_ref().map(|message| message.turn.as_str()));
    found["messageId"] = json!(hit.message.as_ref().map(|message| message.id.as_str()));
    found
}
