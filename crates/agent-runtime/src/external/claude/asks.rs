//! Answers Claude Code's requests for leave: by what is granted already, or by asking the user. Several can be open at
//! once; each ends with the turn, at the latest.

use session_model::source::Ids;
use session_model::{Answer, Ask, Grant, Severity, ToolCallId, ToolCallUpdate};

use super::line::{self, Asked};
use super::question;
use super::rows::Sketch;
use super::table::Known;
use crate::agent::reply::notice;
use crate::driver::Permissions;
use crate::gate::{self, Denial, Ruling, Verdict};
use crate::io::{Interrupted, TurnIo};
use crate::rules::Subject;
use crate::tools::Approval;

/// What became of a request.
#[derive(Debug)]
pub(super) struct Settled {
    /// The request.
    pub(super) request: String,
    /// The call's row.
    pub(super) row: ToolCallId,
    /// Whether the call goes on.
    pub(super) allowed: bool,
    /// What the program is answered.
    pub(super) answer: String,
    /// What "always" gave.
    pub(super) grants: Vec<Grant>,
    /// Why the user could not be asked.
    pub(super) cause: Option<String>,
}

/// Settles a request of the tool whose row is `row`. Waits for the user where one is to be asked.
pub(super) async fn settle(
    asked: Asked,
    known: Known,
    permissions: Permissions,
    io: TurnIo,
) -> Result<Settled, Interrupted> {
    let Known { row, sketch, subject } = known;
    if asked.call.name == question::TOOL
        && let Some(questions) = question::read(&asked.call)
    {
        return inquire(&asked, &questions, row.id, &io).await;
    }
    let ruling = rule(&sketch, &subject, &row, &permissions, &io).await?;
    let settled = |allowed, answer, grants, cause| Settled {
        request: asked.request.clone(),
        row: row.id.clone(),
        allowed,
        answer,
        grants,
        cause,
    };
    let allow = || line::allow(&asked.request, &asked.call.input);
    Ok(match ruling {
        Ruling::Once => settled(true, allow(), Vec::new(), None),
        Ruling::Always => settled(true, allow(), gate::grants(&sketch.tool, &sketch.ask).collect(), None),
        Ruling::Denied(denial) => {
            let answer = line::deny(&asked.request, &denial.to_string());
            let cause = match denial {
                Denial::Unanswerable(cause) => Some(cause),
                Denial::User | Denial::Rule(_) | Denial::Closed(_) | Denial::Mode => None,
            };
            settled(false, answer, Vec::new(), cause)
        }
    })
}

async fn rule(
    sketch: &Sketch,
    subject: &Subject,
    row: &ToolCallUpdate,
    permissions: &Permissions,
    io: &TurnIo,
) -> Result<Ruling, Interrupted> {
    let approval = Approval::Ask(sketch.ask.clone());
    let ask = match gate::decide(subject, &approval, permissions) {
        Verdict::Allowed => return Ok(Ruling::Once),
        Verdict::Denied(denial) => return Ok(Ruling::Denied(denial)),
        Verdict::Ask(ask) => ask.into_owned(),
    };
    let question = gate::question(&sketch.tool, row, &ask);
    let answer = io.ask(Ask::Permission(Box::new(question.clone()))).await?;
    Ok(gate::ruling(&question, &answer))
}

/// Puts the program's own questions to the user: as a form, else one by one.
async fn inquire(
    asked: &Asked,
    questions: &[question::Question],
    row: ToolCallId,
    io: &TurnIo,
) -> Result<Settled, Interrupted> {
    let answer = io.ask(Ask::Elicit(question::form(questions, &row))).await?;
    let answers = match &answer {
        Answer::Form(form) => Some(question::filled(questions, form)),
        Answer::Unanswerable(_) => one_by_one(questions, &row, io).await?,
        Answer::Selected(_) | Answer::Declined | Answer::Cancelled => None,
    };
    let (allowed, answer) = match answers {
        Some(answers) => (true, line::allow(&asked.request, &question::answered(&asked.call, answers))),
        None => (
            false,
            line::deny(
                &asked.request,
                "the user did not answer; go on as you think best, or ask in your text",
            ),
        ),
    };
    Ok(Settled { request: asked.request.clone(), row, allowed, answer, grants: Vec::new(), cause: None })
}

async fn one_by_one(
    questions: &[question::Question],
    row: &ToolCallId,
    io: &TurnIo,
) -> Result<Option<serde_json::Map<String, serde_json::Value>>, Interrupted> {
    let mut answers = serde_json::Map::new();
    for question in questions {
        let Some(ask) = question::buttons(question, row) else { return Ok(None) };
        let answer = io.ask(Ask::Permission(Box::new(ask))).await?;
        let Some(choice) = question::pressed(question, &answer) else { return Ok(None) };
        answers.insert(question::text(question).to_owned(), choice.into());
    }
    Ok(Some(answers))
}

/// Tells the user, once for each cause, that a call was refused because nobody could be asked.
pub(super) fn unanswerable(name: &str, cause: &str, ids: &dyn Ids) -> session_model::Event {
    let title = format!(
        "{name} was not run: {cause}. To run tools without being asked, use `/skip-permissions on` or set \
         `dangerously_skip_permissions`."
    );
    notice(Severity::Warning, title, ids)
}
