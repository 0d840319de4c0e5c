//! Why a run of an external program failed, in a sentence with its remedy. Pure.

use std::io;
use std::process::ExitStatus;

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: &'static str,
    pub(super) reason: String,
}

/// A run that ended without saying how, though `said` is what it said elsewhere.
pub(super) fn unexpected(status: Option<ExitStatus>, said: &str) -> Failure {
    let said = without_warnings(said);
    if said.is_empty() {
        let reason = format!("it ended without an answer or a word ({})", ending(status));
        return Failure { code: "external_exited", reason };
    }
    Failure { code: "external_failed", reason: format!("{} ({})", bounded(&said), ending(status)) }
}

/// How it ended.
pub(super) fn ending(status: Option<ExitStatus>) -> String {
    match status {
        None => "it closed its output and had to be killed".to_owned(),
        Some(status) => status.to_string(),
    }
}

/// Without lines that are no reason for anything.
pub(super) fn without_warnings(said: &str) -> String {
    let noise = |line: &&str| {
        let lower = line.to_lowercase();
        !(line.trim().is_empty() || lower.contains("warning:") || lower.contains("deprecationwarning"))
    };
    let lines: Vec<&str> = said.lines().filter(noise).collect();
    lines.join("\n")
}

/// A program that could not be started; `remedy` is what helps where there is none.
pub(super) fn unstartable(bin: &str, error: &io::Error, remedy: &str) -> Failure {
    let reason = if error.kind() == io::ErrorKind::NotFound {
        format!("cannot start `{bin}`: there is no such program; {remedy}")
    } else {
        format!("cannot start `{bin}`: {error}")
    };
    Failure { code: "external_missing", reason }
}

/// What fits into an error.
pub(super) fn bounded(text: &str) -> String {
    const CHARS: usize = 2_000;
    let text = text.trim();
    if text.chars().count() <= CHARS {
        text.to_owned()
    } else {
        text.chars().take(CHARS).chain(['…']).collect()
    }
}
