//! The server in this process, driven through a pipe; both protocol versions from one script.

mod cancel;
mod pressure;
mod prompt;
mod sessions;
