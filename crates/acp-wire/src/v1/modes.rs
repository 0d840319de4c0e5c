//! The modes of a session.

use super::session::SessionId;
use crate::macros::{object, string_type};

object! {
    /// The modes of a session and the present one. Protocol: Session Modes.
    pub struct SessionModeState {
        /// The present mode.
        req current_mode_id: SessionModeId,
        /// The modes.
        req_list available_modes: SessionMode,
        meta
    }
}

object! {
    /// A way in which the agent works. Protocol: Session Modes.
    pub struct SessionMode {
        /// The mode.
        req id: SessionModeId,
        /// A name for people.
        req name: String,
        /// More words on it.
        soft description: String,
        meta
    }
}

string_type! {
    /// Names a mode within its session.
    pub struct SessionModeId;
}

object! {
    /// Switches the mode. Protocol: Session Modes.
    pub struct SetSessionModeRequest {
        /// The session.
        req session_id: SessionId,
        /// The mode.
        req mode_id: SessionModeId,
        meta
    }
}

object! {
    /// Says that the mode is switched. Protocol: Session Modes.
    pub struct SetSessionModeResponse: Nullable {
        meta
    }
}
