//! What a session consumes: tokens, room in the model's window, money.

use serde::{Deserialize, Serialize};

use crate::AgentId;

/// Tokens of one or more model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Fresh input tokens (cached ones subtracted).
    pub input: u64,
    /// Input tokens read from the server's cache.
    pub cached: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Output tokens that were reasoning.
    pub thought: u64,
    /// Fresh input tokens that were also written to the server's cache.
    #[serde(default)]
    pub written: u64,
}

impl TokenUsage {
    /// Adds another call's tokens.
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
        self.thought += other.thought;
        self.written += other.written;
    }

    /// Everything that went in or out.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input + self.cached + self.output
    }
}

/// How full the model's context is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextUsage {
    /// Tokens in use.
    pub used: u64,
    /// Tokens the model can hold; 0 when that is unknown.
    pub size: u64,
    /// What the session cost so far, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// Of what (ISO 4217).
    pub currency: String,
}

impl Cost {
    /// So many US dollars.
    #[must_use]
    pub fn usd(amount: f64) -> Self {
        Self { amount, currency: "USD".to_owned() }
    }
}

/// What one request to a model took.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// Whose request it was.
    pub agent: AgentId,
    /// The model; empty when the server decided.
    pub model: String,
    /// Tokens, as the server counted them.
    pub tokens: TokenUsage,
    /// US dollars; `None` when the price is not known.
    pub dollars: Option<f64>,
}

/// What a session took so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionUsage {
    /// By agent and model, in the order of their first request.
    pub agents: Vec<AgentUsage>,
    /// How full the context was after the latest answer; its cost is not kept here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUsage>,
}

/// What one agent took with one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentUsage {
    /// The agent.
    pub agent: AgentId,
    /// The model; empty when the server decided.
    pub model: String,
    /// How many requests were made.
    pub requests: u64,
    /// Tokens, as the server counted them.
    pub tokens: TokenUsage,
    /// US dollars, of the requests whose price was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
    /// How many requests had no known price.
    #[serde(default)]
    pub unpriced: u64,
}

impl SessionUsage {
    /// Adds one request.
    pub fn add(&mut self, spent: &Spent) {
        let at = self.agents.iter().position(|row| row.agent == spent.agent && row.model == spent.model);
        let at = at.unwrap_or_else(|| {
            self.agents.push(AgentUsage {
                agent: spent.agent.clone(),
                model: spent.model.clone(),
                requests: 0,
                tokens: TokenUsage::default(),
                dollars: None,
                unpriced: 0,
            });
            self.agents.len() - 1
        });
        let row = &mut self.agents[at];
        row.requests += 1;
        row.tokens.add(spent.tokens);
        match spent.dollars {
            Some(dollars) => *row.dollars.get_or_insert_default() += dollars,
            None => row.unpriced += 1,
        }
    }

    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> TokenUsage {
        let mut all = TokenUsage::default();
        for row in &self.agents {
            all.add(row.tokens);
        }
        all
    }

    /// What all requests with a known price cost; `None` when that is nothing.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        let dollars: f64 = self.agents.iter().filter_map(|row| row.dollars).sum();
        (dollars > 0.0).then(|| Cost::usd(dollars))
    }

    /// How full the context is and what the session cost, where the context is known.
    #[must_use]
    pub fn gauge(&self) -> Option<ContextUsage> {
        let context = self.context.as_ref()?;
        Some(ContextUsage { cost: self.cost(), ..context.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(agent: &str, output: u64, dollars: Option<f64>) -> Spent {
        let tokens = TokenUsage { input: 10, cached: 5, output, thought: 0, written: 0 };
        Spent { agent: agent.into(), model: "m".to_owned(), tokens, dollars }
    }

    #[test]
    fn requests_add_up_by_agent_and_what_has_no_price_is_not_guessed() {
        let mut usage = SessionUsage::default();
        assert_eq!((usage.cost(), usage.gauge()), (None, None));
        for (agent, output, dollars) in
            [("a", 1, Some(0.25)), ("b", 2, None), ("a", 4, Some(0.5)), ("a", 8, None)]
        {
            usage.add(&spent(agent, output, dollars));
        }
        let rows: Vec<_> = usage
            .agents
            .iter()
            .map(|row| (row.agent.as_str(), row.requests, row.tokens.output, row.dollars, row.unpriced))
            .collect();
        assert_eq!(rows, [("a", 3, 13, Some(0.75), 1), ("b", 1, 2, None, 1)]);
        assert_eq!(usage.tokens(), TokenUsage { input: 40, cached: 20, output: 15, thought: 0, written: 0 });
        assert_eq!(usage.cost(), Some(Cost::usd(0.75)));
        usage.context = Some(ContextUsage { used: 3, size: 9, cost: None });
        assert_eq!(usage.gauge(), Some(ContextUsage { used: 3, size: 9, cost: Some(Cost::usd(0.75)) }));
    }

    #[test]
    fn what_is_kept_survives_its_written_form_and_nothing_is_an_empty_one() {
        let mut usage = SessionUsage::default();
        usage.add(&spent("a", 1, Some(0.1)));
        usage.context = Some(ContextUsage { used: 3, size: 9, cost: None });
        let written = serde_json::to_string(&usage).unwrap();
        assert_eq!(serde_json::from_str::<SessionUsage>(&written).unwrap(), usage);
        assert_eq!(serde_json::from_str::<SessionUsage>("{}").unwrap(), SessionUsage::default());
    }
}
