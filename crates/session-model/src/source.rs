//! Where time and fresh ids come from. Libraries take these; only the binary makes real ones, and tests make
//! predictable ones.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use time::OffsetDateTime;

/// Wall time. (Timers are the runtime's.)
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// Now, in UTC.
    fn now(&self) -> OffsetDateTime;
}

/// Fresh identifiers.
pub trait Ids: fmt::Debug + Send + Sync + 'static {
    /// An id never given before, in this process or an earlier one.
    fn fresh(&self, kind: IdKind) -> String;
}

/// What an id is for; it may show in the id's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// A session: a UUID.
    Session,
    /// A turn.
    Turn,
    /// A message.
    Message,
    /// A tool call.
    ToolCall,
    /// A question.
    Ask,
    /// A compaction.
    Compaction,
}

impl IdKind {
    /// A short prefix for readable ids.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Message => "msg",
            Self::ToolCall => "call",
            Self::Ask => "ask",
            Self::Compaction => "compaction",
        }
    }
}

/// Sequential ids (`msg-1`, `msg-2`, …), for tests and demonstrations: unique only within one value.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl Ids for SequentialIds {
    fn fresh(&self, kind: IdKind) -> String {
        format!("{}-{}", kind.prefix(), self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Random ids: a UUID for a session; otherwise a readable prefix, a part drawn once per value, and a counter.
#[derive(Debug)]
pub struct RandomIds {
    run: String,
    next: AtomicU64,
}

impl RandomIds {
    /// Draws the part that tells this process's ids from every other's.
    #[must_use]
    pub fn new() -> Self {
        let run = uuid::Uuid::new_v4().simple().to_string();
        Self { run: run[..12].to_owned(), next: AtomicU64::new(1) }
    }
}

impl Default for RandomIds {
    fn default() -> Self {
        Self::new()
    }
}

impl Ids for RandomIds {
    fn fresh(&self, kind: IdKind) -> String {
        if kind == IdKind::Session {
            return uuid::Uuid::new_v4().to_string();
        }
        format!("{}-{}-{}", kind.prefix(), self.run, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// A clock that stands still, for tests.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub OffsetDateTime);

impl Clock for FixedClock {
    fn now(&self) -> OffsetDateTime {
        self.0
    }
}
