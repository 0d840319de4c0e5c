//! `/usage`: what the conversation consumed, also as a gauge for clients that draw one. Asks no model.

use std::fmt::Write as _;

use session_model::{Cost, Event, SessionUsage, TokenUsage};

use super::{CommandCx, Said};

pub(super) async fn run(argument: String, cx: CommandCx) -> Said {
    if !argument.is_empty() {
        return Said::text("/usage takes no arguments");
    }
    if let Some(gauge) = cx.usage.gauge() {
        // A turn that was cancelled meanwhile tells no words either.
        let _interrupted = cx.io.emit(Event::Usage(gauge)).await;
    }
    Said::text(told(&cx.usage))
}

fn told(usage: &SessionUsage) -> String {
    let requests: u64 = usage.agents.iter().map(|row| row.requests).sum();
    let unpriced: u64 = usage.agents.iter().map(|row| row.unpriced).sum();
    let mut told = format!("context: {}\n", context(usage));
    // Writing into a string cannot fail.
    let _infallible = writeln!(told, "tokens: {}", tokens(usage.tokens(), requests));
    let _infallible = write!(told, "cost: {}", cost(usage.cost().as_ref(), (unpriced, requests)));
    if usage.agents.len() > 1 {
        told.push_str("\nby agent:");
        for row in &usage.agents {
            let name = if row.model.is_empty() {
                row.agent.to_string()
            } else {
                format!("{} ({})", row.agent, row.model)
            };
            let dollars = row.dollars.filter(|dollars| *dollars > 0.0).map(Cost::usd);
            let _infallible = write!(
                told,
                "\n- {name}: {}; {}",
                tokens(row.tokens, row.requests),
                cost(dollars.as_ref(), (row.unpriced, row.requests))
            );
        }
    }
    told
}

fn context(usage: &SessionUsage) -> String {
    match &usage.context {
        None => "nothing was asked yet".to_owned(),
        Some(context) if context.size == 0 => {
            format!("{} tokens; how many the model can hold is unknown", grouped(context.used))
        }
        Some(context) => {
            let percent = context.used.saturating_mul(100) / context.size;
            format!("{} of {} tokens ({percent} %)", grouped(context.used), grouped(context.size))
        }
    }
}

fn tokens(tokens: TokenUsage, requests: u64) -> String {
    if requests == 0 {
        return "none were counted".to_owned();
    }
    let part = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(" ({} of them {what})", grouped(count)),
    };
    format!(
        "{} in{}, {} out{}, in {requests} request{}",
        grouped(tokens.input + tokens.cached),
        part(tokens.cached, "from the cache"),
        grouped(tokens.output),
        part(tokens.thought, "reasoning"),
        if requests == 1 { "" } else { "s" }
    )
}

/// A price is known or not; nothing is guessed.
fn cost(cost: Option<&Cost>, (unpriced, requests): (u64, u64)) -> String {
    match cost {
        None if unpriced > 0 => {
            "unknown; give the model's price under `prices` in the configuration".to_owned()
        }
        None => "none".to_owned(),
        Some(Cost { amount, .. }) if unpriced > 0 => {
            format!("${amount:.4}, without {unpriced} of {requests} requests whose price is not known")
        }
        Some(Cost { amount, .. }) => format!("${amount:.4}"),
    }
}

/// A count with its thousands set apart.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut told = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            told.push(',');
        }
        told.push(digit);
    }
    told
}

#[cfg(test)]
mod tests {
    use session_model::{ContextUsage, Spent};

    use super::*;

    fn spent(agent: &str, dollars: Option<f64>) -> Spent {
        let tokens = TokenUsage { input: 1_000, cached: 2_000, output: 50, thought: 20, written: 0 };
        Spent { agent: agent.into(), model: "m".to_owned(), tokens, dollars }
    }

    #[test]
    fn what_is_unknown_is_called_so() {
        let mut usage = SessionUsage::default();
        assert_eq!(told(&usage), "context: nothing was asked yet\ntokens: none were counted\ncost: none");
        usage.context = Some(ContextUsage { used: 1_234, size: 0, cost: None });
        usage.add(&spent("a", None));
        assert_eq!(
            told(&usage),
            "context: 1,234 tokens; how many the model can hold is unknown\n\
             tokens: 3,000 in (2,000 of them from the cache), 50 out (20 of them reasoning), in 1 request\n\
             cost: unknown; give the model's price under `prices` in the configuration"
        );
    }

    #[test]
    fn totals_and_then_each_agent_are_told() {
        let context = Some(ContextUsage { used: 4_096, size: 8_192, cost: None });
        let mut usage = SessionUsage { context, ..SessionUsage::default() };
        usage.add(&spent("a", Some(0.5)));
        usage.add(&spent("b", None));
        assert_eq!(
            told(&usage),
            "context: 4,096 of 8,192 tokens (50 %)\n\
             tokens: 6,000 in (4,000 of them from the cache), 100 out (40 of them reasoning), in 2 requests\n\
             cost: $0.5000, without 1 of 2 requests whose price is not known\n\
             by agent:\n\
             - a (m): 3,000 in (2,000 of them from the cache), 50 out (20 of them reasoning), in 1 request; $0.5000\n\
             - b (m): 3,000 in (2,000 of them from the cache), 50 out (20 of them reasoning), in 1 request; unknown; \
             give the model's price under `prices` in the configuration"
        );
    }
}
