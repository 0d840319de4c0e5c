//! The configuration: one JSON document in layers (built-in, global file, folder's file), and a typed view of it.
//!
//! Bad members cost a warning, never the rest; keys this version does not know survive every write. Reads the
//! files it is told of; environment, home folder and clock are the caller's. Knows nothing of the protocol and
//! nothing of how an agent is talked to.

mod agent;
mod aws;
mod build;
mod check;
mod choose;
mod classifier;
mod defaults;
mod document;
mod drivers;
mod explain;
mod exports;
mod external;
mod known;
mod load;
mod maker;
mod merge;
mod peers;
mod prices;
mod program;
mod redact;
mod redaction;
mod request;
mod rules;
mod trust;
mod validate;
mod view;
mod warning;

pub use crate::colleague::ColleagueConfig;
pub use agent::{
    AgentSettings, ApiFormat, Capabilities, Limits, PeerSettings, PromptTier, ProviderKind, Secret,
};
pub use aws::{AwsKeysSpec, AwsSpec};
pub use build::{build_provider, chat_config};
pub use choose::{
    AgentChoice, AgentSpec, Credential, EndpointSpec, Reason, choose, needs_detection, specify,
};
pub use document::{ConfigError, ConfigFile};
pub use drivers::{ConfiguredDrivers, Detector, HttpDetector, SharedLookup};
pub use explain::Explanation;
pub use known::{KNOWN_SERVICES, KnownService};
pub use load::{FileReport, FileState, Loaded, Loader};
pub use merge::{Layer, Sources};
pub use prices::{AS_OF as PRICES_AS_OF, PriceSettings};
pub use redact::{redact, redact_url};
pub use redaction::{RedactionSettings, redactor};
pub use view::{
    AcpSettings, Budget, Effective, Malformed, PermissionSettings, PromptAck, Settings, StreamMode,
};
pub use warning::Warning;

/// Looks up an environment variable (or whatever stands for it).
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
