//! The words every layer of milk shares: what can be said, asked, chosen and kept in a session.
//!
//! Plain data in no protocol's wording. The model carries more than either protocol version can say; each
//! dialect is a lossy projection of it. This crate knows nothing of ACP, of JSON-RPC, of storage, of models or
//! of tasks, and does no I/O: a clock and a source of ids are passed in ([`source`]).
#![deny(missing_docs)]

mod ask;
mod change;
mod compaction;
mod content;
mod entry;
mod event;
mod grant;
mod id;
mod option;
mod plan;
pub mod source;
mod terminal;
mod tool;
mod usage;

pub use ask::{Answer, Ask, AskOption, AskOptionKind, ElicitAsk, PermissionAsk};
pub use change::{FileChange, FileOp};
pub use compaction::{Compaction, CompactionState, Summary};
pub use content::{Content, EmbeddedResource, ResourceBody, ResourceLink, text_of};
pub use entry::{Entry, Item};
pub use event::{
    Command, Event, Foreground, Notice, Role, Route, Severity, StopReason, TurnFailure, Warning,
};
pub use grant::{Grant, GrantScope};
pub use id::{
    AgentId, AskId, CompactionId, MessageId, OptionId, PlanId, SessionId, TerminalId, ToolCallId, TurnId,
};
pub use option::{Choice, ConfigOption, OptionCategory, OptionInput, OptionKind};
pub use plan::{Plan, PlanEntry, PlanPriority, PlanStatus};
pub use terminal::{TerminalExit, TerminalOwner, TerminalUpdate, TerminalView};
pub use tool::{Location, ToolCallUpdate, ToolContent, ToolKind, ToolStatus};
pub use usage::{AgentUsage, ContextUsage, Cost, SessionUsage, Spent, TokenUsage};
