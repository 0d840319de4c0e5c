//! Questions that an agent puts to the user: as a form, or as buttons where the client shows no forms.
//!
//! Knows no tool and no program that asks.

use serde_json::{Map, Value, json};
use session_model::{
    Answer, Ask, AskOption, AskOptionKind, ElicitAsk, OptionId, PermissionAsk, ToolCallId, ToolCallUpdate,
};

use crate::io::{Interrupted, TurnIo};

const DECLINE: &str = "decline";

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) text: String,
    /// What it is called in a form; empty where the text does.
    pub(crate) header: String,
    /// Whether several choices may be taken.
    pub(crate) several: bool,
    /// What can be chosen; any text where there is nothing.
    pub(crate) choices: Vec<Choice>,
}

/// One possible answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) label: String,
    /// What it means; may be empty.
    pub(crate) about: String,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An answer to each question, in order; several choices are joined by commas.
    Answered(Vec<String>),
    /// The user refused to answer.
    Declined,
    /// The question was dismissed.
    Cancelled,
    /// The client cannot ask it; why.
    Unanswerable(String),
}

/// Asks the questions of the call `row` and waits for the answers: by one form, else one by one.
///
/// # Errors
/// [`Interrupted`] once the turn is cancelled.
pub(crate) async fn put(
    questions: &[Question],
    row: &ToolCallId,
    io: &TurnIo,
) -> Result<Outcome, Interrupted> {
    Ok(match io.ask(Ask::Elicit(form(questions, row))).await? {
        Answer::Form(form) => match filled(questions, &form) {
            Some(answers) => Outcome::Answered(answers),
            None => Outcome::Unanswerable("the client sent back a form with gaps".to_owned()),
        },
        Answer::Declined => Outcome::Declined,
        Answer::Selected(_) | Answer::Cancelled => Outcome::Cancelled,
        Answer::Unanswerable(cause) => one_by_one(questions, row, io, cause).await?,
    })
}

async fn one_by_one(
    questions: &[Question],
    row: &ToolCallId,
    io: &TurnIo,
    cause: String,
) -> Result<Outcome, Interrupted> {
    let Some(asks) = questions.iter().map(|question| buttons(question, row)).collect::<Option<Vec<_>>>()
    else {
        return Ok(Outcome::Unanswerable(cause));
    };
    let mut answers = Vec::with_capacity(asks.len());
    for (question, ask) in questions.iter().zip(asks) {
        match io.ask(Ask::Permission(Box::new(ask))).await? {
            Answer::Selected(id) => match pressed(question, &id) {
                Some(choice) => answers.push(choice),
                None => return Ok(Outcome::Declined),
            },
            Answer::Declined => return Ok(Outcome::Declined),
            Answer::Form(_) | Answer::Cancelled => return Ok(Outcome::Cancelled),
            Answer::Unanswerable(cause) => return Ok(Outcome::Unanswerable(cause)),
        }
    }
    Ok(Outcome::Answered(answers))
}

/// All questions in one form, with a property `q1…qN` for each.
fn form(questions: &[Question], row: &ToolCallId) -> ElicitAsk {
    let message = match questions {
        [only] => only.text.clone(),
        many => format!("The agent has {} questions for you.", many.len()),
    };
    let properties: Map<_, _> =
        questions.iter().enumerate().map(|(at, question)| (name(at), property(question))).collect();
    let required: Vec<String> = (0..questions.len()).map(name).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ElicitAsk { message, tool_call: Some(row.clone()), schema }
}

fn property(question: &Question) -> Value {
    let title = if question.header.is_empty() { &question.text } else { &question.header };
    let (title, about) = (json!(title), json!(question.text));
    let choices: Vec<Value> = question
        .choices
        .iter()
        .map(|Choice { label, about }| {
            let title = if about.is_empty() { label.clone() } else { format!("{label}: {about}") };
            json!({"const": label, "title": title})
        })
        .collect();
    if choices.is_empty() {
        json!({"type": "string", "title": title, "description": about, "minLength": 1})
    } else if question.several {
        json!({"type": "array", "title": title, "description": about, "items": {"anyOf": choices}})
    } else {
        json!({"type": "string", "title": title, "description": about, "oneOf": choices})
    }
}

