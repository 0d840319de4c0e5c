//! `/help`: the list of commands.

use std::fmt::Write as _;

use super::{Said, offered};
use crate::options::Options;

pub(super) fn run(options: &Options) -> Said {
    let mut text = String::from("Commands:\n");
    for row in offered(options) {
        let hint = row.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
        // Writing to a String does not fail.
        let _ = write!(text, "\n- `/{}{hint}` — {}", row.name, row.description);
    }
    Said::text(text)
}
