//! Any text as the parameters and the result of any method of either version.
#![no_main]

#[path = "../../crates/acp-wire/tests/conformance/any_message.rs"]
mod any_message;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| any_message::decode(bytes));
