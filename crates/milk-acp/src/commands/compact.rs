//! `/compact [instructions]`: the model summarises the earlier turns before its next answer. What is kept stays whole.

use session_store::{Span, StoreError};

use super::{CommandCx, Said};

/// How many turns a summary needs: one to summarise, and the newest, which stays whole.
const NEEDED: usize = 2;

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    let none = Span { first_turns: 0, last_turns: 0 };
    let turns = match cx.shared.store.window(&cx.session, none).await {
        Ok(stored) => stored.turns,
        // It lives in memory alone.
        Err(StoreError::NotFound(_)) => NEEDED,
        Err(error) => return Said::text(format!("cannot look at the conversation: {error}")),
    };
    if turns < NEEDED {
        return Said::text("there is nothing to summarise yet: the newest turn stays whole");
    }
    cx.drivers.compact(&cx.session, &argument);
    Said::text(
        "[milk] the model summarises the earlier turns before its next answer; the conversation itself is kept whole",
    )
}
