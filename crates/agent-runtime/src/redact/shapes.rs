//! What keys look like. Shapes that their issuers document, each with a beginning that other text hardly has. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::Found;

/// A name, and how such a secret is written; where there is a group, that is the secret.
const SHAPES: &[(&str, &str)] = &[
    ("aws-key", r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    ("aws-secret", r#"(?i)\baws.{0,20}?secret.{0,20}?["'\s:=]+([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,64}"),
    ("slack-token", r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}"),
    ("api-key", r"\bsk-[A-Za-z0-9_-]{20,255}"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("stripe-key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{50,255}"),
    ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,64}\b"),
    ("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    ("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("telegram-token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("password", r#"\b[a-z][a-z0-9+.-]*://[^/\s:@"']{1,64}:([^/\s:@"'$<{%\[]{4,128})@"#),
];

/// A private key as a whole, possibly with the numbers that a tool put before its lines.
const KEY_BLOCK: &str =
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----([\s\S]*?)-----END [A-Z0-9 ]*PRIVATE KEY";

/// A line within one. Each is hidden by itself, so that what stands between them is never taken for a part.
const KEY_LINE: &str = r"[A-Za-z0-9+/=]{16,}";

struct Shapes {
    any: Regex,
    block: Regex,
    line: Regex,
}

/// None if a shape were no pattern, which a test rules out.
static COMPILED: LazyLock<Option<Shapes>> = LazyLock::new(|| {
    let each = SHAPES.iter().map(|(_, shape)| format!("({shape})")).collect::<Vec<_>>().join("|");
    Some(Shapes {
        any: Regex::new(&each).ok()?,
        block: Regex::new(KEY_BLOCK).ok()?,
        line: Regex::new(KEY_LINE).ok()?,
    })
});

pub(super) fn find(text: &str) -> Vec<Found> {
    let Some(shapes) = COMPILED.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    for captures in shapes.any.captures_iter(text) {
        // Groups stand in the order of the table: one for each shape, and one more where a shape has its own.
        let mut group = 1;
        for (kind, shape) in SHAPES {
            let own = usize::from(has_group(shape));
            if let Some(whole) = captures.get(group) {
                let secret = captures.get(group + own).unwrap_or(whole);
                if is_plausible(secret.as_str(), kind) {
                    found.push(Found { begin: secret.start(), end: secret.end(), kind });
                }
                break;
            }
            group += 1 + own;
        }
    }
    for block in shapes.block.captures_iter(text) {
        let Some(body) = block.get(1) else { continue };
        let lines = shapes.line.find_iter(body.as_str());
        let at = body.start();
        found.extend(lines.map(|line| Found {
            begin: at + line.start(),
            end: at + line.end(),
            kind: "private-key",
        }));
    }
    found
}

fn has_group(shape: &str) -> bool {
    shape.replace("(?", "").replace("\\(", "").contains('(')
}

/// Keys have digits and letters; names with dashes often have none of the former.
fn is_plausible(secret: &str, kind: &str) -> bool {
    if kind == "password" {
        return true;
    }
    secret.contains(|c: char| c.is_ascii_digit()) && secret.contains(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::{COMPILED, SHAPES};

    #[test]
    fn every_shape_is_a_pattern() {
        assert!(COMPILED.is_some());
        for (name, shape) in SHAPES {
            assert!(regex::Regex::new(shape).is_ok(), "{name}");
        }
    }
}
