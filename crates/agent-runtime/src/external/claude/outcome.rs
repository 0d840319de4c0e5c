//! What the end of a run means, in a sentence with its remedy. Pure.

use std::io;
use std::process::ExitStatus;

use session_model::StopReason;

use super::line::End;
use crate::external::failure::{self, Failure, bounded, ending, without_warnings};

/// What came of a run that says how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Whole(StopReason),
    /// The conversation to take up is not known.
    Unknown,
    Failed(Failure),
}

pub(super) fn of(end: &End) -> Verdict {
    if end.subtype == "error_max_turns" {
        return Verdict::Whole(StopReason::MaxTurnRequests);
    }
    if !end.failed {
        return Verdict::Whole(match end.stop.as_str() {
            "max_tokens" => StopReason::MaxTokens,
            "refusal" => StopReason::Refusal,
            _ => StopReason::EndTurn,
        });
    }
    let said = if end.text.is_empty() { end.errors.join("; ") } else { end.text.clone() };
    if is_unknown(&said) {
        return Verdict::Unknown;
    }
    if said.is_empty() {
        let reason = format!("it failed and did not say why ({})", end.subtype);
        return Verdict::Failed(Failure { code: "external_failed", reason });
    }
    Verdict::Failed(explain(&said))
}

/// What the program says of a conversation it cannot take up.
pub(super) fn is_unknown(said: &str) -> bool {
    said.contains("No conversation found with session ID")
}

/// What it says of an id under which there is a conversation already.
pub(super) fn is_taken(said: &str) -> bool {
    said.contains("Session ID") && said.contains("already in use")
}

/// A run that ended without saying how.
pub(super) fn unexpected(status: Option<ExitStatus>, said: &str) -> Failure {
    let said = without_warnings(said);
    if !said.is_empty() {
        let Failure { code, reason } = explain(&said);
        return Failure { code, reason: format!("{reason} ({})", ending(status)) };
    }
    failure::unexpected(status, "")
}

fn explain(said: &str) -> Failure {
    let lower = said.to_lowercase();
    let login = ["please run /login", "not logged in", "invalid api key", "authentication_error"];
    if login.iter().any(|sign| lower.contains(sign)) {
        let reason = format!(
            "it is not logged in ({}); run `claude` once in a terminal and log in, or give it a key in \
             ANTHROPIC_API_KEY",
            one_line(said)
        );
        return Failure { code: "external_unauthorized", reason };
    }
    Failure { code: "external_failed", reason: bounded(said) }
}

/// A program that could not be started.
pub(super) fn unstartable(bin: &str, error: &io::Error) -> Failure {
    const REMEDY: &str =
        "install Claude Code (`npm install -g @anthropic-ai/claude-code`) or set the agent's `bin`";
    failure::unstartable(bin, error, REMEDY)
}

fn one_line(text: &str) -> String {
    crate::tools::text::one_line(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(failed: bool, subtype: &str, stop: &str, text: &str, errors: &[&str]) -> End {
        End {
            session: None,
            failed,
            subtype: subtype.to_owned(),
            stop: stop.to_owned(),
            text: text.to_owned(),
            errors: errors.iter().map(|&error| error.to_owned()).collect(),
            usage: None,
            model: String::new(),
            window: None,
            cost: 0.0,
        }
    }

    #[test]
    fn an_end_means_what_it_says() {
        let failed = |code, reason: &str| Verdict::Failed(Failure { code, reason: reason.to_owned() });
        let rows = [
            (end(false, "success", "end_turn", "Hi", &[]), Verdict::Whole(StopReason::EndTurn)),
            (end(false, "success", "max_tokens", "", &[]), Verdict::Whole(StopReason::MaxTokens)),
            (end(false, "success", "refusal", "", &[]), Verdict::Whole(StopReason::Refusal)),
            (end(true, "error_max_turns", "", "", &[]), Verdict::Whole(StopReason::MaxTurnRequests)),
            (
                end(true, "error_during_execution", "", "", &["No conversation found with session ID: 1"]),
                Verdict::Unknown,
            ),
            (
                end(true, "success", "", "API Error: 500 boom", &[]),
                failed("external_failed", "API Error: 500 boom"),
            ),
            (
                end(true, "error_during_execution", "", "", &[]),
                failed("external_failed", "it failed and did not say why (error_during_execution)"),
            ),
            (
                end(true, "success", "", "Invalid API key · Please run /login", &[]),
                failed(
                    "external_unauthorized",
                    "it is not logged in (Invalid API key · Please run /login); run `claude` once in a terminal and \
                     log in, or give it a key in ANTHROPIC_API_KEY",
                ),
            ),
        ];
        for (end, verdict) in rows {
            assert_eq!(of(&end), verdict, "{end:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_run_that_says_nothing_of_its_end_is_a_failure_with_the_cause() {
        use std::os::unix::process::ExitStatusExt as _;
        let code = |code: i32| Some(ExitStatus::from_raw(code << 8));
        let rows = [
            (code(0), "", "it ended without an answer or a word (exit status: 0)"),
            (code(1), "(node:1) Warning: old\nboom\n", "boom (exit status: 1)"),
            (Some(ExitStatus::from_raw(9)), "", "it ended without an answer or a word (signal: 9 (SIGKILL))"),
            (None, "", "it ended without an answer or a word (it closed its output and had to be killed)"),
        ];
        for (status, said, reason) in rows {
            assert_eq!(unexpected(status, said).reason, reason);
        }
        assert!(is_taken("Error: Session ID 1 is already in use."));
    }

    #[test]
    fn a_missing_program_is_named_with_the_remedy() {
        let failure = unstartable("claude", &io::Error::from(io::ErrorKind::NotFound));
        assert!(
            failure.reason.contains("there is no such program; install Claude Code"),
            "{}",
            failure.reason
        );
    }
}
