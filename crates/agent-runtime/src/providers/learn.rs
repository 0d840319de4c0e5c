//! Servers refuse optional parts of a request that they do not know. This finds out from a refusal which part
//! that was. Knows the wording of servers, nothing of how a request is sent again.

/// Names of the optional parts that every API has.
pub(super) const TOOLS: &str = "tools";
pub(super) const IMAGES: &str = "images";

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
        INCLUDE if message.contains("encrypted content") => true,
        // A part that is refused for its value carries it.
        _ => status != 500 && has_word(&message, part.split('=').next().unwrap_or(part)),
    };
    // A refusal that names several is about the most particular one; tools come last.
    let by_name = |part: &&str| !matches!(*part, TOOLS | IMAGES);
    let sent = || sent.iter().map(AsRef::as_ref);
    sent().filter(by_name).chain(sent().filter(|part| !by_name(part))).find(|part| named(part))
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
        let sent = ["tools", "images", "include", "stream_options", "temperature", "seed"];
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
    fn only_what_was_sent_can_be_refused() {
        assert_eq!(refused(400, "x does not support tools", &["temperature"]), None);
    }
}
