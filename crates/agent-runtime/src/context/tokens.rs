//! About how many tokens a text is, by the model's family and by script. No tokenizer: a table, and the counts of the
//! server correct it ([`crate::agent::Learned`]).
//!
//! Pure.

use session_model::{Content, EmbeddedResource, ResourceBody};

use crate::provider::{ModelMessage, ToolSchema};

/// Models whose tokenizers cut alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// OpenAI's, and what uses their tokenizers.
    Gpt,
    /// Anthropic's.
    Claude,
    /// Google's.
    Gemini,
    /// Llama 3 and later, and Mistral's newer ones.
    Llama,
    /// Qwen, `DeepSeek`, Kimi, GLM: more Chinese in their vocabulary.
    Qwen,
    /// Small vocabularies (Llama 2, Mistral 7B, `SmolLM`), and whatever is not known: on the careful side.
    Small,
}

/// How a family cuts.
struct Table {
    /// Letters of a word in one token.
    word: u64,
    /// Digits in one.
    digits: u64,
    /// Marks in a row (punctuation, operators) in one.
    marks: u64,
    /// Tokens of a hundred Han, Kana or Hangul characters.
    cjk: u64,
    /// Tokens of a hundred letters of any other script but Latin.
    letters: u64,
}

/// What stands around every message.
const PER_MESSAGE: u64 = 4;
/// An image or a sound; servers count tiles, not characters.
const MEDIA: u64 = 1_000;
/// Anything else, an emoji say.
const SYMBOL: u64 = 200;

impl Family {
    /// By the model's name, as its server or its users spell it.
    #[must_use]
    pub fn of(model: &str) -> Self {
        /// The first that occurs in the name decides.
        const NAMES: &[(&str, Family)] = &[
            // Made of other families' models, and named after both.
            ("deepseek", Family::Qwen),
            ("gpt-oss", Family::Gpt),
            ("claude", Family::Claude),
            ("gemini", Family::Gemini),
            ("gemma", Family::Gemini),
            ("qwen", Family::Qwen),
            ("qwq", Family::Qwen),
            ("kimi", Family::Qwen),
            ("glm", Family::Qwen),
            ("smollm", Family::Small),
            ("llama-2", Family::Small),
            ("llama2", Family::Small),
            ("codellama", Family::Small),
            ("tinyllama", Family::Small),
            ("mistral-7b", Family::Small),
            ("mixtral", Family::Small),
            ("llama", Family::Llama),
            ("mistral", Family::Llama),
            ("codestral", Family::Llama),
            ("devstral", Family::Llama),
            ("gpt", Family::Gpt),
            ("o1", Family::Gpt),
            ("o3", Family::Gpt),
            ("o4", Family::Gpt),
        ];
        let model = model.to_lowercase();
        NAMES.iter().find(|(name, _)| model.contains(name)).map_or(Self::Small, |(_, family)| *family)
    }

    fn table(self) -> Table {
        match self {
            Self::Gpt => Table { word: 7, digits: 3, marks: 2, cjk: 80, letters: 32 },
            Self::Claude => Table { word: 6, digits: 2, marks: 2, cjk: 115, letters: 50 },
            Self::Gemini => Table { word: 7, digits: 1, marks: 2, cjk: 70, letters: 33 },
            Self::Llama => Table { word: 7, digits: 3, marks: 2, cjk: 95, letters: 43 },
            Self::Qwen => Table { word: 7, digits: 1, marks: 2, cjk: 65, letters: 48 },
            Self::Small => Table { word: 5, digits: 1, marks: 1, cjk: 170, letters: 90 },
        }
    }

    /// About how many tokens `text` is.
    #[must_use]
    pub fn tokens(self, text: &str) -> u64 {
        let table = self.table();
        let mut hundredths = 0;
        let mut run = (Kind::Space, 0);
        for c in text.chars() {
            let kind = Kind::of(c);
            if kind == run.0 {
                run.1 += 1;
            } else {
                hundredths += table.of(run);
                run = (kind, 1);
            }
        }
        (hundredths + table.of(run)).div_ceil(100)
    }

    /// About how many tokens the conversation takes.
    #[must_use]
    pub fn of_messages(self, messages: &[ModelMessage]) -> u64 {
        messages.iter().map(|message| PER_MESSAGE + self.of_message(message)).sum()
    }

    fn of_message(self, message: &ModelMessage) -> u64 {
        match message {
            ModelMessage::User(content) => content.iter().map(|piece| self.of_content(piece)).sum(),
            ModelMessage::Assistant { text, calls, kept, reasoning: _ } => {
                let calls = calls.iter().map(|call| self.tokens(&call.name) + self.tokens(&call.arguments));
                let kept = kept.iter().map(|value| self.tokens(&value.to_string()));
                self.tokens(text) + calls.sum::<u64>() + kept.sum::<u64>()
            }
            ModelMessage::ToolResult { output, .. } => self.tokens(output),
        }
    }

    fn of_content(self, content: &Content) -> u64 {
        match content {
            Content::Text { text } => self.tokens(text),
            Content::Image { .. } | Content::Audio { .. } => MEDIA,
            Content::Link(link) => self.tokens(&link.uri) + self.tokens(&link.name),
            Content::Resource(EmbeddedResource { uri, body, .. }) => {
                self.tokens(uri)
                    + match body {
                        ResourceBody::Text(text) | ResourceBody::Blob(text) => self.tokens(text),
                    }
            }
        }
    }

