//! `ask_user`: a question to the user, answered by a choice, several, or in the user's own words. How it is shown is
//! the client's business; where it cannot be asked, the model is told so and the turn goes on.

use std::collections::HashSet;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::support::{spec, title};
use super::{Approval, Args, CallPlan, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};
use crate::inquiry::{Choice, Outcome, Question};
use crate::io::Interrupted;

const ASK_USER: &str = "ask_user";

/// More than this is no choice for a person.
const MOST_CHOICES: usize = 30;

/// The tool.
#[derive(Debug)]
pub(crate) struct AskUser(ToolSpec);

impl AskUser {
    pub(crate) fn new() -> Self {
        Self(spec(
            ASK_USER,
            ToolKind::Other,
            false,
            "Asks the user a question and waits for the answer: one of `choices`, several of them, or free text where \
             there are none. Use it for a decision that is the user's and that you cannot find out yourself; not for \
             leave to call tools, which is asked for by itself. Never ask for passwords or keys.",
            json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string", "description": "The question, understandable by itself."},
                    "choices": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "What can be chosen, each in a few words. Without it the user answers in words."
                    },
                    "multiple": {"type": "boolean", "description": "Whether several choices may be taken. Default: false."}
                },
                "required": ["question"]
            }),
        ))
    }
}

fn question(args: &Map<String, Value>) -> Result<Question, String> {
    let choices = choices(args.get("choices"))?;
    let args = Args::new(args);
    let text = args.string("question")?.trim().to_owned();
    if text.is_empty() {
        return Err("`question` is empty: say what you want to know".to_owned());
    }
    let several = args.flag("multiple", false)? && !choices.is_empty();
    Ok(Question { text, header: String::new(), several, choices })
}

/// Each choice once. Models write them as texts, or as objects as other agents' tools want them.
fn choices(given: Option<&Value>) -> Result<Vec<Choice>, String> {
    const EXPECTED: &str = "`choices` must be a list of texts";
    let spelled;
    let list = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(Vec::new()),
        Some(Value::String(text)) => {
            spelled = serde_json::from_str::<Vec<Value>>(text).map_err(|_| EXPECTED)?;
            &spelled
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => return Err(EXPECTED.to_owned()),
    };
    let choices = list.iter().map(choice).collect::<Option<Vec<_>>>().ok_or(EXPECTED)?;
    let mut seen = HashSet::new();
    let choices: Vec<_> = choices.into_iter().filter(|choice| seen.insert(choice.label.clone())).collect();
    if choices.len() == 1 {
        return Err("one choice is none: offer several, or leave `choices` out".to_owned());
    }
    if choices.len() > MOST_CHOICES {
        return Err(format!("{} choices are too many: offer at most {MOST_CHOICES}", choices.len()));
    }
    Ok(choices)
}

fn choice(given: &Value) -> Option<Choice> {
    let text = |value: &Value| match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    let choice = match given {
        Value::Object(members) => {
            let member = |name: &str| members.get(name).map(text).unwrap_or_default();
            Choice { label: member("label"), about: member("description") }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Choice { label: text(given), about: String::new() }
        }
    };
    (!choice.label.is_empty()).then_some(choice)
}

#[async_trait]
impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, _workspace: &Workspace) -> Result<CallPlan, String> {
        Ok(CallPlan {
            title: title(ASK_USER, &question(args)?.text),
            locations: Vec::new(),
            approval: Approval::Question,
            preview: Vec::new(),
        })
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        let question = match question(&args) {
            Ok(question) => question,
            Err(error) => return ToolOutput::failed(error),
        };
        match cx.inquire(std::slice::from_ref(&question)).await {
            Ok(Outcome::Answered(answers)) => told(&question, &answers.concat()),
            Ok(Outcome::Declined) => ToolOutput::failed(
                "the user declined to answer; do not ask this again, go on as you think best or stop",
            ),
            Ok(Outcome::Cancelled) => ToolOutput::failed(
                "the user dismissed the question without an answer; go on as you think best, or stop",
            ),
            Ok(Outcome::Unanswerable(cause)) => {
                let way_on = if question.choices.is_empty() || question.several {
                    "; without forms only one choice of several can be asked, by `choices` without `multiple`"
                } else {
                    ""
                };
                ToolOutput::failed(format!(
                    "the user cannot be asked here: {cause}{way_on}. Or ask in your answer and end it there"
                ))
            }
            Err(Interrupted) => ToolOutput::failed("the question was withdrawn: the turn was cancelled"),
        }
    }
}

fn told(question: &Question, answer: &str) -> ToolOutput {
    ToolOutput::ok(match (answer.is_empty(), question.choices.is_empty()) {
        (true, _) => "The user chose none of them.".to_owned(),
        (false, true) => format!("The user answered: {answer}"),
        (false, false) => format!("The user chose: {answer}"),
    })
}
