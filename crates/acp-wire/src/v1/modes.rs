//! modes

use super::session::SessionId;
use crate::macros::{object, string_type};

object! {
    /// Session mode state.
    pub struct SessionModeState {
        /// Current mode id.
        req current_mode_id: SessionModeId,
        /// Available modes.
        req_list available_modes: SessionMode,
        meta
    }
}

object! {
    /// Session mode.
    pub struct SessionMode {
        /// Id.
        req id: SessionModeId,
        /// Name.
        req name: String,
        /// Description.
        soft description: String,
        meta
    }
}

string_type! {
    /// Session mode id.
    pub struct SessionModeId;
}

object! {
    /// Set session mode request.
    pub struct SetSessionModeRequest {
        /// Session id.
        req session_id: SessionId,
        /// Mode id.
        req mode_id: SessionModeId,
        meta
    }
}

object! {
    /// Set session mode response.
    pub struct SetSessionModeResponse: Nullable {
        meta
    }
}
