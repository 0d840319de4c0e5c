//! Every shape of a stream that model servers are known to send, each with the one right meaning, for all APIs.
//!
//! `kinds` says each thing once in neutral steps, which `encode` puts into the words of each API; `tables` holds what
//! only one API has. Every row is fed whole, byte by byte and in random pieces, and in every spelling of an event
//! stream (`framing`); the kinds also with the socket left open after the end.

pub(crate) mod encode;
pub(crate) mod framing;
mod kind_rows;
mod kinds;
mod tables;

use std::collections::BTreeSet;

use self::framing::pieces;
use super::arguments::CallIds;
use super::error::Failure;
use super::reader::{Answer, Reader};
use super::testing::{merged, read, tool};
use crate::provider::{ModelDelta, ProviderError, ToolSchema};

/// The tools on offer in every row.
const TOOLS: &[&str] = &["read", "read_file", "write", "f", "g"];

/// Seeds of the random pieces.
const SEEDS: std::ops::Range<u64> = 0..6;

fn offered() -> std::sync::Arc<[ToolSchema]> {
    TOOLS.iter().map(|name| tool(name)).collect()
}

fn ids() -> std::sync::Arc<CallIds> {
    std::sync::Arc::default()
}

/// Whether `stream` means `expected` in whatever pieces it comes.
fn reads_as<A: Answer>(
    new: &impl Fn() -> A,
    stream: &[u8],
    expected: &str,
    seeds: std::ops::Range<u64>,
) -> Result<(), String> {
    let ways = [("whole", vec![stream]), ("byte by byte", stream.chunks(1).collect())];
    let random = seeds.map(|seed| ("in random pieces", pieces(stream, seed)));
    for (way, pieces) in ways.into_iter().chain(random) {
        let (deltas, result) = read(new(), pieces);
        let told = told(&deltas, &result);
        if told != expected {
            let stream = String::from_utf8_lossy(stream);
            return Err(format!("{way} it means\n  {told}\nand should mean\n  {expected}\nin\n{stream}"));
        }
    }
    Ok(())
}

/// What the reader makes of `stream` when nothing ends the connection, and whether it waits for more than counts.
fn left_open<A: Answer>(new: &impl Fn() -> A, stream: &[u8]) -> (String, bool) {
    let mut reader = Reader::new(new());
    let mut deltas = Vec::new();
    let result = reader.push(stream, &mut deltas);
    (told(&merged(deltas), &result), reader.answer.is_done() || reader.answer.is_finished())
}

/// One line: what was said, in order.
fn told(deltas: &[ModelDelta], result: &Result<(), Failure>) -> String {
    let mut told = Vec::new();
    let mut ids = BTreeSet::new();
    for delta in deltas {
        told.push(match delta {
            ModelDelta::Text(text) => format!("text {text:?}"),
            ModelDelta::Thought(text) => format!("thought {text:?}"),
            ModelDelta::Kept(kept) => format!("kept {kept}"),
            ModelDelta::Call(call) => {
                assert!(ids.insert(&call.id), "the id {} occurs twice", call.id);
                format!("call {} {}", call.name, call.arguments)
            }
            ModelDelta::CutCall(call) => {
                assert!(ids.insert(&call.id), "the id {} occurs twice", call.id);
                format!("cut {} {}", call.name, call.arguments)
            }
            ModelDelta::Usage(usage) => {
                format!("usage {}+{} {} {}", usage.input, usage.cached, usage.output, usage.thought)
            }
            ModelDelta::Finish(reason) => format!("finish {reason:?}"),
        });
    }
    if let Err(failure) = result {
        let again = if failure.is_transient { " (again)" } else { "" };
        told.push(match &failure.error {
            ProviderError::Reported { message, .. } => format!("reported {message:?}{again}"),
            ProviderError::Truncated { .. } => format!("truncated{again}"),
            ProviderError::Malformed { .. } => format!("malformed{again}"),
            ProviderError::Unreachable { .. }
            | ProviderError::Untrusted { .. }
            | ProviderError::Unauthorized { .. }
            | ProviderError::Status { .. }
            | ProviderError::TimedOut { .. }
            | ProviderError::Misconfigured { .. } => format!("unexpected {}", failure.error),
        });
    }
    told.join(" | ")
}
