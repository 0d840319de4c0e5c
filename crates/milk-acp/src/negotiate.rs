//! `initialize`: chooses the protocol version by the number the client asks for, and by nothing else; the version's own
//! words then read the rest.

use acp_rpc::{Params, RpcError};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::command::Ack;
use crate::dialect::{Negotiated, capabilities};
use crate::error::{ServerError, unsupported_version};

/// The versions we speak, oldest first.
const SUPPORTED: [u16; 2] = [1, 2];

/// What the server says about itself, and how it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// When prompts are answered that say nothing about it (version 2).
    pub default_ack: Ack,
    /// What prompts may hold.
    pub prompt: PromptFeatures,
    /// Whether a version 1 client is sent its own user's message. Off by default: editors show what was typed.
    pub echo_user_message: bool,
}

impl ServerInfo {
    /// A server of this name and version, otherwise as the defaults are.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            default_ack: Ack::default(),
            prompt: PromptFeatures::default(),
            echo_user_message: false,
        }
    }
}

/// What prompts may hold beside text and links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptFeatures {
    /// Images.
    pub image: bool,
    /// Sounds.
    pub audio: bool,
    /// Resources carried along.
    pub embedded_context: bool,
}

/// Answers `initialize`.
///
/// # Errors
/// `-32022` for a version older than all of ours, `-32602` when `protocolVersion` is missing or no whole number.
pub fn negotiate(params: &Params, server: &ServerInfo) -> Result<Negotiated, RpcError> {
    match requested(params)? {
        0 => Err(unsupported_version(0, &SUPPORTED)),
        1 => capabilities::v1(params, server),
        _ => capabilities::v2(params, server),
    }
}

/// The number asked for; a number in quotes is one too. A number too large to hold is merely large.
fn requested(params: &Params) -> Result<u64, RpcError> {
    #[derive(Deserialize)]
    struct Asked<'a> {
        #[serde(borrow, rename = "protocolVersion")]
        version: Option<&'a RawValue>,
    }
    let asked: Asked<'_> = params.parse()?;
    let wrong =
        || RpcError::from(ServerError::invalid("`protocolVersion` must be a whole number; send 1 or 2"));
    let text = asked.version.ok_or_else(wrong)?.get();
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    Ok(digits.parse().unwrap_or(u64::MAX))
}
