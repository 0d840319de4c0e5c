//! Asks the primary agent's model which of the two agents a prompt is for.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_runtime::agent::Price;
use agent_runtime::provider::{ModelDelta, ModelMessage, ModelRequest, Provider};
use async_trait::async_trait;
use futures::StreamExt;
use router::{Classifier, Target};
use session_model::{AgentId, Content, Spent, TokenUsage};

use crate::drivers::Judge;

/// How long the turn waits for the answer. Longer, and asking the primary would have been quicker.
const LIMIT: Duration = Duration::from_secs(10);

const QUESTION: &str = "Two agents work on this project. `primary` is quick and cheap: small changes, looking things \
    up, running things, questions about a file or two. `escalate` is slow and strong: design, wide refactoring, \
    subtle defects, judgement. Answer with one word, primary or escalate: which of them should get this prompt?";

/// Asks a model.
pub(super) struct ModelClassifier {
    provider: Arc<dyn Provider>,
    price: Option<Price>,
    spent: Mutex<TokenUsage>,
}

impl fmt::Debug for ModelClassifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelClassifier").field(&self.provider.info()).finish()
    }
}

impl ModelClassifier {
    /// Asks this model, whose tokens cost so much.
    pub(super) fn new(provider: Arc<dyn Provider>, price: Option<Price>) -> Self {
        Self { provider, price, spent: Mutex::default() }
    }

    async fn answer(&self, prompt: &str) -> Option<String> {
        let messages = vec![ModelMessage::User(vec![Content::text(format!("{QUESTION}\n\n{prompt}"))])];
        let request = ModelRequest { messages, ..ModelRequest::default() };
        let mut stream = match self.provider.stream(request).await {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "the classifier cannot be asked");
                return None;
            }
        };
        let mut answer = String::new();
        while let Some(delta) = stream.next().await {
            match delta {
                Ok(ModelDelta::Text(text)) => answer.push_str(&text),
                Ok(ModelDelta::Usage(tokens)) => {
                    self.spent.lock().unwrap_or_else(PoisonError::into_inner).add(tokens);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "the classifier's answer broke off");
                    return None;
                }
            }
        }
        Some(answer)
    }
}

#[async_trait]
impl Classifier for ModelClassifier {
    async fn classify(&self, prompt: &str) -> Option<Target> {
        let answer = tokio::time::timeout(LIMIT, self.answer(prompt)).await.ok().flatten()?;
        read(&answer)
    }
}

impl Judge for ModelClassifier {
    fn spent(&self) -> Option<Spent> {
        let tokens = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let info = self.provider.info();
        (tokens.total() > 0).then(|| Spent {
            agent: AgentId::new(info.agent),
            model: info.model,
            tokens,
            dollars: self.price.map(|price| price.of(tokens)),
        })
    }
}

/// The word the answer begins with, whatever stands around it.
fn read(answer: &str) -> Option<Target> {
    let answer = answer.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let begins = |word: &str| answer.starts_with(word);
    [("escalat", Target::Escalation), ("primary", Target::Primary)]
        .into_iter()
        .find_map(|(word, target)| begins(word).then_some(target))
}

#[cfg(test)]
mod tests {
    use agent_runtime::provider::ProviderError;
    use agent_runtime::scripted::{Line, Scripted};

    use super::*;

    #[test]
    fn only_an_answer_that_begins_with_one_of_the_words_counts() {
        for (answer, expected) in [
            ("escalate", Some(Target::Escalation)),
            (" **Escalate**.\n", Some(Target::Escalation)),
            ("`primary`", Some(Target::Primary)),
            ("I would escalate", None),
            ("", None),
        ] {
            assert_eq!(read(answer), expected, "{answer:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_fails_or_is_slow_says_nothing() {
        let reason = "x".to_owned();
        let fails = Line::Fail(ProviderError::Misconfigured { agent: "a".to_owned(), reason });
        for (answer, expected) in [
            (vec![Line::pieces(&["esca", "late"])], Some(Target::Escalation)),
            (vec![fails.clone()], None),
            (vec![Line::say("escalate"), fails], None),
            (vec![Line::say("escalate"), Line::Hang], None),
        ] {
            let classifier = ModelClassifier::new(Arc::new(Scripted::new(vec![answer.clone()])), None);
            assert_eq!(classifier.classify("hm").await, expected, "{answer:?}");
        }
    }
}
