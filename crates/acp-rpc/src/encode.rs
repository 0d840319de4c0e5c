//! Messages as bytes: one line each, with its line feed.

use serde::Serialize;

use crate::{RequestId, RpcError};

const START: &[u8] = b"{\"jsonrpc\":\"2.0\"";

/// Appends a notification; absent parameters are written when `params` serialises to null.
pub(crate) fn notification<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(START);
    call(out, method, params)
}

/// Appends a request.
pub(crate) fn request<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    id: &RequestId,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    start_with_id(out, id)?;
    call(out, method, params)
}

/// Appends a response with a result, without its line feed (it may go into a batch).
pub(crate) fn result<R: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    id: &RequestId,
    result: &R,
) -> Result<(), serde_json::Error> {
    start_with_id(out, id)?;
    value(out, b",\"result\":", result)?;
    out.push(b'}');
    Ok(())
}

/// Appends a response with an error, without its line feed.
pub(crate) fn error(out: &mut Vec<u8>, id: &RequestId, error: &RpcError) -> Result<(), serde_json::Error> {
    start_with_id(out, id)?;
    value(out, b",\"error\":", error)?;
    out.push(b'}');
    Ok(())
}

fn start_with_id(out: &mut Vec<u8>, id: &RequestId) -> Result<(), serde_json::Error> {
    out.extend_from_slice(START);
    value(out, b",\"id\":", id)
}

fn call<P: Serialize + ?Sized>(out: &mut Vec<u8>, method: &str, params: &P) -> Result<(), serde_json::Error> {
    value(out, b",\"method\":", method)?;
    let without = out.len();
    value(out, b",\"params\":", params)?;
    if out.ends_with(b",\"params\":null") && out.len() == without + b",\"params\":null".len() {
        out.truncate(without);
    }
    out.extend_from_slice(b"}\n");
    Ok(())
}

/// Appends a value that must stay on its line: unread JSON text may hold line breaks between its tokens, where
/// they mean no more than a space.
fn value<T: Serialize + ?Sized>(out: &mut Vec<u8>, name: &[u8], value: &T) -> Result<(), serde_json::Error> {
    out.extend_from_slice(name);
    let start = out.len();
    serde_json::to_writer(&mut *out, value)?;
    if memchr::memchr2(b'\n', b'\r', &out[start..]).is_some() {
        for byte in &mut out[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_call_without_parameters_has_no_params_member() {
        assert_eq!(text(|out| notification(out, "tick", &())), "{\"jsonrpc\":\"2.0\",\"method\":\"tick\"}\n");
        assert_eq!(
            text(|out| request(out, &7.into(), "a\"b", &[1])),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\\\"b\",\"params\":[1]}\n"
        );
    }

    #[test]
    fn line_breaks_inside_unread_text_do_not_break_the_line() {
        let raw = RawValue::from_string("{\r\n\"a\": \"x\\ny\"\n}".to_owned()).unwrap();
        assert_eq!(
            text(|out| result(out, &"i".into(), &raw)),
            "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{  \"a\": \"x\\ny\" }}"
        );
    }
}
