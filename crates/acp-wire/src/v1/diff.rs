//! A changed file as the output of a tool.

use crate::macros::object;

object! {
    /// A changed file with its old and new text. Protocol: Tool Calls.
    pub struct Diff {
        /// The file, absolute.
        req path: String,
        /// The old text; absent for a new file.
        soft old_text: String,
        /// The new text.
        req new_text: String,
        meta
    }
}
