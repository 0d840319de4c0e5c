//! Notices a model that makes the same calls again and again.

use crate::provider::ModelCall;

/// So many identical answers in a row, and the model is reminded.
const REMIND_AT: usize = 3;
/// So many, and the turn ends before they run once more.
const END_AT: usize = 5;

/// What to do about an answer's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repetition {
    /// Nothing.
    Fine,
    /// Run them, and tell the model.
    Remind(usize),
    /// Do not run them; the turn is over.
    End(usize),
}

/// What the answers so far called.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: Vec<(String, String)>,
    in_a_row: usize,
}

impl Repeats {
    pub(super) fn observe(&mut self, calls: &[ModelCall]) -> Repetition {
        let batch: Vec<_> = calls.iter().map(|call| (call.name.clone(), normal(&call.arguments))).collect();
        if batch == self.last {
            self.in_a_row += 1;
        } else {
            self.last = batch;
            self.in_a_row = 1;
        }
        match self.in_a_row {
            END_AT.. => Repetition::End(self.in_a_row),
            REMIND_AT.. => Repetition::Remind(self.in_a_row),
            _ => Repetition::Fine,
        }
    }
}

/// Arguments without differences in spacing.
fn normal(arguments: &str) -> String {
    match crate::context::arguments(arguments) {
        Ok(members) => serde_json::Value::Object(members).to_string(),
        Err(_) => arguments.to_owned(),
    }
}

/// What the model is told.
pub(super) fn reminder(times: usize) -> String {
    format!(
        "[reminder: you have now made exactly these calls {times} times in a row, with the same arguments. Use the \
         results you have, try something different, or answer.]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> Vec<ModelCall> {
        vec![ModelCall { id: String::new(), name: "read_file".to_owned(), arguments: arguments.to_owned() }]
    }

    #[test]
    fn identical_calls_are_counted_in_a_row_whatever_their_spacing() {
        let mut repeats = Repeats::default();
        let seen: Vec<_> = [r#"{"a":1}"#, r#"{ "a": 1 }"#, r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":1}"#]
            .iter()
            .map(|arguments| repeats.observe(&call(arguments)))
            .collect();
        let expected = [
            Repetition::Fine,
            Repetition::Fine,
            Repetition::Remind(3),
            Repetition::Remind(4),
            Repetition::End(5),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn another_call_in_between_starts_the_count_again() {
        let mut repeats = Repeats::default();
        for arguments in ["{}", "{}", r#"{"a":1}"#, "{}", "{}"] {
            assert_eq!(repeats.observe(&call(arguments)), Repetition::Fine);
        }
    }
}
