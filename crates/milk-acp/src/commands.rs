//! Commands a prompt may begin with. One table says what is advertised and what runs.

use session_model::Command;

/// The commands as a client is told of them.
pub(crate) fn advertised() -> Vec<Command> {
    Vec::new()
}
