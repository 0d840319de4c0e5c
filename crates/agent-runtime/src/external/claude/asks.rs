//! Answers Claude Code's requests for leave: by what is granted already, or by asking the user. Several can be open at
//! once; each ends with the turn, at the latest.

use session_model::source::Ids;
use session_model::{Ask, Grant, Severity, ToolCallId, ToolCallUpdate};

use super::line::{self, Asked};
use super::question;
use super::rows::Sketch;
use super::table::Known;
use crate::agent::reply::notice;
use crate::driver::Permissions;
use crate::gate::{self, Denial, Ruling, Verdict};
use crate::inquiry::{self, Outcome, Question};
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
                Denial::User | Denial::Dismissed | Denial::Rule(_) | Denial::Closed(_) | Denial::Mode => None,
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

/// Puts the program's own questions to the user.
async fn inquire(
    asked: &Asked,
    questions: &[Question],
    row: ToolCallId,
    io: &TurnIo,
) -> Result<Settled, Interrupted> {
    let (allowed, answer) = match inquiry::put(questions, &row, io).await? {
        Outcome::Answered(answers) => {
            (true, line::allow(&asked.request, &question::answered(&asked.call, questions, answers)))
        }
        Outcome::Declined | Outcome::Cancelled | Outcome::Unanswerable(_) => (
            false,
            line::deny(
                &asked.request,
                "the user did not answer; go on as you think best, or ask in your text",
            ),
        ),
    };
    Ok(Settled { request: asked.request.clone(), row, allowed, answer, grants: Vec::new(), cause: None })
}

/// Tells the user, once for each cause, that a call was refused because nobody could be asked.
pub(super) fn unanswerable(name: &str, cause: &str, ids: &dyn Ids) -> session_model::Event {
    let title = format!(
        "{name} was not run: {cause}. To run tools without being asked, use `/skip-permissions on` or set \
         `dangerously_skip_permissions`."
    );
    notice(Severity::Warning, title, ids)
}
