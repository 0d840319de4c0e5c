//! What all programs have in common that are started once a turn and work without asking: how they are described, what
//! they are told, and how they are broken off.

use std::fmt;
use std::io;
use std::time::Duration;

use serde_json::Map;
use session_model::source::{IdKind, Ids};
use session_model::{
    AgentId, Ask, Content, Event, Severity, Spent, TokenUsage, ToolCallId, ToolCallUpdate, ToolKind,
    ToolStatus,
};
use tempfile::NamedTempFile;

use super::brief::{self, Told};
use super::past;
use crate::agent::reply::notice;
use crate::driver::{TurnError, TurnInput};
use crate::gate::{self, Denial, Ruling, Verdict};
use crate::handover::Handover;
use crate::providers::content::{Media, Part, parts_of};
use crate::rules::Subject;
use crate::tools::support::blocking;
use crate::tools::{Approval, ApprovalAsk, Workspace};
use crate::waits::Waits;

/// How long a program may take to stop when the turn is cancelled; less than the turn's own grace.
pub(super) const STOP_GRACE: Duration = Duration::from_millis(1_200);
/// How long it may take to end once it has said its last word.
pub(super) const EXIT_GRACE: Duration = Duration::from_secs(2);

/// Variables with keys of milk's user, which are the program's only where the configuration says so.
pub(super) const KEYS: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// Variables of a child. Their values are never shown.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Variables(pub Vec<(String, String)>);

impl Variables {
    /// Each with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// A program that is run once a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramConfig {
    /// The agent's name.
    pub name: String,
    /// The program, by path or name.
    pub bin: String,
    /// The model to ask for; empty leaves it to the program.
    pub model: String,
    /// Where the model's server is; empty leaves it to the program.
    pub api_base: String,
    /// Arguments at the end, before the prompt.
    pub extra_args: Vec<String>,
    /// Variables that replace milk's own; keys are among them.
    pub env: Variables,
    /// What the user wants it to be told at all times.
    pub instructions: Option<String>,
    /// Whether the prompt is an argument, for all on the machine to see.
    pub prompt_argument: bool,
    /// Bytes of earlier conversation it is told at most.
    pub past_bytes: usize,
    /// How long a turn may take; waiting for the user does not count.
    pub turn_limit: Duration,
}

impl ProgramConfig {
    /// The agent of this name, run by this program, with everything as it usually is.
    #[must_use]
    pub fn new(name: &str, bin: &str) -> Self {
        Self {
            name: name.to_owned(),
            bin: bin.to_owned(),
            model: String::new(),
            api_base: String::new(),
            extra_args: Vec::new(),
            env: Variables::default(),
            instructions: None,
            prompt_argument: false,
            past_bytes: 24_000,
            turn_limit: Duration::from_mins(10),
        }
    }

    /// What it is told beside the prompt. It remembers nothing, so it is told everything.
    pub(super) fn words(&self, input: &TurnInput) -> String {
        let past = past(&input.history, &AgentId::from(self.name.as_str()), None, self.past_bytes);
        let handed = input.handover.as_ref().map(Handover::preface).unwrap_or_default();
        let told = [past.whole.as_str(), handed.trim_end()];
        let told: Vec<&str> = told.into_iter().filter(|part| !part.is_empty()).collect();
        let relief = input.handover.as_ref().and_then(|handover| handover.relief.as_deref());
        let told = Told { text: &told.join("\n\n"), resumed: false };
        brief::words(self.instructions.as_deref(), relief, &told)
    }

    pub(super) fn failed(&self, code: &'static str, reason: impl Into<String>) -> TurnError {
        TurnError::External { agent: self.name.clone(), code, reason: reason.into() }
    }

    /// What a run took.
    pub(super) fn spent(&self, tokens: TokenUsage, dollars: Option<f64>) -> Event {
        let agent = AgentId::from(self.name.as_str());
        Event::Spent(Spent { agent, model: self.model.clone(), tokens, dollars })
    }
}

/// The words of a prompt; what is no text is named.
pub(super) fn text_of_prompt(prompt: &[Content]) -> String {
    let mut text = String::new();
    for part in parts_of(prompt, Media { images: false, sounds: false }) {
        match part {
            Part::Text(part) => text.push_str(&part),
            // None are asked for.
            Part::Image { .. } | Part::Sound { .. } => {}
        }
    }
    text
}

