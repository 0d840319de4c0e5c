//! What tokens cost.

use session_model::TokenUsage;

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of fresh input.
    pub input: f64,
    /// Of input read from the server's cache.
    pub cached: f64,
    /// Of fresh input that is also written to the cache.
    pub written: f64,
    /// Of output, reasoning included.
    pub output: f64,
}

impl Price {
    /// What these tokens cost, in US dollars.
    #[must_use]
    pub fn of(self, tokens: TokenUsage) -> f64 {
        let at = |tokens: u64, price: f64| millions(tokens) * price;
        let fresh = tokens.input.saturating_sub(tokens.written);
        at(fresh, self.input)
            + at(tokens.written, self.written)
            + at(tokens.cached, self.cached)
            + at(tokens.output, self.output)
    }
}

/// Exact for every count a session can reach.
#[expect(clippy::cast_precision_loss, reason = "a count of tokens is far below 2^53")]
fn millions(tokens: u64) -> f64 {
    tokens as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_token_has_its_price() {
        let price = Price { input: 2.0, cached: 0.5, written: 2.5, output: 8.0 };
        let rows = [
            (TokenUsage::default(), 0.0),
            (TokenUsage { input: 1_000_000, ..TokenUsage::default() }, 2.0),
            (TokenUsage { cached: 1_000_000, ..TokenUsage::default() }, 0.5),
            // Reasoning is part of the output.
            (TokenUsage { output: 500_000, thought: 400_000, ..TokenUsage::default() }, 4.0),
            (TokenUsage { input: 250_000, cached: 500_000, output: 125_000, thought: 0, written: 0 }, 1.75),
        ];
        for (tokens, dollars) in rows {
            assert!((price.of(tokens) - dollars).abs() < 1e-9, "{tokens:?}");
        }
    }
}
