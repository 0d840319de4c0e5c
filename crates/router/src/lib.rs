//! Decides which of two agents gets a prompt, and says why.
//!
//! [`Rules::decide`] is pure; only a [`Classifier`], where one is configured, may ask a model. Knows nothing of
//! ACP, of providers or of files: whether a path exists is asked through [`RouteInput::path_exists`].

mod classifier;
mod decide;
mod input;
mod pins;
mod repetition;
mod rules;
mod signal;
mod words;

pub use classifier::Classifier;
pub use decide::{Decision, NoAgent, Rule, estimated_tokens};
pub use input::{RouteInput, Target};
pub use pins::Pins;
pub use repetition::{EARLIER_PROMPTS, is_repeated};
pub use rules::{Fallback, Rules};
pub use signal::Signal;
