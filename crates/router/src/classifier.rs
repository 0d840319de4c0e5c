//! The last resort: asking a model.

use std::fmt;

use async_trait::async_trait;

use crate::Target;

/// Decides where the rules could not.
#[async_trait]
pub trait Classifier: fmt::Debug + Send + Sync {
    /// Whom `prompt` should go to; `None` when it cannot say, for whatever reason.
    async fn classify(&self, prompt: &str) -> Option<Target>;
}