    /// About how many tokens the tools' descriptions take.
    #[must_use]
    pub fn of_tools(self, tools: &[ToolSchema]) -> u64 {
        let of = |tool: &ToolSchema| {
            PER_MESSAGE
                + self.tokens(&tool.name)
                + self.tokens(&tool.description)
                + self.tokens(&tool.parameters.to_string())
        };
        tools.iter().map(of).sum()
    }
}

/// What a character is to a tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Digit,
    Mark,
    Space,
    Line,
    Cjk,
    Letter,
    Symbol,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Self::Word,
            '0'..='9' => Self::Digit,
            '\n' => Self::Line,
            c if c.is_whitespace() => Self::Space,
            c if c.is_ascii() => Self::Mark,
            '\u{1100}'..='\u{11ff}'
            | '\u{2e80}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}'
            | '\u{20000}'..='\u{3ffff}' => Self::Cjk,
            c if c.is_alphabetic() => Self::Letter,
            _ => Self::Symbol,
        }
    }
}

impl Table {
    /// Hundredths of tokens of a run of one kind.
    fn of(&self, (kind, length): (Kind, u64)) -> u64 {
        match kind {
            Kind::Word => 100 * length.div_ceil(self.word),
            Kind::Digit => 100 * length.div_ceil(self.digits),
            Kind::Mark => 100 * length.div_ceil(self.marks),
            // One space belongs to the word after it; a longer run is an indentation.
            Kind::Space => 100 * length.saturating_sub(1).div_ceil(16),
            Kind::Line => 100 * length.div_ceil(2),
            Kind::Cjk => self.cjk * length,
            Kind::Letter => self.letters * length,
            Kind::Symbol => SYMBOL * length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_of_the_family_its_name_says() {
        let rows = [
            ("gpt-4.1-mini", Family::Gpt),
            ("openai/gpt-oss-120b", Family::Gpt),
            ("o4-mini", Family::Gpt),
            ("claude-sonnet-4-5", Family::Claude),
            ("eu.anthropic.claude-3-haiku", Family::Claude),
            ("gemini-2.5-pro", Family::Gemini),
            ("gemma-3-27b-it", Family::Gemini),
            ("Meta-Llama-3.1-8B-Instruct", Family::Llama),
            ("llama2:13b", Family::Small),
            ("Qwen2.5-Coder-7B", Family::Qwen),
            ("deepseek-r1-distill-llama-70b", Family::Qwen),
            ("SmolLM2-135M-Instruct.Q4_1.gguf", Family::Small),
            ("", Family::Small),
            ("my-own-model", Family::Small),
        ];
        for (model, family) in rows {
            assert_eq!(Family::of(model), family, "{model}");
        }
    }

    const PROSE: &str = "The parser reads the header first, then every record, and stops at the first one it cannot \
                         understand; what it has read so far is kept and the rest of the file is reported.";
    const CODE: &str = "fn main() {\n    let total: usize = items.iter().map(|item| item.len()).sum();\n    \
                        println!(\"{total}\");\n}\n";

    /// The counts in brackets are those of a tokenizer of the family (`o200k_base` for GPT, as published; the others
    /// lie within what their servers report for such texts).
    #[test]
    fn an_estimate_is_near_enough_to_plan_with() {
        let rows: &[(Family, &str, std::ops::RangeInclusive<u64>)] = &[
            (Family::Gpt, PROSE, 34..=46),
            (Family::Gpt, CODE, 30..=50),
            (Family::Small, PROSE, 36..=60),
            (Family::Small, CODE, 40..=75),
            (Family::Gpt, "解析器首先读取文件头，然后逐条读取记录。", 12..=20),
            (Family::Qwen, "解析器首先读取文件头，然后逐条读取记录。", 10..=16),
            (Family::Small, "解析器首先读取文件头，然后逐条读取记录。", 25..=45),
            (Family::Gpt, "Парсер сначала читает заголовок файла, затем записи.", 12..=22),
            (Family::Gpt, "1234567890", 4..=4),
            (Family::Qwen, "1234567890", 10..=10),
            (Family::Gpt, "", 0..=0),
        ];
        for (family, text, near) in rows {
            let tokens = family.tokens(text);
            assert!(near.contains(&tokens), "{family:?} {text:.20}: {tokens}");
        }
    }

    #[test]
    fn every_part_of_a_conversation_counts() {
        let family = Family::Gpt;
        let text = |text: &str| ModelMessage::User(vec![Content::text(text)]);
        let one = family.of_messages(&[text("hello world")]);
        assert_eq!(one, PER_MESSAGE + 2);
        assert_eq!(family.of_messages(&[text("hello world"), text("hello world")]), 2 * one);
        let image = Content::Image { data: "AAAA".repeat(9_000), mime_type: "image/png".into(), uri: None };
        assert_eq!(family.of_messages(&[ModelMessage::User(vec![image])]), PER_MESSAGE + MEDIA);
        let tool = ToolSchema {
            name: "look".to_owned(),
            description: "looks at it".to_owned(),
            parameters: serde_json::json!({"type": "object"}),
        };
        assert!(family.of_tools(&[tool]) > PER_MESSAGE + 4);
    }
}
