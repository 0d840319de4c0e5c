//! An agent that is a program of its own, with what holds for all of them: tags in its text are milk's and not the user's,
//! and where somebody can take over it is told how to ask for that.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::tags::TagFilter;
use crate::driver::{Compacted, TurnDriver, TurnEnd, TurnError, TurnInput};
use crate::handover::HandoverSlot;
use crate::io::TurnIo;

/// The agent.
pub struct Tagged {
    agent: Arc<dyn TurnDriver>,
    relief: Option<HandoverSlot>,
}

impl std::fmt::Debug for Tagged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tagged").field("relief", &self.relief).finish_non_exhaustive()
    }
}

impl Tagged {
    /// With `relief`, it may ask for another agent; the wish is left in the slot.
    #[must_use]
    pub fn new(agent: Arc<dyn TurnDriver>, relief: Option<HandoverSlot>) -> Self {
        Self { agent, relief }
    }
}

/// The session's nonce: the same in all its turns, so that what is told stays the same, and known to no file.
fn nonce(input: &TurnInput) -> String {
    let name = format!("{}\nescalate", input.session.as_str());
    let mut nonce = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).simple().to_string();
    nonce.truncate(12);
    nonce
}

/// What the agent is told.
fn words(nonce: &str) -> String {
    format!(
        "Another, stronger agent can take over from you. When the request is beyond you, end your answer with \
         <milk:escalate:{nonce}>why, in a sentence</milk:escalate:{nonce}> and do nothing more: it goes on with the same \
         request and sees what you did. The user does not see the tag."
    )
}

#[async_trait]
impl TurnDriver for Tagged {
    async fn drive(&self, mut input: TurnInput, io: TurnIo) -> Result<TurnEnd, TurnError> {
        let mut wish = None;
        if let Some(slot) = &self.relief {
            let nonce = nonce(&input);
            input.handover.get_or_insert_default().relief = Some(words(&nonce));
            wish = Some((nonce, slot.clone()));
        }
        let io = io.sieved(Box::new(TagFilter::new(wish)));
        let ended = self.agent.drive(input, io.clone()).await;
        io.drain().await?;
        ended
    }

    async fn compact(&self, input: TurnInput, wish: &str, io: TurnIo) -> Result<Compacted, TurnError> {
        self.agent.compact(input, wish, io).await
    }
}
