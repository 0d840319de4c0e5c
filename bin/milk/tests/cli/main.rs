//! The program as its users meet it: real processes, real pipes, homes of their own.
#![expect(clippy::expect_used, reason = "a test that cannot set its scene has failed")]

mod agents;
mod config;
mod doctor;
mod model;
mod program;
mod proxy;
mod route;
mod run;
mod serve;
mod sessions;