fn name(at: usize) -> String {
    format!("q{}", at + 1)
}

/// The answers that a filled-in form gives; `None` when one is missing.
fn filled(questions: &[Question], form: &Value) -> Option<Vec<String>> {
    let answer = |at| match form.get(name(at))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(choices) => {
            Some(choices.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    (0..questions.len()).map(answer).collect()
}

/// One question as a choice among buttons; `None` when that cannot say it.
fn buttons(question: &Question, row: &ToolCallId) -> Option<PermissionAsk> {
    if question.several || question.choices.is_empty() {
        return None;
    }
    let offer = |(at, choice): (usize, &Choice)| AskOption {
        id: OptionId::from(at.to_string()),
        name: choice.label.clone(),
        kind: AskOptionKind::AllowOnce,
    };
    let mut options: Vec<_> = question.choices.iter().enumerate().map(offer).collect();
    let decline = OptionId::from(DECLINE);
    options.push(AskOption { id: decline, name: "Decline".to_owned(), kind: AskOptionKind::RejectOnce });
    let title = format!("? {}", question.text);
    let mut tool_call = ToolCallUpdate::new(row.clone());
    tool_call.title = Some(title.clone());
    let about = question.choices.iter().filter(|choice| !choice.about.is_empty());
    let about: Vec<_> = about.map(|Choice { label, about }| format!("{label}: {about}")).collect();
    let description = Some(about.join("\n")).filter(|text| !text.is_empty());
    Some(PermissionAsk { tool_call, title, description, options })
}

/// The choice whose button was pressed; `None` for the one that declines.
fn pressed(question: &Question, pressed: &OptionId) -> Option<String> {
    let at: usize = pressed.as_str().parse().ok()?;
    question.choices.get(at).map(|choice| choice.label.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str, several: bool, choices: &[(&str, &str)]) -> Question {
        let choice =
            |(label, about): &(&str, &str)| Choice { label: (*label).to_owned(), about: (*about).to_owned() };
        let choices = choices.iter().map(choice).collect();
        Question { text: text.to_owned(), header: String::new(), several, choices }
    }

    fn three() -> [Question; 3] {
        [
            question("Which?", false, &[("Red", "warm"), ("Blue", "")]),
            question("What else?", true, &[("A", ""), ("B", "")]),
            question("Why?", false, &[]),
        ]
    }

    #[test]
    fn questions_become_a_form_and_its_answers_come_in_order() {
        let questions = three();
        let form = form(&questions, &ToolCallId::from("row"));
        assert_eq!(form.message, "The agent has 3 questions for you.");
        assert_eq!(form.schema["required"], json!(["q1", "q2", "q3"]));
        let properties = &form.schema["properties"];
        assert_eq!(properties["q1"]["oneOf"][0], json!({"const": "Red", "title": "Red: warm"}));
        assert_eq!(properties["q2"]["items"]["anyOf"][1]["const"], "B");
        assert_eq!(properties["q3"]["minLength"], 1);
        let answers = filled(&questions, &json!({"q1": "Blue", "q2": ["A", "B"], "q3": "so"}));
        assert_eq!(answers.unwrap(), ["Blue", "A, B", "so"]);
        assert_eq!(filled(&questions, &json!({"q1": "Blue", "q3": "so"})), None);
    }

    #[test]
    fn a_choice_can_be_a_row_of_buttons_and_nothing_else_can() {
        let [choice, several, free] = three();
        let ask = buttons(&choice, &ToolCallId::from("row")).unwrap();
        assert_eq!(ask.title, "? Which?");
        assert_eq!(ask.description.as_deref(), Some("Red: warm"));
        let names: Vec<_> = ask.options.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(names, ["Red", "Blue", "Decline"]);
        assert_eq!(pressed(&choice, &"1".into()).as_deref(), Some("Blue"));
        for id in ["decline", "7", "-1"] {
            assert_eq!(pressed(&choice, &id.into()), None, "{id}");
        }
        assert_eq!(buttons(&several, &ToolCallId::from("row")), None);
        assert_eq!(buttons(&free, &ToolCallId::from("row")), None);
    }
}
