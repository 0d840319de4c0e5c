//! What a client's response to a question means. Both versions answer alike, and a client may answer anything: an
//! error, a wrong shape, an option nobody offered. Nothing but an offered option chosen in the protocol's own form is
//! ever read as one. Knows no version.

use acp_rpc::{RequestError, RpcError};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use session_model::{Answer, AskOption};

use super::form;

/// What the client answered to `session/request_permission`.
pub(super) fn permission(options: &[AskOption], outcome: Result<&RawValue, &RequestError>) -> Answer {
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return failed("the permission request", error),
    };
    let Ok(Permission { outcome }) = serde_json::from_str(response.get()) else {
        return Answer::Unanswerable(
            "the client's answer to the permission request has no `outcome`".to_owned(),
        );
    };
    match outcome_of(&outcome) {
        Some(("cancelled", _)) => Answer::Cancelled,
        Some(("selected", Some(chosen))) => {
            match options.iter().find(|option| option.id.as_str() == chosen) {
                Some(option) => Answer::Selected(option.id.clone()),
                None => Answer::Unanswerable(not_offered(chosen, options)),
            }
        }
        Some(("selected", None)) => Answer::Unanswerable(
            "the client's answer to the permission request names no `optionId`".to_owned(),
        ),
        Some((other, _)) => Answer::Unanswerable(format!(
            "the client answered the permission request with the unknown outcome {}",
            shown(other)
        )),
        None => {
            Answer::Unanswerable("the client's answer to the permission request has no `outcome`".to_owned())
        }
    }
}

#[derive(Deserialize)]
struct Permission {
    outcome: Value,
}

