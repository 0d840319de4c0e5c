//! Servers refuse optional parts of a request that they do not know. This finds out from a refusal which part
//! that was. Knows the wording of servers, nothing of how a request is sent again.

/// Names of the optional parts that every API has.
pub(super) const TOOLS: &str = "tools";
pub(super) const IMAGES: &str = "images";
pub(super) const SOUNDS: &str = "sounds";

/// A part that is refused by what it asks for, not by its name.
pub(super) const INCLUDE: &str = "include";

/// Words by which a refusal tells that something is not supported, rather than wrong.
const REFUSALS: &[&str] = &[
    "support",
    "unknown",
    "unrecognized",
    "unexpected",
    "not permitted",
    "not allowed",
    "extra inputs",
    "extra fields",
    "additional properties",
    "deprecated",
    "requires",
];

/// The optional part of `sent` that the answer refuses, if that is what it does.
pub(super) fn refused<'s, S: AsRef<str>>(status: u16, message: &str, sent: &'s [S]) -> Option<&'s str> {
    if !matches!(status, 400 | 404 | 415 | 422 | 500 | 501) {
        return None;
    }
    let message = message.to_lowercase();
    if !REFUSALS.iter().any(|word| message.contains(word)) {
        return None;
    }
    let named = |part: &str| match part {
        TOOLS => has_word(&message, "tool") || has_word(&message, "tools"),
        IMAGES => {
            ["image", "images", "vision", "multimodal", "image_url"].iter().any(|w| has_word(&message, w))
        }
        SOUNDS => ["audio", "sound", "sounds", "input_audio"].iter().any(|w| has_word(&message, w)),
        INCLUDE if message.contains("encrypted content") => true,
        // A part that is refused for its value carries it.
        _ => status != 500 && has_word(&message, part.split('=').next().unwrap_or(part)),
    };
    // A refusal that names several is about the most particular one; tools come last.
    let by_name = |part: &&str| !matches!(*part, TOOLS | IMAGES | SOUNDS);
    let sent = || sent.iter().map(AsRef::as_ref);
    sent().filter(by_name).chain(sent().filter(|part| !by_name(part))).find(|part| named(part))
}

/// With less than this an answer is of no use; the conversation has to become shorter then.
const LEAST_ROOM: u64 = 256;

/// Tokens that an answer may have beside what was sent, where a refusal says that both together are too much for the
/// model but what was sent is not; `asked` is the limit that the request had.
pub(super) fn room(status: u16, message: &str, asked: u64) -> Option<u64> {
    const WINDOW: &[&str] = &[
        "maximum context length is",
        "maximum context length of",
        "maximum model length of",
        "context window of",
        "context limit:",
        "must be <=",
    ];
    if !matches!(status, 400 | 422) {
        return None;
    }
    let message = message.to_lowercase();
    let window = WINDOW.iter().find_map(|words| {
        let (_, rest) = message.split_once(words)?;
        if *words == "context limit:" { numbers_in(rest).nth(2) } else { numbers_in(rest).next() }
    })?;
    let numbers: Vec<u64> = numbers_in(&message).collect();
    let times = numbers.iter().filter(|&&number| number == asked).count();
    if times <= usize::from(window == asked) {
        return None;
    }
    // What was sent is said beside the limit or in one sum with it.
    let told = |sent: u64| sent > 0 && sent < window && sent.saturating_add(asked) > window;
    let alone = numbers.iter().copied().find(|&sent| sent != asked && sent != window && told(sent));
    let summed = || numbers.iter().max()?.checked_sub(asked).filter(|&sent| told(sent));
    alone.or_else(summed).map(|sent| window - sent).filter(|room| *room >= LEAST_ROOM)
}

/// The whole numbers in a text, also those with commas.
fn numbers_in(text: &str) -> impl Iterator<Item = u64> + '_ {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '_';
    text.split(move |c| !is_part(c)).filter_map(|word| {
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_part() {
        let sent = ["tools", "sounds", "images", "include", "stream_options", "temperature", "seed"];
        let table = [
            (400, "registry.ollama.ai/library/x does not support tools", Some("tools")),
            (
                400,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser",
                Some("tools"),
            ),
            (500, "tools param requires --jinja flag", Some("tools")),
            (404, "No endpoints found that support tool use.", Some("tools")),
            (500, "image input is not supported - hint: you may need to provide the mmproj", Some("images")),
            (400, "unknown variant `image_url`, expected `text`", Some("images")),
            (
                400,
                "Unsupported value: 'temperature' does not support 0.2 with this model.",
                Some("temperature"),
            ),
            (422, "body.stream_options: Extra inputs are not permitted", Some("stream_options")),
            (400, "Unrecognized request argument supplied: seed", Some("seed")),
            (
                400,
                "Invalid value: 'input_audio'. Supported values are: 'text' and 'image_url'.",
                Some("sounds"),
            ),
            (500, "audio input is not supported - hint: you may need to provide the mmproj", Some("sounds")),
            (400, "Encrypted content is not supported with this model.", Some("include")),
            (400, "model not found", None),
            (400, "This model's maximum context length is 4096 tokens", None),
            (400, "tools.0.name is too long", None),
            (401, "does not support tools", None),
            (400, "toolset unknown", None),
        ];
        for (status, message, expected) in table {
            assert_eq!(refused(status, message, &sent), expected, "{message}");
        }
    }

    #[test]
    fn a_limit_that_is_too_much_beside_what_was_sent_is_told_from_too_much_sent() {
        let table = [
            (
                "This model's maximum context length is 8192 tokens. However, you requested 8212 tokens (20 in the \
                 messages, 8192 in the completion). Please reduce the length of the messages or completion.",
                Some(8_172),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 \
                 tokens and your request has 20 input tokens (8192 > 8192 - 20).",
                Some(8_172),
            ),
            (
                "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of \
                 8212 tokens: 20 tokens from the input messages and 8192 tokens for the completion.",
                Some(8_172),
            ),
            (
                "This endpoint's maximum context length is 131,072 tokens. However, you requested about 131,092 tokens \
                 (122,900 of text input, 8,192 in the output).",
                Some(8_172),
            ),
            (
                "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 300 `inputs` tokens and 8192 `max_new_tokens`",
                Some(7_893),
            ),
            (
                "input length and `max_tokens` exceed context limit: 192000 + 8192 > 200000, decrease input length or \
                 `max_tokens` and try again",
                Some(8_000),
            ),
            // One token too much.
            ("maximum context length is 8192 tokens. However, you requested 8193 tokens", None),
            (
                "maximum context length is 8193 tokens, you requested 8194 (2 in the messages, 8192 in the completion)",
                Some(8_191),
            ),
            // Hardly anything is left.
            (
                "maximum context length is 8300 tokens, you requested 16392 (8200 in the messages, 8192 in the completion)",
                None,
            ),
            // The messages alone are too long.
            (
                "This model's maximum context length is 8192 tokens. However, you requested 17192 tokens (9000 in the \
                 messages, 8192 in the completion).",
                None,
            ),
            ("the request exceeds the available context size (8192 tokens)", None),
            ("no such model", None),
        ];
        for (message, expected) in table {
            assert_eq!(room(400, message, 8_192), expected, "{message}");
        }
        assert_eq!(room(500, table[0].0, 8_192), None);
    }

    #[test]
    fn only_what_was_sent_can_be_refused() {
        assert_eq!(refused(400, "x does not support tools", &["temperature"]), None);
    }
}
