//! `milk sessions prune`: delete what has not been used for long.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::{Value, json};
use session_store::{Lease, SessionMeta, SessionStore, StoreError};
use time::OffsetDateTime;

use super::list::stored;
use super::{Sessions, line, row};
use crate::args::{PruneArgs, Scope};
use crate::error::CliError;
use crate::output::{self, Style};

pub(super) async fn run(sessions: &Sessions<'_>, args: &PruneArgs) -> Result<(), CliError> {
    let before = OffsetDateTime::now_utc().checked_sub(args.older_than).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let scope = Scope { cwd: args.cwd.clone(), all: args.cwd.is_none() };
    let mut old = stored(sessions, &scope).await?;
    old.retain(|meta| meta.updated_at < before);
    if old.is_empty() && !args.json {
        output::remark("no session is that old");
        return Ok(());
    }
    if args.dry_run {
        return dry(sessions, &old, args.json).await;
    }
    if !args.yes && !old.is_empty() {
        confirm(&old)?;
    }
    let mut outcomes = Vec::new();
    for meta in old {
        let outcome = delete(sessions, &meta, before).await?;
        if !args.json && outcome.is_none() {
            output::print(format_args!("deleted {}\n", meta.id))?;
        }
        outcomes.push((meta, outcome));
    }
    report(&outcomes, "deleted", args.json)
}

/// Says what would be done.
async fn dry(sessions: &Sessions<'_>, old: &[SessionMeta], json: bool) -> Result<(), CliError> {
    let mut outcomes = Vec::new();
    for meta in old {
        let outcome = lease(sessions, meta).await?.err();
        if !json && outcome.is_none() {
            output::print(line(meta, true, Style::of_stdout()))?;
        }
        outcomes.push((meta.clone(), outcome));
    }
    report(&outcomes, "would be deleted", json)
}

/// Why a session stays, by session.
type Outcome = (SessionMeta, Option<String>);

fn report(outcomes: &[Outcome], done: &str, json: bool) -> Result<(), CliError> {
    if json {
        let told = |(meta, kept): &Outcome| {
            let mut found = row(meta);
            found["deleted"] = json!(kept.is_none() && done == "deleted");
            found["kept"] = json!(kept);
            found
        };
        let rows: Vec<_> = outcomes.iter().map(told).collect();
        return Ok(output::print(format_args!("{:#}\n", Value::Array(rows)))?);
    }
    for (meta, kept) in outcomes {
        if let Some(cause) = kept {
            output::remark(format_args!("kept {}: {cause}", meta.id));
        }
    }
    let count = outcomes.iter().filter(|(_, kept)| kept.is_none()).count();
    output::remark(format_args!("{} {done}", sessions_of(count)));
    Ok(())
}

/// Takes a session; the inner failure says who has it.
async fn lease(sessions: &Sessions<'_>, meta: &SessionMeta) -> Result<Result<Lease, String>, CliError> {
    match sessions.store.lease(&meta.id).await {
        Ok(lease) => Ok(Ok(lease)),
        Err(error @ StoreError::Leased { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Deletes a session, unless it is open or was used meanwhile; why it stays.
async fn delete(
    sessions: &Sessions<'_>,
    meta: &SessionMeta,
    before: OffsetDateTime,
) -> Result<Option<String>, CliError> {
    let _lease = match lease(sessions, meta).await? {
        Ok(lease) => lease,
        Err(cause) => return Ok(Some(cause)),
    };
    match sessions.store.meta(&meta.id).await {
        Ok(now) if now.updated_at >= before => return Ok(Some("it was used meanwhile".to_owned())),
        Ok(_) => {}
        Err(StoreError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    sessions.store.delete(&meta.id).await?;
    Ok(None)
}

/// Asks at the terminal; without one there is nobody to ask.
fn confirm(old: &[SessionMeta]) -> Result<(), CliError> {
    let count = sessions_of(old.len());
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(CliError::Undone(format!(
            "{count} would be deleted and there is no terminal to ask at; add --yes, or --dry-run to see which"
        )));
    }
    let style = Style::of_stdout();
    for meta in old {
        output::print(line(meta, true, style))?;
    }
    write!(io::stderr(), "milk: delete {count}? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(CliError::Input)?;
    if is_yes(&answer) { Ok(()) } else { Err(CliError::Undone("nothing was deleted".to_owned())) }
}

/// Anything but a clear yes is none.
fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

fn sessions_of(count: usize) -> String {
    format!("{count} session{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{is_yes, sessions_of};

    #[test]
    fn only_a_clear_yes_deletes() {
        for (answer, yes) in
            [("y\n", true), (" YES \n", true), ("", false), ("\n", false), ("n", false), ("yesterday", false)]
        {
            assert_eq!(is_yes(answer), yes, "{answer:?}");
        }
        assert_eq!((sessions_of(1), sessions_of(0)), ("1 session".to_owned(), "0 sessions".to_owned()));
    }
}
