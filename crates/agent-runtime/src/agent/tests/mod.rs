//! Turns in process: a scripted model, tools that do as told, the paused clock, and every signal accounted for.

mod batches;
mod cancel;
mod peers;
mod permission;
mod questions;
mod real_tools;
mod replies;
mod rig;
mod secrets;
mod summaries;
mod trouble;
mod walk;
mod wire_walk;
