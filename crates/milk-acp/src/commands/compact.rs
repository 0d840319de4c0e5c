//! `/compact [instructions]`: the model summarises the earlier turns now. What is kept of them stays whole.

use agent_runtime::driver::Compacted;
use agent_runtime::io::Interrupted;

use super::{CommandCx, Said};
use crate::session::turn;

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    let said = match turn::compact(cx.plan, &argument, cx.io).await {
        Ok(Ok(Compacted::Done { turns })) => format!(
            "[milk] the {} summarised for the model; the conversation itself is kept whole",
            if turns == 1 { "oldest turn is".to_owned() } else { format!("{turns} oldest turns are") }
        ),
        Ok(Ok(Compacted::Nothing)) => {
            "there is nothing to summarise yet: the newest turn stays whole".to_owned()
        }
        Ok(Ok(Compacted::Unable)) => "there is no model here that could summarise".to_owned(),
        Ok(Ok(Compacted::Failed(why))) => {
            format!("[milk] nothing was summarised, and nothing is lost: {why}")
        }
        Ok(Err(failure)) => {
            format!("[milk] nothing was summarised, and nothing is lost: {}", failure.message)
        }
        // Nobody hears it: the cancelled turn ends first.
        Err(Interrupted) => String::new(),
    };
    Said::text(said)
}
