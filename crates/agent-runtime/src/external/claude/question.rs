//! `AskUserQuestion`: what Claude Code wants to know of the user, as a form, or as a choice where the client shows no
//! forms. Pure; the asking is done elsewhere.

use serde_json::{Map, Value, json};
use session_model::{
    Answer, AskOption, AskOptionKind, ElicitAsk, OptionId, PermissionAsk, ToolCallId, ToolCallUpdate,
};

use super::line::ToolUse;

/// The name under which it asks.
pub(super) const TOOL: &str = "AskUserQuestion";

const DECLINE: &str = "decline";

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    text: String,
    header: String,
    several: bool,
    choices: Vec<(String, String)>,
}

/// The questions of a call; `None` when they are not understood.
pub(super) fn read(call: &ToolUse) -> Option<Vec<Question>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let choice = |option: &Value| (text(&option["label"]), text(&option["description"]));
    let question = |question: &Value| {
        let choices: Vec<_> = question["options"].as_array()?.iter().map(choice).collect();
        let whole = !choices.is_empty() && choices.iter().all(|(label, _)| !label.is_empty());
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

/// All questions in one form, with a property `q1…qN` for each.
pub(super) fn form(questions: &[Question], row: &ToolCallId) -> ElicitAsk {
    let message = match questions {
        [only] => only.text.clone(),
        many => format!("The agent has {} questions for you.", many.len()),
    };
    let mut properties = Map::new();
    for (at, question) in questions.iter().enumerate() {
        let title = if question.header.is_empty() { &question.text } else { &question.header };
        let choices: Vec<Value> = question
            .choices
            .iter()
            .map(|(label, about)| {
                let title = if about.is_empty() { label.clone() } else { format!("{label}: {about}") };
                json!({"const": label, "title": title})
            })
            .collect();
        let (title, about) = (json!(title), json!(question.text));
        let property = if question.several {
            json!({"type": "array", "title": title, "description": about, "items": {"anyOf": choices}})
        } else {
            json!({"type": "string", "title": title, "description": about, "oneOf": choices})
        };
        properties.insert(name(at), property);
    }
    let required: Vec<String> = (0..questions.len()).map(name).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ElicitAsk { message, tool_call: Some(row.clone()), schema }
}

fn name(at: usize) -> String {
    format!("q{}", at + 1)
}

/// The answers a filled-in form gives.
pub(super) fn filled(questions: &[Question], form: &Value) -> Map<String, Value> {
    let answer = |(at, question): (usize, &Question)| {
        let answer = match form.get(name(at))? {
            Value::String(choice) => choice.clone(),
            Value::Array(choices) => choices.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
        };
        Some((question.text.clone(), Value::String(answer)))
    };
    questions.iter().enumerate().filter_map(answer).collect()
}

/// One question as a choice among buttons; `None` when that cannot say it.
pub(super) fn buttons(question: &Question, row: &ToolCallId) -> Option<PermissionAsk> {
    if question.several {
        return None;
    }
    let offer = |(at, (label, _)): (usize, &(String, String))| AskOption {
        id: OptionId::from(at.to_string()),
        name: label.clone(),
        kind: AskOptionKind::AllowOnce,
    };
    let mut options: Vec<_> = question.choices.iter().enumerate().map(offer).collect();
    let decline = OptionId::from(DECLINE);
    options.push(AskOption { id: decline, name: "Decline".to_owned(), kind: AskOptionKind::RejectOnce });
    let title = format!("? {}", question.text);
    let mut tool_call = ToolCallUpdate::new(row.clone());
    tool_call.title = Some(title.clone());
    let about = question.choices.iter().filter(|(_, about)| !about.is_empty());
    let about: Vec<_> = about.map(|(label, about)| format!("{label}: {about}")).collect();
    let description = Some(about.join("\n")).filter(|text| !text.is_empty());
    Some(PermissionAsk { tool_call, title, description, options })
}

/// The choice that an answer to [`buttons`] means.
pub(super) fn pressed(question: &Question, answer: &Answer) -> Option<String> {
    let Answer::Selected(id) = answer else { return None };
    let at: usize = id.as_str().parse().ok()?;
    question.choices.get(at).map(|(label, _)| label.clone())
}

/// The call's arguments with the answers in them, as the program wants them.
pub(super) fn answered(call: &ToolUse, answers: Map<String, Value>) -> Map<String, Value> {
    let mut input = call.input.clone();
    input.insert("answers".to_owned(), Value::Object(answers));
    input
}

/// The texts of the questions, by which answers are named.
pub(super) fn text(question: &Question) -> &str {
    &question.text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(questions: Value) -> ToolUse {
        let input = Map::from_iter([("questions".to_owned(), questions)]);
        ToolUse { id: "t".to_owned(), name: TOOL.to_owned(), input }
    }

    fn two() -> ToolUse {
        call(json!([
            {"question": "Which?", "header": "Color", "multiSelect": false,
             "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}]},
            {"question": "What else?", "multiSelect": true, "options": [{"label": "A"}, {"label": "B"}]},
        ]))
    }

    #[test]
    fn questions_become_a_form_and_its_answers_are_told_by_question() {
        let questions = read(&two()).unwrap();
        let form = form(&questions, &ToolCallId::from("row"));
        assert_eq!(form.message, "The agent has 2 questions for you.");
        assert_eq!(form.schema["required"], json!(["q1", "q2"]));
        assert_eq!(
            form.schema["properties"]["q1"]["oneOf"][0],
            json!({"const": "Red", "title": "Red: warm"})
        );
        assert_eq!(form.schema["properties"]["q2"]["items"]["anyOf"][1]["const"], "B");
        let answers = filled(&questions, &json!({"q1": "Blue", "q2": ["A", "B"]}));
        let input = answered(&two(), answers);
        assert_eq!(input["answers"], json!({"Which?": "Blue", "What else?": "A, B"}));
        assert!(input["questions"].is_array());
    }

    #[test]
    fn without_forms_a_question_is_a_row_of_buttons() {
        let questions = read(&two()).unwrap();
        let ask = buttons(&questions[0], &ToolCallId::from("row")).unwrap();
        assert_eq!(ask.title, "? Which?");
        assert_eq!(
            ask.options.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(),
            ["Red", "Blue", "Decline"]
        );
        assert_eq!(pressed(&questions[0], &Answer::Selected("1".into())).as_deref(), Some("Blue"));
        for answer in [Answer::Selected("decline".into()), Answer::Selected("7".into()), Answer::Cancelled] {
            assert_eq!(pressed(&questions[0], &answer), None);
        }
        assert_eq!(buttons(&questions[1], &ToolCallId::from("row")), None);
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
