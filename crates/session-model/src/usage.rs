//! What a turn consumed.

use serde::{Deserialize, Serialize};

/// Tokens of one or more model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Fresh input tokens (cached ones subtracted).
    pub input: u64,
    /// Input tokens read from the server's cache.
    pub cached: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Output tokens that were reasoning.
    pub thought: u64,
}

impl TokenUsage {
    /// Adds another call's tokens.
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
        self.thought += other.thought;
    }

    /// Everything that went in or out.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input + self.cached + self.output
    }
}

/// How full the model's context is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextUsage {
    /// Tokens in use.
    pub used: u64,
    /// Tokens the model can hold.
    pub size: u64,
    /// What the session cost so far, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// Of what (ISO 4217).
    pub currency: String,
}
