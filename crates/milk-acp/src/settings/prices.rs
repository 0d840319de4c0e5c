//! What models cost: a small table of published prices, and the user's own under `prices`, which win.
//!
//! Pure. A price that is not known is not guessed: the same name may be free here and dear there, so that the table
//! counts only for a model that is asked at its own vendor.

use agent_runtime::agent::Price;
use serde::Deserialize;

use super::choose::EndpointSpec;
use super::view::Settings;

/// When the table was last compared with what the vendors publish (year and month).
pub const AS_OF: &str = "2026-11";

/// US dollars for a million tokens, as configured. A price needs `input` and `output`; `cached` is then `input`
/// unless it is given.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct PriceSettings {
    /// Of fresh input.
    pub input: Option<f64>,
    /// Of input read from the cache.
    pub cached: Option<f64>,
    /// Of input written to the cache.
    pub written: Option<f64>,
    /// Of output.
    pub output: Option<f64>,
}

impl PriceSettings {
    fn price(self) -> Option<Price> {
        let (input, output) = (self.input?, self.output?);
        let (cached, written) = (self.cached.unwrap_or(input), self.written.unwrap_or(input));
        Some(Price { input, cached, written, output })
    }
}

const OPENAI: &str = "api.openai.com";
const ANTHROPIC: &str = "api.anthropic.com";
const MISTRAL: &str = "api.mistral.ai";

/// Host, model, and the prices of input, cached input and output, where at least two published lists of prices agree.
/// A name also stands for its dated versions. Left out are models whose price depends on more than that (the request's
/// length, the hour), names that point at one model today and at another tomorrow, and models that cannot be asked
/// any more. Of `claude-sonnet-4-5` it depends on the length only beyond what it takes without a header of its own.
const TABLE: &[(&str, &str, [f64; 3])] = &[
    (OPENAI, "gpt-5", [1.25, 0.125, 10.0]),
    (OPENAI, "gpt-5-mini", [0.25, 0.025, 2.0]),
    (OPENAI, "gpt-5-nano", [0.05, 0.005, 0.4]),
    (OPENAI, "gpt-5.1", [1.25, 0.125, 10.0]),
    (OPENAI, "gpt-5.1-codex", [1.25, 0.125, 10.0]),
    (OPENAI, "gpt-5.1-codex-mini", [0.25, 0.025, 2.0]),
    (OPENAI, "gpt-5.2", [1.75, 0.175, 14.0]),
    (OPENAI, "gpt-5.2-codex", [1.75, 0.175, 14.0]),
    (OPENAI, "gpt-5.3-codex", [1.75, 0.175, 14.0]),
    (OPENAI, "gpt-5.4-mini", [0.75, 0.075, 4.5]),
    (OPENAI, "gpt-5.4-nano", [0.2, 0.02, 1.25]),
    (OPENAI, "gpt-4.1", [2.0, 0.5, 8.0]),
    (OPENAI, "gpt-4.1-mini", [0.4, 0.1, 1.6]),
    (OPENAI, "gpt-4o", [2.5, 1.25, 10.0]),
    (OPENAI, "gpt-4o-mini", [0.15, 0.075, 0.6]),
    (ANTHROPIC, "claude-fable-5", [10.0, 1.0, 50.0]),
    (ANTHROPIC, "claude-opus-5-5", [4.0, 0.2, 20.0]),
    (ANTHROPIC, "claude-opus-5", [5.0, 0.5, 25.0]),
    (ANTHROPIC, "claude-opus-4-8", [5.0, 0.5, 25.0]),
    (ANTHROPIC, "claude-opus-4-7", [5.0, 0.5, 25.0]),
    (ANTHROPIC, "claude-opus-4-6", [5.0, 0.5, 25.0]),
    (ANTHROPIC, "claude-opus-4-5", [5.0, 0.5, 25.0]),
    (ANTHROPIC, "claude-sonnet-5-5", [2.0, 0.1, 10.0]),
    (ANTHROPIC, "claude-sonnet-5", [2.0, 0.2, 10.0]),
    (ANTHROPIC, "claude-sonnet-4-6", [3.0, 0.3, 15.0]),
    (ANTHROPIC, "claude-sonnet-4-5", [3.0, 0.3, 15.0]),
    (ANTHROPIC, "claude-haiku-4-5", [1.0, 0.1, 5.0]),
    (MISTRAL, "codestral", [0.3, 0.3, 0.9]),
];

