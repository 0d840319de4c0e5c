//! Characters beyond the basic plane that a server cut in two, so that each half comes as a lone `\uD8xx` or
//! `\uDCxx` escape, which no JSON reader accepts. Such escapes are first turned into private-use characters that
//! stand for a half ([`mark`]); a [`Joiner`] per text then puts halves together, across pieces too.

use std::borrow::Cow;

use serde_json::Value;

/// Private-use characters from here on stand for the surrogates from [`FIRST_HIGH`] on.
const MARKS: u32 = 0x10_D800;
const FIRST_HIGH: u32 = 0xD800;
const FIRST_LOW: u32 = 0xDC00;
const LAST_LOW: u32 = 0xDFFF;

/// `json` with lone surrogate escapes replaced by marks; nothing when there are none.
pub(super) fn mark(json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while at < json.len() {
        if json[at] != b'\\' {
            at += 1;
            continue;
        }
        let Some(unit) = surrogate_at(json, at) else {
            at += 2;
            continue;
        };
        let paired = unit < FIRST_LOW && surrogate_at(json, at + 6).is_some_and(|next| next >= FIRST_LOW);
        if paired {
            at += 12;
            continue;
        }
        out.extend_from_slice(&json[copied..at]);
        let stand_in = char::from_u32(MARKS + unit - FIRST_HIGH).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(stand_in.encode_utf8(&mut [0; 4]).as_bytes());
        at += 6;
        copied = at;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(&json[copied..]);
    Some(out)
}

/// Reads JSON, with bytes that are no characters replaced; the flag says whether lone surrogates had to be marked.
///
/// # Errors
/// It is no JSON.
pub(super) fn read(json: &[u8]) -> Result<(Value, bool), serde_json::Error> {
    serde_json::from_slice(json).map(|value| (value, false)).or_else(|_| {
        let text = String::from_utf8_lossy(json);
        let marked = mark(text.as_bytes());
        let value = serde_json::from_slice(marked.as_deref().unwrap_or(text.as_bytes()))?;
        Ok((value, marked.is_some()))
    })
}

/// The surrogate that the escape at `at` names, if it is one.
fn surrogate_at(json: &[u8], at: usize) -> Option<u32> {
    let escape = json.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    (FIRST_HIGH..=LAST_LOW).contains(&unit).then_some(unit)
}

/// Puts the halves of one text together.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    high: Option<u32>,
}

impl Joiner {
    /// The next piece of a text as it is meant; `marked` tells whether it may hold marks.
    pub(super) fn add<'a>(&mut self, piece: &'a str, marked: bool) -> Cow<'a, str> {
        if marked || self.high.is_some() { self.join(piece).into() } else { piece.into() }
    }

    /// The next piece with its halves joined; a high half at its end is kept for the next one.
    fn join(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for c in piece.chars() {
            let unit = (u32::from(c)).checked_sub(MARKS).map(|offset| offset + FIRST_HIGH);
            let unit = unit.filter(|unit| *unit <= LAST_LOW);
            match (self.high.take(), unit) {
                (Some(high), Some(low)) if low >= FIRST_LOW => out.push(pair(high, low)),
                (before, Some(unit)) => {
                    out.extend(before.map(|_| char::REPLACEMENT_CHARACTER));
                    if unit < FIRST_LOW {
                        self.high = Some(unit);
                    } else {
                        out.push(char::REPLACEMENT_CHARACTER);
                    }
                }
                (before, None) => {
                    out.extend(before.map(|_| char::REPLACEMENT_CHARACTER));
                    out.push(c);
                }
            }
        }
        out
    }

    /// What is left at the end of the text.
    pub(super) fn end(&mut self) -> Option<char> {
        self.high.take().map(|_| char::REPLACEMENT_CHARACTER)
    }
}

fn pair(high: u32, low: u32) -> char {
    let code = 0x1_0000 + ((high - FIRST_HIGH) << 10) + (low - FIRST_LOW);
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[&str]) -> String {
        let mut joiner = Joiner::default();
        let mut text = String::new();
        for piece in pieces {
            let json = format!("\"{piece}\"");
            let marked = mark(json.as_bytes()).unwrap_or_else(|| json.into_bytes());
            text.push_str(&joiner.join(&serde_json::from_slice::<String>(&marked).unwrap()));
        }
        text.extend(joiner.end());
        text
    }

    #[test]
    fn halves_meet_within_and_across_pieces() {
        let table: &[(&[&str], &str)] = &[
            (&["a\\ud83e", "\\udd80b"], "a🦀b"),
            (&["a\\ud83e\\udd80b"], "a🦀b"),
            (&["\\ud83e", "", "\\udd80"], "🦀"),
            (&["\\ud83ex"], "\u{fffd}x"),
            (&["\\ud83e", "x"], "\u{fffd}x"),
            (&["\\udd80"], "\u{fffd}"),
            (&["\\ud83e"], "\u{fffd}"),
            (&["\\ud83e\\ud83e\\udd80"], "\u{fffd}🦀"),
            (&["\\\\ud83e \\\\\\ud83e"], "\\ud83e \\\u{fffd}"),
            (&["plain \\n \\\""], "plain \n \""),
        ];
        for (pieces, expected) in table {
            assert_eq!(joined(pieces), *expected, "{pieces:?}");
        }
    }

    #[test]
    fn text_without_lone_halves_is_left_alone() {
        assert_eq!(mark(br#"{"a":"\ud83e\udd80 \u00e9 \\"}"#), None);
    }
}
