//! The server in this process, driven through a pipe; both protocol versions from one script.
#![expect(clippy::expect_used, reason = "helpers of tests fail loudly")]

mod cancel;
mod cancel_moments;
mod classifier;
#[cfg(unix)]
mod claude;
#[cfg(unix)]
mod colleague;
mod compact;
mod consent;
mod content;
mod cooling;
mod files;
mod history;
mod interleavings;
mod modes;
mod peers;
mod prefix;
mod pressure;
#[cfg(unix)]
mod programs;
mod prompt;
mod questions;
mod reload;
mod routing;
mod servers;
mod sessions;
mod terminals;
mod thought_level;
mod views;