/// What the agent's tokens cost, where that is known. The user's patterns are tried first, the longest that fits
/// counts; `*` stands for anything.
pub(super) fn price_of(settings: &Settings, endpoint: &EndpointSpec) -> Option<Price> {
    let model = endpoint.model.trim().to_lowercase();
    if model.is_empty() {
        return None;
    }
    let fitting = settings.prices.iter().filter(|(pattern, _)| fits(&pattern.trim().to_lowercase(), &model));
    if let Some((_, price)) = fitting.max_by_key(|(pattern, _)| pattern.len()) {
        return price.price();
    }
    let host = host(&endpoint.url);
    let listed = TABLE.iter().find(|(at, name, _)| *at == host && is_version_of(&model, name));
    listed.map(|&(at, _, [input, cached, output])| {
        // Anthropic asks a quarter more for what it writes into its cache.
        let written = if at == ANTHROPIC { input * 1.25 } else { input };
        Price { input, cached, written, output }
    })
}

/// Dated versions that never had the price of their name.
const OTHERWISE_PRICED: [&str; 1] = ["gpt-4o-2024-05-13"];

/// `model` is `name`, or that with a date or "latest" behind it.
fn is_version_of(model: &str, name: &str) -> bool {
    let Some(rest) = model.strip_prefix(name) else { return false };
    let is_version = rest.is_empty() || rest == "-latest" || rest.strip_prefix("-20").is_some_and(dated);
    is_version && !OTHERWISE_PRICED.contains(&model)
}

fn dated(rest: &str) -> bool {
    !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '-')
}

/// The host of a URL, without user and port.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default().to_lowercase()
}

/// Whether `text` is of the form of `pattern`.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::choose::{AgentSpec, choose};
    use super::*;

    fn price(url: &str, model: &str, prices: &Value) -> Option<[f64; 4]> {
        let document = json!({"agents": [{"name": "a", "url": url, "model": model}], "prices": prices});
        let settings = Settings::from_document(document.as_object().unwrap().clone()).unwrap();
        let AgentSpec::Endpoint(endpoint) = choose(&settings, &|_| None, &[]).spec else {
            panic!("an endpoint")
        };
        price_of(&settings, &endpoint).map(|price| [price.input, price.cached, price.written, price.output])
    }

    #[test]
    fn a_model_has_its_vendors_price_at_its_vendor_and_none_elsewhere() {
        let openai = "https://api.openai.com/v1";
        let rows = [
            (openai, "gpt-4.1", Some([2.0, 0.5, 2.0, 8.0])),
            (openai, "GPT-4.1-2025-04-14", Some([2.0, 0.5, 2.0, 8.0])),
            (openai, "gpt-4.1-mini", Some([0.4, 0.1, 0.4, 1.6])),
            (openai, "gpt-4.1-turbo", None),
            (openai, "gpt-4.1-2025-preview", None),
            // Dearer than the later ones of its name, and not to be had any more.
            (openai, "gpt-4o-2024-05-13", None),
            // Depends on how long the request is.
            (openai, "gpt-5.4", None),
            (openai, "", None),
            ("http://localhost:8080", "gpt-4.1", None),
            ("https://api.openai.com.example.org", "gpt-4.1", None),
            (
                "https://user:pw@API.anthropic.com:443/",
                "claude-sonnet-4-5-20250929",
                Some([3.0, 0.3, 3.75, 15.0]),
            ),
        ];
        for (url, model, expected) in rows {
            assert_eq!(price(url, model, &json!({})), expected, "{url} {model}");
        }
    }

    #[test]
    fn the_table_has_each_model_once_and_what_is_cached_is_not_dearer() {
        for (index, (host, model, [input, cached, output])) in TABLE.iter().enumerate() {
            assert!(cached <= input && input <= output, "{model}");
            assert!(!TABLE[index + 1..].iter().any(|(at, name, _)| (at, name) == (host, model)), "{model}");
        }
    }

    #[test]
    fn the_users_own_prices_win_and_the_longest_pattern_counts() {
        let prices = json!({
            "*": {"input": 0, "output": 0},
            "qwen*coder*": {"input": 1, "cached": 0.1, "output": 2},
            "gpt-4.1": {"input": 9, "written": 10, "output": 9.5},
            "broken": {"input": 1},
        });
        let rows = [
            ("gpt-4.1", Some([9.0, 9.0, 10.0, 9.5])),
            ("Qwen3-Coder-30B", Some([1.0, 0.1, 1.0, 2.0])),
            ("qwen3-30b", Some([0.0; 4])),
            ("broken", None),
        ];
        for (model, expected) in rows {
            assert_eq!(price("https://api.openai.com", model, &prices), expected, "{model}");
        }
    }

    #[test]
    fn patterns_fit_whole_names() {
        let rows = [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("a*a", "a", false),
            ("", "", true),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
