//! What happens in a session, in the order in which a client is told.

use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Compaction, ConfigOption, Content, ContextUsage, MessageId, Plan, PlanId, Spent, TerminalId,
    TerminalUpdate, ToolCallId, ToolCallUpdate, ToolContent,
};

/// One thing that happened. The list is closed and matched without wildcards: a new member makes the compiler
/// name every place that has to word it.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A whole message; replaces what its id said before.
    Message {
        /// The message.
        id: MessageId,
        /// Whose it is.
        role: Role,
        /// All of it.
        content: Vec<Content>,
    },
    /// More of a message.
    MessageDelta {
        /// The message.
        id: MessageId,
        /// Whose it is.
        role: Role,
        /// What is appended.
        content: Content,
    },
    /// A tool call appears or changes.
    ToolCall(ToolCallUpdate),
    /// More output of a running tool call; appends to its content.
    ToolOutput {
        /// The row.
        id: ToolCallId,
        /// What is appended.
        chunk: ToolContent,
    },
    /// A terminal of ours appears or changes.
    Terminal(TerminalUpdate),
    /// More output of a terminal of ours.
    TerminalOutput {
        /// The terminal.
        id: TerminalId,
        /// The call that runs its command.
        call: ToolCallId,
        /// What is appended.
        text: String,
    },
    /// A plan, whole.
    Plan(Plan),
    /// A plan that is no more.
    PlanRemoved(PlanId),
    /// Earlier turns are summarised.
    Compaction(Compaction),
    /// A request to a model was made.
    Spent(Spent),
    /// How full the context is.
    Usage(ContextUsage),
    /// The commands a prompt may begin with, whole list.
    Commands(Vec<Command>),
    /// The session's settings, whole list.
    Options(Vec<ConfigOption>),
    /// The session's title.
    Title(Option<String>),
    /// What the session as a whole is doing.
    Foreground(Foreground),
    /// Which agent answers, and why.
    Routed(Route),
    /// A detector's finding.
    Warning(Warning),
    /// A remark to the user that is no part of the conversation.
    Notice(Notice),
    /// A line of milk's own among the messages; shown and replayed, never sent to a model.
    Remark {
        /// Its id.
        id: MessageId,
        /// The line.
        text: String,
    },
    /// Everything replayed has been sent.
    ReplayComplete,
}

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user's.
    User,
    /// The agent's, to the user.
    Agent,
    /// The agent's reasoning.
    Thought,
}

/// What the session as a whole is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum Foreground {
    /// A turn runs.
    Running,
    /// The whole turn waits for the user.
    RequiresAction,
    /// Nothing runs.
    Idle {
        /// Why the turn ended; `None` when the session is merely reported as idle.
        stop: Option<StopReason>,
        /// What went wrong, with [`StopReason::Error`].
        error: Option<TurnFailure>,
        /// Who answered the turn.
        route: Option<Route>,
    },
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The agent had said all.
    EndTurn,
    /// The model's output limit.
    MaxTokens,
    /// The limit of model calls in one turn.
    MaxTurnRequests,
    /// The model refused.
    Refusal,
    /// The user cancelled.
    Cancelled,
    /// It failed; v1 has no such stop reason and answers with an error.
    Error,
}

/// What went wrong with a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailure {
    /// A stable word for programs (`provider_unreachable`, `turn_panicked`, …).
    pub code: String,
    /// A sentence for people, with the remedy where there is one. Carries no secret.
    pub message: String,
}

/// Which agent answers, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The agent.
    pub agent: AgentId,
    /// Its role: `primary` or `escalation`.
    pub target: String,
    /// Why, in words.
    pub reason: String,
    /// Whether the rules themselves came to this conclusion. Of the moment, and so never stored.
    #[serde(skip)]
    pub conclusive: Option<bool>,
}

/// A detector's finding about the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// `loop` or `consumption`, then the detector.
    pub category: String,
    /// Whether it is about consumption.
    pub consumption: bool,
    /// The finding in words.
    pub message: String,
}

/// A remark to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// An id for clients that can only show it as a message.
    pub id: MessageId,
    /// How bad it is.
    pub severity: Severity,
    /// One line.
    pub title: String,
}

/// How bad a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Something is missing or was not done.
    Warning,
    /// Something failed.
    Error,
}

/// A command a prompt may begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    pub hint: Option<String>,
}