/// The outcome's word and the option it names. `{"outcome": "cancelled"}` without its inner object is what some
/// clients send, and can do no harm.
fn outcome_of(outcome: &Value) -> Option<(&str, Option<&str>)> {
    match outcome {
        Value::String(word) if word == "cancelled" => Some((word, None)),
        Value::Object(members) => {
            let word = members.get("outcome")?.as_str()?;
            Some((word, members.get("optionId").and_then(Value::as_str)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn not_offered(chosen: &str, options: &[AskOption]) -> String {
    let offered: Vec<&str> = options.iter().map(|option| option.id.as_str()).collect();
    format!(
        "the client chose the option {}, which was not offered ({} were)",
        shown(chosen),
        offered.join(", ")
    )
}

/// What the client answered to `elicitation/create` in form mode. An accepted form is checked against `schema`.
pub(super) fn elicitation(schema: &Value, outcome: Result<&RawValue, &RequestError>) -> Answer {
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return failed("the form", error),
    };
    let Ok(Elicitation { action, content }) = serde_json::from_str(response.get()) else {
        return Answer::Unanswerable("the client's answer to the form has no `action`".to_owned());
    };
    match action.as_str() {
        "accept" => {
            let content = content.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
            match form::check(schema, &content) {
                Ok(()) => Answer::Form(content),
                Err(problem) => Answer::Unanswerable(format!("the filled-in form is not valid: {problem}")),
            }
        }
        "decline" => Answer::Declined,
        // `cancel`, and by the protocol every action of a later version.
        _ => Answer::Cancelled,
    }
}

#[derive(Deserialize)]
struct Elicitation {
    action: String,
    #[serde(default)]
    content: Option<Value>,
}

fn failed(what: &str, error: &RequestError) -> Answer {
    if matches!(error, RequestError::Rpc(error) if error.code == RpcError::CANCELLED) {
        return Answer::Cancelled;
    }
    Answer::Unanswerable(format!("{what} was not answered: {error}"))
}

/// A client's word, short enough for a sentence.
fn shown(word: &str) -> String {
    format!("`{}`", super::limit::head(word, 80))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use session_model::AskOptionKind;

    use super::*;

    fn options() -> Vec<AskOption> {
        [("allow", AskOptionKind::AllowOnce), ("reject", AskOptionKind::RejectOnce)]
            .map(|(id, kind)| AskOption { id: id.into(), name: id.to_owned(), kind })
            .to_vec()
    }

    fn answered(response: &str) -> Answer {
        let raw = RawValue::from_string(response.to_owned()).unwrap();
        permission(&options(), Ok(&raw))
    }

    #[test]
    fn an_offered_option_is_selected() {
        assert_eq!(
            answered(r#"{"outcome":{"outcome":"selected","optionId":"allow"}}"#),
            Answer::Selected("allow".into())
        );
        assert_eq!(
            answered(r#"{"outcome":{"outcome":"selected","optionId":"reject","_meta":{}},"extra":1}"#),
            Answer::Selected("reject".into())
        );
    }

    #[test]
    fn cancelled_is_cancelled_in_either_nesting() {
        for response in [r#"{"outcome":{"outcome":"cancelled"}}"#, r#"{"outcome":"cancelled"}"#] {
            assert_eq!(answered(response), Answer::Cancelled, "{response}");
        }
    }

    #[test]
    fn whatever_is_not_understood_is_no_consent() {
        for response in [
            r#"{"outcome":"allow_once"}"#,
            r#"{"outcome":"selected","optionId":"allow"}"#,
            r#"{"outcome":{"outcome":"selected","optionId":"allow_once"}}"#,
            r#"{"outcome":{"outcome":"selected","optionId":"ALLOW"}}"#,
            r#"{"outcome":{"outcome":"selected","optionId":1}}"#,
            r#"{"outcome":{"outcome":"selected"}}"#,
            r#"{"outcome":{"outcome":"approved","optionId":"allow"}}"#,
            r#"{"outcome":{"optionId":"allow"}}"#,
            r#"{"outcome":["selected","allow"]}"#,
            r#"{"outcome":true}"#,
            r#"{"optionId":"allow"}"#,
            "{}",
            "null",
            "true",
            r#""allow""#,
            r#"["allow"]"#,
        ] {
            let answer = answered(response);
            assert!(matches!(answer, Answer::Unanswerable(_)), "{response}: {answer:?}");
        }
    }

    #[test]
    fn the_cause_names_what_was_chosen_and_what_was_offered() {
        assert_eq!(
            answered(r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#),
            Answer::Unanswerable(
                "the client chose the option `yes`, which was not offered (allow, reject were)".to_owned()
            )
        );
    }

    #[test]
    fn an_error_response_is_no_consent_and_a_withdrawal_is_cancelled() {
        let error = RequestError::Rpc(RpcError::method_not_found("session/request_permission"));
        assert_eq!(
            permission(&options(), Err(&error)),
            Answer::Unanswerable(
                "the permission request was not answered: peer answered: Method not found: \
                 session/request_permission (-32601)"
                    .to_owned()
            )
        );
        let withdrawn = RequestError::Rpc(RpcError::cancelled());
        assert_eq!(permission(&options(), Err(&withdrawn)), Answer::Cancelled);
        for error in [RequestError::Closed, RequestError::Deadline, RequestError::Malformed] {
            assert!(matches!(permission(&options(), Err(&error)), Answer::Unanswerable(_)), "{error:?}");
        }
    }

    fn filled(response: &str) -> Answer {
        let schema = json!({
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 1}},
            "required": ["name"],
        });
        let raw = RawValue::from_string(response.to_owned()).unwrap();
        elicitation(&schema, Ok(&raw))
    }

    #[test]
    fn a_form_is_accepted_declined_or_cancelled() {
        assert_eq!(
            filled(r#"{"action":"accept","content":{"name":"x"}}"#),
            Answer::Form(json!({"name": "x"}))
        );
        assert_eq!(filled(r#"{"action":"decline"}"#), Answer::Declined);
        assert_eq!(filled(r#"{"action":"cancel"}"#), Answer::Cancelled);
        assert_eq!(filled(r#"{"action":"_later"}"#), Answer::Cancelled);
    }

    #[test]
    fn a_form_that_breaks_its_schema_or_has_no_action_is_unanswerable() {
        for response in [
            r#"{"action":"accept","content":{"name":""}}"#,
            r#"{"action":"accept","content":{"name":5}}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":[]}"#,
            r#"{"content":{"name":"x"}}"#,
            "null",
        ] {
            let answer = filled(response);
            assert!(matches!(answer, Answer::Unanswerable(_)), "{response}: {answer:?}");
        }
    }
}
