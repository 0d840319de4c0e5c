//! Runs multi-agent pipelines as pure state machines over a stage port.
//!
//! [`Machine`] decides what comes next and does nothing itself; [`run`] carries its moves out through a
//! [`StageRunner`] and keeps a [`Checkpoint`] before every one of them, so that a workflow that was cancelled, failed
//! or killed goes on where it was. Knows nothing of agents, models, sessions or ACP.

mod checkpoint;
mod error;
mod machine;
mod plan;
mod port;
mod progress;
mod prompts;
mod run;
mod verdict;

pub use checkpoint::{Checkpoint, Judgement, Phase, Workflow};
pub use error::{CheckpointError, StageError, WorkflowError};
pub use machine::{Machine, Move, Step};
pub use port::{Checkpoints, Event, Report, RoleName, Stage, StageReply, StageRunner};
pub use run::run;
pub use verdict::Verdict;
