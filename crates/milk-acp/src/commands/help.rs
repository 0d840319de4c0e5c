//! `/help`: the list of commands.

use std::fmt::Write as _;

use super::{Kind, Said, TABLE};

pub(super) fn run() -> Said {
    let mut text = String::from("Commands:\n");
    for row in TABLE.iter().filter(|row| row.kind != Kind::Hidden) {
        let hint = row.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
        // Writing to a String does not fail.
        let _ = write!(text, "\n- `/{}{hint}` — {}", row.name, row.description);
    }
    Said::text(text)
}
