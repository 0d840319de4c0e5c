//! Reads answers whose events are JSON objects with a type, as the Messages and the Responses API have them. What an
//! event means is the API's affair.

use serde_json::Value;

use super::error::{self, Failure};
use super::reader::Answer;
use super::surrogates;
use crate::provider::ModelDelta;

/// An answer made of such events.
pub(super) trait Objects: Answer {
    /// Takes one event; `name` is its type where the object does not say it. `marked` as [`surrogates::read`] has it.
    fn take_event(
        &mut self,
        name: &str,
        event: &Value,
        marked: bool,
        out: &mut Vec<ModelDelta>,
    ) -> Result<(), Failure>;

    /// Whether the mark that ends the older API's streams may end this one.
    fn may_be_done(&self) -> bool;

    /// The first data that was no object.
    fn junk(&mut self) -> &mut Option<String>;
}

/// Takes the data of one event.
pub(super) fn take_data(
    answer: &mut impl Objects,
    name: &[u8],
    data: &[u8],
    out: &mut Vec<ModelDelta>,
) -> Result<(), Failure> {
    if !data.starts_with(b"{") {
        match name {
            // Servers that grew out of the other API end with its mark.
            _ if data == b"[DONE]" && answer.may_be_done() => answer.close(out),
            b"error" => return Err(error::reported_text(answer.agent(), data)),
            _ => {
                answer.junk().get_or_insert_with(|| error::excerpt(data));
            }
        }
        return Ok(());
    }
    let (event, marked) =
        surrogates::read(data).map_err(|cause| error::unreadable(answer.agent(), &cause, data))?;
    answer.take_event(&String::from_utf8_lossy(name), &event, marked, out)
}

/// Takes a body that is one object: the answer as a whole.
pub(super) fn take_body(
    answer: &mut impl Objects,
    body: &[u8],
    out: &mut Vec<ModelDelta>,
) -> Result<(), Failure> {
    match surrogates::read(body) {
        Ok((whole, marked)) if whole.is_object() => answer.take_event("", &whole, marked, out)?,
        Err(cause) if cause.is_eof() => return Err(error::truncated(answer.agent(), "half a JSON object")),
        Ok(_) | Err(_) => return Err(error::malformed(answer.agent(), &error::excerpt(body))),
    }
    if !answer.is_finished() {
        return Err(error::malformed(answer.agent(), &error::excerpt(body)));
    }
    Ok(())
}
