//! Any bytes, in pieces of any size, as the input of a whole connection.
#![no_main]

#[path = "../../crates/acp-rpc/tests/rpc/any_input.rs"]
mod any_input;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| any_input::connection(bytes));
