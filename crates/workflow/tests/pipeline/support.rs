//! Scripted stages.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use workflow::{
    Checkpoint, CheckpointError, Checkpoints, Event, Machine, Report, RoleName, StageError, StageReply,
    StageRunner, WorkflowError, run,
};

/// Gives the scripted replies and remembers what was asked.
#[derive(Default)]
pub(crate) struct Script {
    replies: Mutex<VecDeque<(&'static str, Result<&'static str, StageError>)>>,
    prompts: Mutex<Vec<String>>,
    pub(crate) answer: Option<&'static str>,
    pub(crate) changes: Option<&'static str>,
    saved: Mutex<Vec<Checkpoint>>,
    pub(crate) full: bool,
}

impl Script {
    pub(crate) fn new(replies: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let replies = replies.into_iter().map(|(role, text)| (role, Ok(text))).collect();
        Self { replies: Mutex::new(replies), ..Self::default() }
    }

    pub(crate) fn then(self, role: &'static str, reply: Result<&'static str, StageError>) -> Self {
        self.replies.lock().unwrap().push_back((role, reply));
        self
    }

    pub(crate) fn prompt(&self, index: usize) -> String {
        self.prompts.lock().unwrap()[index].clone()
    }

    pub(crate) fn last(&self) -> Checkpoint {
        self.saved.lock().unwrap().last().unwrap().clone()
    }

    pub(crate) async fn go(&self, machine: Machine) -> (Result<Report, WorkflowError>, Vec<Event>) {
        let events = Mutex::new(Vec::new());
        let result = run(machine, self, self, &|event| events.lock().unwrap().push(event)).await;
        assert!(self.replies.lock().unwrap().is_empty(), "replies left over");
        (result, events.into_inner().unwrap())
    }
}

#[async_trait]
impl StageRunner for Script {
    async fn run(&self, role: &RoleName, prompt: String) -> Result<StageReply, StageError> {
        let (expected, reply) = self.replies.lock().unwrap().pop_front().expect("an unscripted turn");
        assert_eq!(role.as_str(), expected);
        self.prompts.lock().unwrap().push(prompt);
        reply.map(|text| StageReply { text: text.to_owned() })
    }

    async fn changes(&self) -> Option<String> {
        self.changes.map(str::to_owned)
    }

    async fn answer(&self, _question: &str) -> Result<String, StageError> {
        Ok(self.answer.unwrap_or("continue").to_owned())
    }
}

impl Checkpoints for Script {
    fn save(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        if self.full {
            return Err(CheckpointError("the disk is full".to_owned()));
        }
        // As a file would keep it.
        let json = serde_json::to_string(checkpoint).unwrap();
        self.saved.lock().unwrap().push(serde_json::from_str(&json).unwrap());
        Ok(())
    }
}
