//! One module per subcommand.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod route;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod sessions;
