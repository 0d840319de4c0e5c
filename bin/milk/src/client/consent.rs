//! Permissions: asked on the terminal where there is one, otherwise decided beforehand. No answer is a "no".

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc;
use std::time::Duration;

use acp_rpc::Responder;
use serde_json::{Value, json};

use crate::output;

/// How permissions are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Everything is allowed (`--yes`).
    Given,
    /// Someone sits at a terminal.
    Asked,
    /// Nobody can be asked.
    Refused,
}

impl Consent {
    /// How this process gives permissions.
    pub(crate) fn of_this_process(yes: bool) -> Self {
        match (yes, io::stdin().is_terminal() && io::stderr().is_terminal()) {
            (true, _) => Self::Given,
            (false, true) => Self::Asked,
            (false, false) => Self::Refused,
        }
    }
}

/// What may be answered to one question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Offer {
    once: Option<(String, String)>,
    always: Option<(String, String)>,
    no: Option<(String, String)>,
    /// Where there are several ways to say yes, this is a question and no request for leave.
    answers: Vec<(String, String)>,
}

impl Offer {
    fn read(options: &Value) -> Self {
        let mut offer = Self::default();
        for option in options.as_array().into_iter().flatten() {
            let text = |name: &str| option[name].as_str().unwrap_or_default().to_owned();
            if option["kind"] == "allow_once" {
                offer.answers.push((text("optionId"), text("name")));
            }
            let slot = match option["kind"].as_str() {
                Some("allow_once") => &mut offer.once,
                Some("allow_always") => &mut offer.always,
                Some("reject_once") => &mut offer.no,
                // A refusal for good is not ours to give, and an unknown kind is no consent.
                Some(_) | None => continue,
            };
            if slot.is_none() {
                *slot = Some((text("optionId"), text("name")));
            }
        }
        offer
    }

    /// Whether something is to be chosen, which nobody can have decided beforehand.
    fn is_question(&self) -> bool {
        self.answers.len() > 1
    }

    /// The question's last line: what each key does.
    fn keys(&self) -> String {
        let mut keys = Vec::new();
        if self.is_question() {
            let answers = self.answers.iter().enumerate();
            keys.extend(answers.map(|(at, (_, name))| format!("[{}] {}", at + 1, output::harmless(name))));
            keys.push("[n] no answer".to_owned());
            return keys.join("  ");
        }
        if self.once.is_some() {
            keys.push("[y] once".to_owned());
        }
        if let Some((_, name)) = &self.always {
            keys.push(format!("[a] {}", output::harmless(name)));
        }
        keys.push("[n] no".to_owned());
        keys.join("  ")
    }

    /// The option that a typed line means; `None` is a "no" without an option of its own.
    fn chosen(&self, line: &str) -> Option<&str> {
        if self.is_question() {
            let at = line.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let answer = at.and_then(|at| self.answers.get(at)).or(self.no.as_ref());
            return answer.map(|(id, _)| id.as_str());
        }
        let option = match line.trim().to_lowercase().as_str() {
            "y" | "yes" => self.once.as_ref().or(self.no.as_ref()),
            "a" | "always" => self.always.as_ref().or(self.no.as_ref()),
            _ => self.no.as_ref(),
        };
        option.map(|(id, _)| id.as_str())
    }
}

/// Answers permission requests, one after the other.
pub(super) struct Gate {
    consent: Consent,
    questions: Option<mpsc::Sender<Question>>,
}

struct Question {
    offer: Offer,
    responder: Responder,
}

impl Gate {
    pub(super) fn new(consent: Consent) -> Self {
        Self { consent, questions: None }
    }

    /// Whether questions are put to someone.
    pub(super) fn asks(&self) -> bool {
        self.consent == Consent::Asked
    }

    /// Answers, or has answered, a request for `options`. `title` says what it is about.
    pub(super) fn answer(&mut self, title: &str, options: &Value, responder: Responder) {
        let offer = Offer::read(options);
        match self.consent {
            Consent::Given | Consent::Refused if offer.is_question() => {
                output::remark(format_args!("not answered: {}", output::harmless(title)));
                responder.ok(&outcome(None));
            }
            Consent::Given => {
                let allowed = offer.once.as_ref().or(offer.always.as_ref());
                responder.ok(&outcome(allowed.map(|(id, _)| id.as_str())));
            }
            Consent::Refused => {
                output::remark(format_args!(
                    "denied: {}; there is no terminal to ask on, so give --yes to allow what is asked",
                    output::harmless(title)
                ));
                responder.ok(&outcome(offer.no.as_ref().map(|(id, _)| id.as_str())));
            }
            Consent::Asked => {
                let questions = self.questions.get_or_insert_with(start_asking);
                // The asker only goes with the process; then the responder's drop answers.
                if questions.send(Question { offer, responder }).is_err() {
                    output::remark("the terminal can no longer be asked");
                }
            }
        }
    }
}

