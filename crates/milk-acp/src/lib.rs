//! The ACP server: wires protocol, sessions, store, router and runtime together.
//!
//! Dispatch decodes a request and hands it to the session that owns it, without waiting. Each session is one task
//! around a pure core. Only [`dialect`] knows a protocol version. This crate reads no environment and no wall
//! clock; the binary passes those in.

mod colleague;
pub mod command;
mod commands;
mod delete;
pub mod dialect;
mod dispatch;
pub mod drivers;
pub mod error;
pub mod negotiate;
mod options;
pub mod server;
mod session;
pub mod settings;
pub mod transcript;
mod views;
