//! What keys look like. Shapes that their issuers document, each with a beginning that other text hardly has. Pure.

use std::sync::OnceLock;

use memchr::memmem;
use regex::Regex;

use super::Found;

/// One kind of secret.
struct Shape {
    kind: &'static str,
    /// Texts without any of these hold none. Most texts are looked through for them alone: all that a model is told passes
    /// here with every request, and patterns are much slower, to compile as well.
    signs: &'static [&'static str],
    /// How it is written; where there is a group, that is the secret. Boundaries are those of ASCII, or text in other
    /// letters would be searched slowly.
    pattern: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Shape {
    const fn new(kind: &'static str, signs: &'static [&'static str], pattern: &'static str) -> Self {
        Self { kind, signs, pattern, compiled: OnceLock::new() }
    }

    fn has_sign(&self, text: &str) -> bool {
        self.signs.iter().any(|sign| memmem::find(text.as_bytes(), sign.as_bytes()).is_some())
    }

    /// The pattern, when the text may hold one. None also if it were no pattern, which a test rules out.
    fn sought_in(&self, text: &str) -> Option<&Regex> {
        if !self.has_sign(text) {
            return None;
        }
        self.compiled.get_or_init(|| Regex::new(self.pattern).ok()).as_ref()
    }
}

static SHAPES: [Shape; 16] = [
    Shape::new("aws-key", &["AKIA", "ASIA"], r"(?-u:\b)(?:AKIA|ASIA)[A-Z2-7]{16}(?-u:\b)"),
    Shape::new(
        "aws-secret",
        &["ecret", "ECRET"],
        r#"(?i)(?-u:\b)aws.{0,20}?secret.{0,20}?["'\s:=]+([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
    ),
    Shape::new(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})(?-u:\b)",
    ),
    Shape::new("gitlab-token", &["glpat-"], r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,64}"),
    Shape::new("slack-token", &["xox", "xapp-"], r"(?-u:\b)(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}"),
    Shape::new("api-key", &["sk-"], r"(?-u:\b)sk-[A-Za-z0-9_-]{20,255}"),
    Shape::new("google-key", &["AIza"], r"(?-u:\b)AIza[A-Za-z0-9_-]{35}"),
    Shape::new("stripe-key", &["k_live_", "k_test_"], r"(?-u:\b)[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    Shape::new("npm-token", &["npm_"], r"(?-u:\b)npm_[A-Za-z0-9]{36}(?-u:\b)"),
    Shape::new("pypi-token", &["pypi-"], r"(?-u:\b)pypi-[A-Za-z0-9_-]{50,255}"),
    Shape::new("huggingface-token", &["hf_"], r"(?-u:\b)hf_[A-Za-z0-9]{30,64}(?-u:\b)"),
    Shape::new("sendgrid-key", &["SG."], r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    Shape::new(
        "digitalocean-token",
        &["doo_v1_", "dop_v1_", "dor_v1_"],
        r"(?-u:\b)do[opr]_v1_[a-f0-9]{64}(?-u:\b)",
    ),
    Shape::new("telegram-token", &[":AA"], r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?-u:\b)"),
    Shape::new("jwt", &["eyJ"], r"(?-u:\b)eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    Shape::new(
        "password",
        &["://"],
        r#"(?-u:\b)[a-z][a-z0-9+.-]*://[^/\s:@"']{1,64}:([^/\s:@"'$<{%\[]{4,128})@"#,
    ),
];

/// A private key as a whole, possibly with the numbers that a tool put before its lines.
static KEY_BLOCK: Shape = Shape::new(
    "private-key",
    &["PRIVATE KEY"],
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----([\s\S]*?)-----END [A-Z0-9 ]*PRIVATE KEY",
);

/// A line within one, sought wherever there is one. Each is hidden by itself, so that what stands between them is never
/// taken for a part.
static KEY_LINE: Shape = Shape::new("private-key", &[""], r"[A-Za-z0-9+/=]{16,}");

/// Whether there is a sign of any secret.
pub(super) fn has_signs(text: &str) -> bool {
    SHAPES.iter().chain([&KEY_BLOCK]).any(|shape| shape.has_sign(text))
}

pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for shape in &SHAPES {
        let Some(pattern) = shape.sought_in(text) else { continue };
        let has_group = pattern.captures_len() > 1;
        for whole in pattern.find_iter(text) {
            // Groups are slow to find; only where the pattern matches are they asked for.
            let group = if has_group { group(pattern, text, &whole) } else { None };
            let secret = group.unwrap_or(whole);
            if is_plausible(secret.as_str(), shape.kind) {
                found.push(Found { begin: secret.start(), end: secret.end(), kind: shape.kind });
            }
        }
    }
    for block in KEY_BLOCK.sought_in(text).into_iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(body) = block.get(1) else { continue };
        let Some(line) = KEY_LINE.sought_in(body.as_str()) else { continue };
        let at = body.start();
        found.extend(line.find_iter(body.as_str()).map(|line| Found {
            begin: at + line.start(),
            end: at + line.end(),
            kind: KEY_LINE.kind,
        }));
    }
    found
}

/// The first group of the match that begins where `whole` does.
fn group<'t>(pattern: &Regex, text: &'t str, whole: &regex::Match<'t>) -> Option<regex::Match<'t>> {
    pattern.captures_at(text, whole.start())?.get(1)
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
    use regex::Regex;

    use super::{KEY_BLOCK, KEY_LINE, SHAPES};

    #[test]
    fn every_shape_is_a_pattern() {
        for shape in SHAPES.iter().chain([&KEY_BLOCK, &KEY_LINE]) {
            assert!(Regex::new(shape.pattern).is_ok(), "{}", shape.kind);
        }
    }
}
