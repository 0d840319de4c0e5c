//! Whose line was too long: what the first part of an unfinished message shows of it.

use crate::RequestId;

/// What the part of a message that was read says about the whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A request of the peer's, to be answered under its identifier.
    Request(RequestId),
    /// The answer to a request of ours.
    Answer(RequestId),
    /// Its identifier is not in this part, or it has none.
    Unknown,
}

/// Reads the top-level members of `prefix` as far as they are complete.
pub(crate) fn owner(prefix: &[u8]) -> Owner {
    let mut scan = Scan { text: prefix, at: 0 };
    let (mut id, mut answer, mut call) = (None, false, false);
    if scan.token(b'{').is_some() {
        while let Some(name) = scan.string() {
            match name {
                b"\"result\"" | b"\"error\"" => answer = true,
                b"\"method\"" | b"\"params\"" => call = true,
                _ => {}
            }
            let Some(value) = scan.token(b':').and_then(|()| scan.value()) else { break };
            if name == b"\"id\"" && id.is_none() {
                id = std::str::from_utf8(value).ok().and_then(RequestId::from_json);
            }
            if scan.token(b',').is_none() {
                break;
            }
        }
    }
    match (id, call, answer) {
        (Some(id), true, false) => Owner::Request(id),
        (Some(id), false, true) => Owner::Answer(id),
        _ => Owner::Unknown,
    }
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn token(&mut self, token: u8) -> Option<()> {
        (self.peek()? == token).then(|| self.at += 1)
    }

    /// A complete string with its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        let start = start.max(self.at);
        self.at += 1;
        loop {
            match self.text.get(self.at)? {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return self.text.get(start..self.at);
                }
                _ => self.at += 1,
            }
        }
    }

    /// A complete value; a number or word is complete when something follows it.
    fn value(&mut self) -> Option<&'a [u8]> {
        match self.peek()? {
            b'"' => self.string(),
            b'{' | b'[' => self.nested(),
            _ => {
                let start = self.at;
                while !matches!(self.text.get(self.at)?, b',' | b'}' | b']' | b' ' | b'\t') {
                    self.at += 1;
                }
                self.text.get(start..self.at)
            }
        }
    }

    fn nested(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return self.text.get(start..self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leading_id_is_found_whatever_else_was_complete() {
        let request = |id: i64| Owner::Request(RequestId::Number(id));
        for (prefix, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"te"#, request(7)),
            (r#" { "id" : 7 , "params":{"a":[{"id":1}],"b":"}"}, "meth"#, request(7)),
            (r#"{"method":"m\"","id":"a\"b","x"#, Owner::Request("a\"b".into())),
            (r#"{"jsonrpc":"2.0","id":7,"result":"xxx"#, Owner::Answer(RequestId::Number(7))),
            (r#"{"id":7,"error":{"#, Owner::Answer(RequestId::Number(7))),
        ] {
            assert_eq!(owner(prefix.as_bytes()), expected, "{prefix}");
        }
    }

    #[test]
    fn what_is_not_certain_is_unknown() {
        for prefix in [
            r#"{"jsonrpc":"2.0","method":"m","params":{"id":3,"te"#,
            r#"{"id":7,"jsonrpc":"2.0"#,
            r#"{"method":"m","id":7"#,
            r#"{"method":"m","id":1.5,"#,
            r#"{"method":"m","id":7,"result":1,"#,
            r#"[{"id":7,"method":"m","#,
            "\"\\",
            "xxxx",
            "{",
            "",
        ] {
            assert_eq!(owner(prefix.as_bytes()), Owner::Unknown, "{prefix}");
        }
    }
}
