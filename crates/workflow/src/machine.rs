//! Decides what comes next. Pure: everything it knows is in its [`Checkpoint`].

use crate::checkpoint::FORMAT;
use crate::plan::{self, Design};
use crate::port::CONTINUE;
use crate::{
    Checkpoint, Event, Judgement, Phase, Report, RoleName, Stage, StageReply, Verdict, Workflow,
    WorkflowError, prompts,
};

/// A workflow under way.
#[derive(Debug, Clone)]
pub struct Machine {
    state: Checkpoint,
    notes: Vec<Event>,
}

/// What came of the last move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing yet: the beginning, or the beginning after a checkpoint.
    Begin,
    /// A role's reply.
    Reply(StageReply),
    /// The user's answer.
    Answer(String),
    /// The changes in the workspace, where they can be told.
    Changes(Option<String>),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// Run a role's turn; answered by [`Step::Reply`].
    Stage(Stage),
    /// Ask the user; answered by [`Step::Answer`].
    Ask(String),
    /// Look at the workspace; answered by [`Step::Changes`].
    Changes,
    /// All done.
    Finish(Report),
    /// It cannot go on.
    Fail(WorkflowError),
}

impl Machine {
    /// At the beginning of `task`.
    pub fn new(workflow: Workflow, task: impl Into<String>) -> Self {
        let state = Checkpoint {
            format: FORMAT,
            workflow,
            task: task.into(),
            phase: Phase::Design,
            plan: String::new(),
            sprint: 1,
            pass: 1,
            passes: None,
            findings: String::new(),
            summary: String::new(),
            judgements: Vec::new(),
        };
        Self { state, notes: Vec::new() }
    }

    /// Where `checkpoint` was taken: the move that was pending is made again. A sprint that had used up its passes
    /// gets as many again.
    ///
    /// # Errors
    /// [`WorkflowError::Newer`] or [`WorkflowError::Complete`].
    pub fn resume(mut checkpoint: Checkpoint) -> Result<Self, WorkflowError> {
        if checkpoint.format > FORMAT {
            return Err(WorkflowError::Newer { found: checkpoint.format, known: FORMAT });
        }
        if checkpoint.phase == Phase::Done {
            return Err(WorkflowError::Complete);
        }
        if let Some(limit) = checkpoint.passes.filter(|limit| checkpoint.pass > *limit) {
            checkpoint.passes = Some(limit.saturating_mul(2));
        }
        Ok(Self { state: checkpoint, notes: Vec::new() })
    }

