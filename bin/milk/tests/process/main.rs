//! The program as a process: killed, signalled, cut off and fed with garbage, over real pipes.
//!
//! Every line it writes is checked against the official schema of the version spoken.
#![expect(clippy::expect_used, reason = "a test that cannot set its scene has failed")]

#[cfg(unix)]
mod colleague;
mod crash;
mod crowd;
#[cfg(unix)]
mod ending;
mod input;
mod output;
#[cfg(unix)]
mod peers;
#[cfg(unix)]
mod pids;
mod program;
mod random;
mod sessions;
mod sharing;
#[cfg(unix)]
mod storage;
mod surroundings;
mod talk;
