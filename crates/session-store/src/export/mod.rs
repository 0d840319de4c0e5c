//! Sessions as files for people and for other programs: text, and the JSON of the Go milk.
//!
//! Pure: in go a session's data and out comes text, or the other way round. The JSON's `history` is what the Go
//! milk reads; what it has no words for (permissions, options, attachments, remarks, how a turn ended) stands
//! under a key of our own, so that our import loses nothing.

mod import;
mod json;
mod text;
mod turns;

pub use import::import;
pub use json::json;
pub use text::text;