    /// Where it stands.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.state
    }

    /// Takes what came of the last move and gives the next. A step that does not answer the pending move changes
    /// nothing, and the move is given again.
    pub fn next(&mut self, step: Step) -> Move {
        match (self.state.phase.clone(), step) {
            (Phase::Design, Step::Reply(reply)) => match plan::read(&reply.text) {
                Design::Questions(questions) => self.state.phase = Phase::Clarify { questions },
                Design::Plan(plan) => return self.planned(plan),
            },
            (Phase::Clarify { questions }, Step::Answer(answers)) => {
                self.state.phase = Phase::Redesign { questions, answers };
            }
            (Phase::Redesign { .. }, Step::Reply(reply)) => {
                // A marker out of habit, or not.
                let (Design::Plan(plan) | Design::Questions(plan)) = plan::read(&reply.text);
                return self.planned(plan);
            }
            (Phase::Generate, Step::Reply(reply)) => {
                let text = reply.text.trim();
                self.state.phase = if text.is_empty() { Phase::Inspect } else { Phase::Evaluate };
                text.clone_into(&mut self.state.summary);
            }
            (Phase::Inspect, Step::Changes(changes)) => {
                self.state.summary = changes.unwrap_or_default();
                self.state.phase = Phase::Evaluate;
            }
            (Phase::Evaluate, Step::Reply(reply)) => match self.state.workflow {
                Workflow::Dev => return self.judged(&reply.text, None),
                Workflow::Pair => self.state.phase = Phase::Review { evaluation: reply.text },
            },
            (Phase::Review { evaluation }, Step::Answer(answer)) => {
                let wish = Some(answer.trim()).filter(|answer| !matches!(*answer, "" | CONTINUE));
                return self.judged(&evaluation, wish);
            }
            (
                Phase::Design
                | Phase::Clarify { .. }
                | Phase::Redesign { .. }
                | Phase::Generate
                | Phase::Inspect
                | Phase::Evaluate
                | Phase::Review { .. }
                | Phase::Done,
                Step::Begin | Step::Reply(_) | Step::Answer(_) | Step::Changes(_),
            ) => {}
        }
        self.pending()
    }

    /// What is to be told since the last time.
    pub(crate) fn take_notes(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.notes)
    }

    fn planned(&mut self, plan: String) -> Move {
        if plan.is_empty() {
            return Move::Fail(WorkflowError::NoPlan);
        }
        self.state.passes = Some(plan::passes(&plan));
        self.state.plan = plan;
        self.state.phase = Phase::Generate;
        self.pending()
    }

    /// Applies an evaluation; a `wish` of the user asks for another pass whatever the verdict.
    fn judged(&mut self, evaluation: &str, wish: Option<&str>) -> Move {
        let verdict = Verdict::find(evaluation);
        let Checkpoint { sprint, pass, .. } = self.state;
        let judgement = Judgement { sprint, pass, verdict };
        self.state.judgements.push(judgement.clone());
        self.notes.push(Event::Judged(judgement));
        if verdict.is_none() {
            let text = format!(
                "the evaluator gave no verdict in sprint {sprint}, pass {pass}; taken as a need for refinement"
            );
            self.notes.push(Event::Warning(text));
        }
        if wish.is_none() && verdict.is_some_and(Verdict::passes) {
            self.next_sprint();
            return self.pending();
        }
        let wish = wish.map(|wish| format!("\n\nThe user says:\n{wish}")).unwrap_or_default();
        self.state.findings = format!("{}{wish}", evaluation.trim());
        self.state.pass += 1;
        self.state.phase = Phase::Generate;
        self.pending()
    }

    fn next_sprint(&mut self) {
        self.state.findings.clear();
        let count = u32::try_from(plan::sprints(&self.state.plan).len()).unwrap_or(u32::MAX);
        if self.state.sprint >= count {
            self.state.phase = Phase::Done;
        } else {
            self.state.sprint += 1;
            self.state.pass = 1;
            self.state.passes = Some(plan::passes(&self.state.plan));
            self.state.phase = Phase::Generate;
        }
    }

    fn pending(&self) -> Move {
        let state = &self.state;
        match &state.phase {
            Phase::Design => planning(prompts::design(state)),
            Phase::Clarify { questions } => Move::Ask(questions.clone()),
            Phase::Redesign { questions, answers } => planning(prompts::redesign(state, questions, answers)),
            Phase::Generate => {
                let limit = self.limit();
                if state.pass > limit {
                    return Move::Fail(WorkflowError::Exhausted { sprint: state.sprint, limit });
                }
                self.working(RoleName::GENERATOR, prompts::generate(state, &self.section(), limit))
            }
            Phase::Inspect => Move::Changes,
            Phase::Evaluate => {
                self.working(RoleName::EVALUATOR, prompts::evaluate(state, &self.section(), self.limit()))
            }
            Phase::Review { evaluation } => Move::Ask(prompts::review(state, evaluation)),
            Phase::Done => Move::Finish(Report {
                workflow: state.workflow,
                task: state.task.clone(),
                plan: state.plan.clone(),
                judgements: state.judgements.clone(),
                summary: state.summary.clone(),
            }),
        }
    }

    fn working(&self, role: RoleName, prompt: String) -> Move {
        Move::Stage(Stage { role, sprint: Some(self.state.sprint), pass: Some(self.state.pass), prompt })
    }

    fn limit(&self) -> u32 {
        self.state.passes.unwrap_or_else(|| plan::passes(&self.state.plan))
    }

    fn section(&self) -> String {
        let index = usize::try_from(self.state.sprint.saturating_sub(1)).unwrap_or(usize::MAX);
        let sections = plan::sprints(&self.state.plan);
        sections.into_iter().nth(index).unwrap_or_else(|| self.state.plan.clone())
    }
}

fn planning(prompt: String) -> Move {
    Move::Stage(Stage { role: RoleName::DESIGNER, sprint: None, pass: None, prompt })
}
