//! Questions to the user, and their answers.

use serde_json::Value;

use crate::{OptionId, ToolCallId, ToolCallUpdate};

/// A question that stops the turn until it is answered or withdrawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// May this be done?
    Permission(Box<PermissionAsk>),
    /// Please fill this in.
    Elicit(ElicitAsk),
}

/// Asks leave for one tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionAsk {
    /// The call as far as it is known, its diff included.
    pub tool_call: ToolCallUpdate,
    /// The question in a line.
    pub title: String,
    /// What will happen, in more words.
    pub description: Option<String>,
    /// What can be answered; never empty.
    pub options: Vec<AskOption>,
}

/// One possible answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskOption {
    /// Names it in the answer.
    pub id: OptionId,
    /// Its label.
    pub name: String,
    /// What choosing it means.
    pub kind: AskOptionKind,
}

/// What choosing an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskOptionKind {
    /// Yes, this once.
    AllowOnce,
    /// Yes, and do not ask again in this session.
    AllowAlways,
    /// No, this once.
    RejectOnce,
    /// No, and do not ask again in this session.
    RejectAlways,
}

/// Asks for values by a form.
#[derive(Debug, Clone, PartialEq)]
pub struct ElicitAsk {
    /// The question.
    pub message: String,
    /// The call it belongs to.
    pub tool_call: Option<ToolCallId>,
    /// A JSON Schema object with flat properties.
    pub schema: Value,
}

/// What came back. Anything not understood arrives as [`Answer::Unanswerable`], and nothing but `Selected` with
/// an allowing option is consent.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// One of the offered options.
    Selected(OptionId),
    /// The filled-in form.
    Form(Value),
    /// The user said no to the form.
    Declined,
    /// The question was dismissed, or its turn cancelled.
    Cancelled,
    /// The client could not answer; the cause, for the user and the model.
    Unanswerable(String),
}