/// A file with this text for the child.
pub(super) async fn file(
    config: &ProgramConfig,
    suffix: &'static str,
    text: String,
) -> Result<NamedTempFile, TurnError> {
    let written = tokio::task::spawn_blocking(move || brief::file(suffix, &text)).await;
    written
        .unwrap_or_else(|error| Err(io::Error::other(error)))
        .map_err(|error| config.failed("external_failed", format!("cannot write what it is told: {error}")))
}

/// Whether a program may work.
#[derive(Debug)]
pub(super) enum Leave {
    /// It may; the row of the question, if there was one.
    Given(Option<ToolCallId>),
    /// The user said no.
    Refused,
}

/// Asks whether a program that asks nothing itself may work, unless that is decided already: by a rule, by the session's
/// mode, or by an "always" in this session. `what` says what it may do then.
///
/// # Errors
/// Where it may not and the user was not asked.
pub(super) async fn leave(
    config: &ProgramConfig,
    what: &str,
    input: &TurnInput,
    waits: &Waits,
    ids: &dyn Ids,
) -> Result<Leave, TurnError> {
    let approval = Approval::Ask(ApprovalAsk {
        description: what.to_owned(),
        scopes: vec![session_model::GrantScope::Tool],
    });
    let subject = subject(&config.name, input).await;
    let ask = match gate::decide(&subject, &approval, &input.permissions) {
        Verdict::Allowed => return Ok(Leave::Given(None)),
        Verdict::Denied(denial) => return Err(config.failed("external_refused", refusal(&denial))),
        Verdict::Ask(ask) => ask.into_owned(),
    };
    let mut row = ToolCallUpdate::new(ToolCallId::from(ids.fresh(IdKind::ToolCall)));
    row.name = Some(config.name.clone());
    row.title = Some(format!("{}: works in this folder without asking again", config.name));
    row.kind = Some(ToolKind::Execute);
    row.status = Some(ToolStatus::Pending);
    row.step = Some(0);
    waits.emit(Event::ToolCall(row.clone())).await?;
    let question = gate::question(&config.name, &row, &ask);
    let answer = waits.ask(Ask::Permission(Box::new(question.clone()))).await?;
    let mut news = ToolCallUpdate::new(row.id.clone());
    let ruling = gate::ruling(&question, &answer);
    let is_given = matches!(ruling, Ruling::Once | Ruling::Always);
    news.status = Some(if is_given { ToolStatus::InProgress } else { ToolStatus::Failed });
    waits.emit(Event::ToolCall(news)).await?;
    match ruling {
        Ruling::Once => {}
        Ruling::Always => {
            for grant in gate::grants(&config.name, &ask) {
                waits.granted(grant).await?;
            }
        }
        Ruling::Denied(Denial::User) => {
            let title = format!("{} was not run, as you wished.", config.name);
            waits.emit(notice(Severity::Info, title, ids)).await?;
            return Ok(Leave::Refused);
        }
        Ruling::Denied(denial) => return Err(config.failed("external_refused", refusal(&denial))),
    }
    Ok(Leave::Given(Some(row.id)))
}

/// The end of the row of the question.
pub(super) fn over(row: ToolCallId, failed: bool) -> Event {
    let mut update = ToolCallUpdate::new(row);
    update.status = Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed });
    Event::ToolCall(update)
}

async fn subject(name: &str, input: &TurnInput) -> Subject {
    let workspace = Workspace::local(input.cwd.clone(), input.additional_roots.clone());
    let look = {
        let (name, workspace) = (name.to_owned(), workspace.clone());
        move || Ok(Subject::named(&name, ToolKind::Execute, &Map::new(), &[], &workspace))
    };
    // Only a pool that is gone keeps it from being looked at there.
    blocking(look)
        .await
        .unwrap_or_else(|_| Subject::named(name, ToolKind::Execute, &Map::new(), &[], &workspace))
}

fn refusal(denial: &Denial) -> String {
    match denial {
        Denial::Mode => {
            "it works without asking, which the session's mode does not allow; choose another mode or \
                         another agent"
                .to_owned()
        }
        Denial::Rule(rule) => format!("the rule `{rule}` of your configuration refuses it"),
        Denial::Unanswerable(cause) => format!(
            "it works without asking, and you could not be asked whether it may: {cause}; allow it with \
             `permissions.allow`, or use `/skip-permissions on`"
        ),
        Denial::Closed(_) | Denial::User | Denial::Dismissed => denial.to_string(),
    }
}
