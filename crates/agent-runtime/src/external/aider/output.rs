//! Aider's plain output, line by line: what it says about itself is told apart from the model's answer. Pure.

use session_model::TokenUsage;

/// What a line is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// Part of the answer.
    Answer(String),
    /// It has changed this file.
    Edited(String),
    /// It will look into this file.
    Added(String),
    /// It makes this file.
    Created(String),
    /// A request was made.
    Spent(TokenUsage, Option<f64>),
    /// The server failed it.
    Trouble(String),
    /// It asks the server again.
    Retry,
    /// About itself.
    Noise,
}

/// What is said before the answer.
const BANNER: [&str; 24] = [
    "Aider v",
    "Model: ",
    "Models: ",
    "Main model: ",
    "Weak model: ",
    "Editor model: ",
    "Git repo: ",
    "Repo-map: ",
    "Note: in-chat filenames",
    "Cur working dir: ",
    "Git working dir: ",
    "Update git ",
    "You can skip this check",
    "https://aider.chat/",
    "Warning: Input is not a terminal",
    "Warning for ",
    "Can't initialize prompt toolkit",
    "HTTPSConnectionPool(",
    "Restored previous conversation",
    "Newer aider version",
    "Use /help",
    "Initial repo scan",
    "Scanning repo: ",
    "VSCode terminal detected",
];

/// Reads the lines of one run.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Whether the answer has begun.
    begun: bool,
    /// Whether the line is in a block of code.
    fenced: bool,
    /// The last line was a failure, and this one explains it.
    troubled: bool,
}

impl Reader {
    pub(super) fn read(&mut self, line: &str) -> Line {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") {
            self.fenced = !self.fenced;
            return self.answer(line);
        }
        if self.fenced {
            return self.answer(line);
        }
        let explains = std::mem::take(&mut self.troubled) && !line.is_empty();
        if let Some(known) = status(line) {
            self.troubled = matches!(known, Line::Trouble(_));
            return known;
        }
        if explains {
            return Line::Trouble(line.to_owned());
        }
        let is_banner =
            !self.begun && (line.is_empty() || BANNER.iter().any(|begin| line.starts_with(begin)));
        if is_banner { Line::Noise } else { self.answer(line) }
    }

    fn answer(&mut self, line: &str) -> Line {
        self.begun = true;
        Line::Answer(line.to_owned())
    }
}

/// A line about the run itself, which may come at any time.
fn status(line: &str) -> Option<Line> {
    let between = |begin: &str, end: &str| Some(line.strip_prefix(begin)?.strip_suffix(end)?.to_owned());
    if let Some(path) = line.strip_prefix("Applied edit to ") {
        return Some(Line::Edited(path.to_owned()));
    }
    if let Some(path) = between("Added ", " to the chat.") {
        return Some(Line::Added(path));
    }
    if between("Added ", " to the chat (read-only).").is_some() || between("Added ", " to the chat").is_some()
    {
        return Some(Line::Noise);
    }
    if let Some(path) = line.strip_prefix("Creating empty file ") {
        return Some(Line::Created(path.to_owned()));
    }
    if line.starts_with("litellm.") && line.contains("Error") {
        return Some(Line::Trouble(line.to_owned()));
    }
    if line.starts_with("Retrying in ") && line.ends_with(" seconds...") {
        return Some(Line::Retry);
    }
    spent(line).map(|(tokens, dollars)| Line::Spent(tokens, dollars))
}

/// `Tokens: 2.5k sent, 1k cache hit, 38 received. Cost: $0.01 message, $0.02 session.`
fn spent(line: &str) -> Option<(TokenUsage, Option<f64>)> {
    let rest = line.strip_prefix("Tokens: ")?;
    let (counts, cost) = match rest.split_once(" Cost: ") {
        Some((counts, cost)) => (counts, Some(cost)),
        None => (rest, None),
    };
    let mut tokens = TokenUsage::default();
    for count in counts.trim_end_matches('.').split(", ") {
        let (number, what) = count.split_once(' ')?;
        let number = number_of(number)?;
        match what {
            "sent" => tokens.input = number,
            "received" => tokens.output = number,
            "cache hit" => tokens.cached = number,
            "cache write" => tokens.written = number,
            _ => return None,
        }
    }
    // What was sent counts what the cache had.
    tokens.input = tokens.input.saturating_sub(tokens.cached);
    let dollars = cost.and_then(|cost| cost.strip_prefix('$')?.split(' ').next()?.parse().ok());
    (tokens.total() > 0).then_some((tokens, dollars))
}

/// `2.5k`.
fn number_of(text: &str) -> Option<u64> {
    let (digits, zeros) = match text.strip_suffix(['k', 'M']) {
        Some(digits) if text.ends_with('k') => (digits, 3_usize),
        Some(digits) => (digits, 6),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if part.len() > zeros {
        return None;
    }
    format!("{whole}{part}{}", "0".repeat(zeros - part.len())).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_told_apart_from_what_it_says_about_itself() {
        let tokens = |input, output| TokenUsage { input, output, ..TokenUsage::default() };
        let answer = |text: &str| Line::Answer(text.to_owned());
        let rows = [
            ("", Line::Noise),
            ("Aider v0.86.2", Line::Noise),
            ("Model: openai/m with diff edit format", Line::Noise),
            ("Git repo: .git with 2 files", Line::Noise),
            ("Added a.py to the chat.", Line::Added("a.py".to_owned())),
            ("Added ../ctx.md to the chat (read-only).", Line::Noise),
            ("https://aider.chat/HISTORY.html#release-notes", Line::Noise),
            ("Model behaviour is simple.", answer("Model behaviour is simple.")),
            ("", answer("")),
            ("Model: openai/m is what I use", answer("Model: openai/m is what I use")),
            ("```python", answer("```python")),
            ("Applied edit to a.py", answer("Applied edit to a.py")),
            ("```", answer("```")),
            ("Tokens: 2.5k sent, 38 received.", Line::Spent(tokens(2_500, 38), None)),
            (
                "Tokens: 12k sent, 1.2M received. Cost: $0.01 message, $0.02 session.",
                Line::Spent(tokens(12_000, 1_200_000), Some(0.01)),
            ),
            ("Tokens: are words", answer("Tokens: are words")),
            ("Applied edit to a.py", Line::Edited("a.py".to_owned())),
        ];
        let mut reader = Reader::default();
        for (line, told) in rows {
            assert_eq!(reader.read(line), told, "{line}");
        }
    }

    #[test]
    fn a_failure_of_the_server_is_no_answer() {
        let mut reader = Reader::default();
        let trouble = |text: &str| Line::Trouble(text.to_owned());
        for (line, told) in [
            ("litellm.InternalServerError: boom", trouble("litellm.InternalServerError: boom")),
            ("The API provider's servers are down.", trouble("The API provider's servers are down.")),
            ("Retrying in 0.2 seconds...", Line::Retry),
            ("litellm.AuthenticationError: no", trouble("litellm.AuthenticationError: no")),
            ("", Line::Noise),
            ("Fine.", Line::Answer("Fine.".to_owned())),
        ] {
            assert_eq!(reader.read(line), told, "{line}");
        }
    }

    #[test]
    fn cached_tokens_are_counted_once() {
        let cached = "Tokens: 5.0k sent, 1k cache write, 2k cache hit, 10 received.";
        let tokens = TokenUsage { input: 3_000, cached: 2_000, output: 10, thought: 0, written: 1_000 };
        assert_eq!(spent(cached), Some((tokens, None)));
    }
}
