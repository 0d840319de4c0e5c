//! What the versions want of a connection's life beyond its words.

use acp_rpc::{BatchPolicy, IdPolicy, MalformedPolicy, Policy};

use super::Dialect;

impl Dialect {
    /// Whether `initialize` may come again after other requests. Version 1 does not forbid it, and its official
    /// Whether both speak the same version.
    pub(crate) fn is_same_version(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// implementation answers; version 2 forbids it (Initialization).
    #[must_use]
    pub fn may_repeat_initialize(&self) -> bool {
        match self {
            Self::V1(_) => true,
            Self::V2(_) => false,
        }
    }

    /// Whether withdrawing `session/prompt` ends its turn. In version 1 the request is the turn; in version 2 the
    /// request inserts a message, and an inserted message cannot be withdrawn (Prompt lifecycle).
    #[must_use]
    pub fn withdrawing_cancels(&self) -> bool {
        match self {
            Self::V1(_) => true,
            Self::V2(_) => false,
        }
    }

    /// What the transport is to make of what the versions disagree about. Neither has batches; ids that are null
    /// are allowed in version 1 only (JSON-RPC, §4).
    #[must_use]
    pub fn policy(&self, malformed: MalformedPolicy) -> Policy {
        let ids = match self {
            Self::V1(_) => IdPolicy::AllowNull,
            Self::V2(_) => IdPolicy::RefuseNull,
        };
        Policy { malformed, batches: BatchPolicy::Reject, ids }
    }
}
