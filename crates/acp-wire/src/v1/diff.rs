//! diff

use crate::macros::object;

object! {
    /// Diff.
    pub struct Diff {
        /// Path.
        req path: String,
        /// Old text.
        soft old_text: String,
        /// New text.
        req new_text: String,
        meta
    }
}
