//! `AskUserQuestion`: what Claude Code wants to know of the user, and how it is told the answers. Pure; the asking is
//! done elsewhere.

use serde_json::{Map, Value};

use super::line::ToolUse;
use crate::inquiry::{Choice, Question};

/// The name under which it asks.
pub(super) const TOOL: &str = "AskUserQuestion";

/// The questions of a call; `None` when they are not understood.
pub(super) fn read(call: &ToolUse) -> Option<Vec<Question>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let choice =
        |option: &Value| Choice { label: text(&option["label"]), about: text(&option["description"]) };
    let question = |question: &Value| {
        let choices: Vec<_> = question["options"].as_array()?.iter().map(choice).collect();
        let whole = !choices.is_empty() && choices.iter().all(|choice| !choice.label.is_empty());
        let question = Question {
            text: text(&question["question"]),
            header: text(&question["header"]),
            several: question["multiSelect"].as_bool().unwrap_or(false),
            choices,
        };
        (whole && !question.text.is_empty()).then_some(question)
    };
    let questions = call.input.get("questions")?.as_array()?;
    let questions: Option<Vec<_>> = questions.iter().map(question).collect();
    questions.filter(|questions| !questions.is_empty())
}

/// The call's arguments with the answers in them, as the program wants them: by the texts of the questions.
pub(super) fn answered(call: &ToolUse, questions: &[Question], answers: Vec<String>) -> Map<String, Value> {
    let texts = questions.iter().map(|question| question.text.clone());
    let mut input = call.input.clone();
    input.insert(
        "answers".to_owned(),
        Value::Object(texts.zip(answers.into_iter().map(Value::from)).collect()),
    );
    input
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(questions: Value) -> ToolUse {
        let input = Map::from_iter([("questions".to_owned(), questions)]);
        ToolUse { id: "t".to_owned(), name: TOOL.to_owned(), input }
    }

    #[test]
    fn the_programs_questions_are_understood_and_answered_by_their_texts() {
        let call = call(json!([
            {"question": "Which?", "header": "Color", "multiSelect": false,
             "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}]},
            {"question": "What else?", "multiSelect": true, "options": [{"label": "A"}, {"label": "B"}]},
        ]));
        let questions = read(&call).unwrap();
        assert_eq!(questions[0].choices[0], Choice { label: "Red".to_owned(), about: "warm".to_owned() });
        assert_eq!((questions[0].header.as_str(), questions[0].several), ("Color", false));
        assert!(questions[1].several);
        let input = answered(&call, &questions, vec!["Blue".to_owned(), "A, B".to_owned()]);
        assert_eq!(input["answers"], json!({"Which?": "Blue", "What else?": "A, B"}));
        assert!(input["questions"].is_array());
    }

    #[test]
    fn a_question_that_is_none_is_not_asked() {
        for questions in [
            json!([]),
            json!("x"),
            json!([{"question": "?", "options": []}]),
            json!([{"options": [{"label": "a"}]}]),
        ] {
            assert_eq!(read(&call(questions.clone())), None, "{questions}");
        }
    }
}
