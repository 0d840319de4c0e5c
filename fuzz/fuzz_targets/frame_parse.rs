//! Any bytes as one line.
#![no_main]

#[path = "../../crates/acp-rpc/tests/rpc/any_input.rs"]
mod any_input;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| any_input::frame_parse(bytes));
