//! Token counts in the spellings of OpenAI and its imitators. Knows nothing of prices or context windows.

use serde_json::Value;
use serde_json::value::RawValue;
use session_model::TokenUsage;

use crate::providers::numbers::whole;

/// The counts in a `usage` object; nothing when it is none.
pub(super) fn read(raw: &RawValue) -> Option<TokenUsage> {
    let usage: Value = serde_json::from_str(raw.get()).ok()?;
    let usage = usage.is_object().then_some(usage)?;
    let count = |path: &str| usage.pointer(path).and_then(whole);
    let prompt = count("/prompt_tokens");
    let completion = count("/completion_tokens");
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let cached = count("/prompt_tokens_details/cached_tokens")
        .or_else(|| count("/prompt_cache_hit_tokens"))
        .or_else(|| count("/cached_tokens"))
        .unwrap_or(0);
    Some(TokenUsage {
        input: prompt.unwrap_or(0).saturating_sub(cached),
        cached,
        output: completion.unwrap_or(0),
        thought: count("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
        written: 0,
    })
}
