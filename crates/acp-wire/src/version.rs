//! The protocol version number.

use serde::{Deserialize, Serialize};

/// The number by which `initialize` selects a protocol version. Protocol: Initialization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProtocolVersion(pub u16);

impl ProtocolVersion {
    /// Version 1, stable.
    pub const V1: Self = Self(1);
    /// Version 2, a preview.
    pub const V2: Self = Self(2);
}

impl From<u16> for ProtocolVersion {
    fn from(number: u16) -> Self {
        Self(number)
    }
}

impl std::fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}
