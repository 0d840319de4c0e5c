//! Carries a machine's moves out.

use crate::{
    Checkpoints, Event, Machine, Move, Report, RoleName, StageError, StageRunner, Step, WorkflowError,
};

/// Runs a workflow to its end, telling `on` what happens. Each move is kept in `saves` before it is made, so that
/// dropping the future at any point loses at most the turn under way.
///
/// # Errors
/// Fails when it is cancelled, when a turn fails, when there is no plan, or when a sprint does not pass within its
/// limit. All of these can be resumed from the last checkpoint.
pub async fn run(
    mut machine: Machine,
    stages: &dyn StageRunner,
    saves: &dyn Checkpoints,
    on: &(dyn Fn(Event) + Sync),
) -> Result<Report, WorkflowError> {
    let mut step = Step::Begin;
    loop {
        let next = machine.next(step);
        machine.take_notes().into_iter().for_each(on);
        if let Err(error) = saves.save(machine.checkpoint()) {
            on(Event::Warning(error.to_string()));
        }
        on(Event::Progress(machine.checkpoint().progress()));
        step = match next {
            Move::Stage(stage) => {
                let (role, prompt) = (stage.role.clone(), stage.prompt.clone());
                on(Event::Started(stage));
                let reply = stages.run(&role, prompt).await.map_err(|error| failed(&role, error))?;
                on(Event::Finished { role, text: reply.text.clone() });
                Step::Reply(reply)
            }
            Move::Ask(question) => {
                let asking = RoleName::DESIGNER;
                let answer = stages.answer(&question).await.map_err(|error| failed(&asking, error))?;
                on(Event::Answered { question, answer: answer.clone() });
                Step::Answer(answer)
            }
            Move::Changes => Step::Changes(stages.changes().await),
            Move::Finish(report) => return Ok(report),
            Move::Fail(error) => return Err(error),
        };
    }
}

fn failed(role: &RoleName, error: StageError) -> WorkflowError {
    match error {
        StageError::Cancelled => WorkflowError::Cancelled,
        StageError::Failed(reason) => WorkflowError::Stage { role: role.clone(), reason },
    }
}