/// A thread that asks, one question after the other. What is withdrawn meanwhile is let go at once.
fn start_asking() -> mpsc::Sender<Question> {
    // Unbounded, but each place is an unanswered request of the one turn.
    let (sender, questions) = mpsc::channel::<Question>();
    let asking = move || {
        let mut terminal = Terminal::default();
        for Question { offer, responder } in questions {
            let withdrawn = || responder.cancelled().is_cancelled();
            if let Some(line) = terminal.ask(&offer, withdrawn) {
                responder.ok(&outcome(offer.chosen(&line)));
            }
        }
    };
    if std::thread::Builder::new().name("consent".to_owned()).spawn(asking).is_err() {
        output::remark("no thread can be started to ask on the terminal");
    }
    sender
}

/// How often a question that waits is looked at for its withdrawal.
const GLANCE: Duration = Duration::from_millis(50);

/// Who reads the terminal: a thread for each line, because reading cannot be cancelled. It goes with the process.
#[derive(Default)]
struct Terminal {
    /// The line that is being read; a question that was withdrawn leaves it to the next one.
    line: Option<mpsc::Receiver<String>>,
}

impl Terminal {
    /// The line typed in answer; `None` when the question is withdrawn before there is one.
    fn ask(&mut self, offer: &Offer, withdrawn: impl Fn() -> bool) -> Option<String> {
        if withdrawn() {
            return None;
        }
        // Where nothing can be shown nothing is consented to.
        let prompt = if offer.is_question() { "which?" } else { "allow?" };
        if write!(io::stderr(), "{prompt} {} ", offer.keys()).is_err() {
            return Some(String::new());
        }
        let line = self.line.get_or_insert_with(read_line);
        loop {
            match line.recv_timeout(GLANCE) {
                Ok(text) => {
                    self.line = None;
                    return Some(text);
                }
                Err(mpsc::RecvTimeoutError::Timeout) if withdrawn() => return None,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    self.line = None;
                    return Some(String::new());
                }
            }
        }
    }
}

fn read_line() -> mpsc::Receiver<String> {
    let (sender, line) = mpsc::channel();
    let reading = move || {
        let mut text = String::new();
        if io::stdin().lock().read_line(&mut text).is_err() {
            text.clear();
        }
        // The question may have been the last one.
        let _unread = sender.send(text);
    };
    // Without a thread the sender is gone, which is no consent.
    if std::thread::Builder::new().name("terminal".to_owned()).spawn(reading).is_err() {
        output::remark("no thread can be started to read the terminal");
    }
    line
}

fn outcome(option: Option<&str>) -> Value {
    match option {
        Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer() -> Offer {
        Offer::read(&json!([
            {"optionId": "reject_for_ever", "name": "never", "kind": "reject_always"},
            {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
            {"optionId": "allow_always", "name": "Always allow `cargo test`", "kind": "allow_always"},
            {"optionId": "reject", "name": "No", "kind": "reject_once"},
            {"optionId": "x", "name": "X", "kind": "from_the_future"},
        ]))
    }

    #[test]
    fn only_a_clear_yes_is_consent() {
        let table = [
            ("y\n", "allow"),
            ("Yes", "allow"),
            ("a", "allow_always"),
            ("always\n", "allow_always"),
            ("n", "reject"),
            ("", "reject"),
            ("\n", "reject"),
            ("yep", "reject"),
            ("allow_always", "reject"),
        ];
        for (line, id) in table {
            assert_eq!(offer().chosen(line), Some(id), "{line:?}");
        }
    }

    #[test]
    fn what_is_not_offered_cannot_be_given() {
        let offer = Offer::read(&json!([{"optionId": "allow", "kind": "allow_once", "name": "Allow"}]));
        assert_eq!(offer.chosen("a"), None);
        assert_eq!(offer.chosen("n"), None);
        assert_eq!(Offer::read(&Value::Null).chosen("y"), None);
        assert_eq!(outcome(None), json!({"outcome": {"outcome": "cancelled"}}));
    }

    #[test]
    fn several_ways_to_say_yes_are_a_choice_by_number() {
        let offer = Offer::read(&json!([
            {"optionId": "0", "name": "Red", "kind": "allow_once"},
            {"optionId": "1", "name": "Blue", "kind": "allow_once"},
            {"optionId": "decline", "name": "Decline", "kind": "reject_once"},
        ]));
        assert!(offer.is_question());
        assert_eq!(offer.keys(), "[1] Red  [2] Blue  [n] no answer");
        for (line, id) in [("2\n", "1"), (" 1 ", "0"), ("0", "decline"), ("3", "decline"), ("y", "decline")] {
            assert_eq!(offer.chosen(line), Some(id), "{line:?}");
        }
    }

    #[test]
    fn the_keys_name_what_always_means() {
        assert_eq!(offer().keys(), "[y] once  [a] Always allow `cargo test`  [n] no");
    }
}
