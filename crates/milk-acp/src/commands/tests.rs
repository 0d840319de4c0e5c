//! What counts as a command, and what is advertised.

use serde_json::Map;
use session_model::Choice;

use super::*;
use crate::drivers::SessionSettings;

#[test]
fn what_steers_nothing_is_not_advertised() {
    let told = advertised(&Options::new(&SessionSettings::default(), &Map::new()));
    for name in ["escalate", "primary", "auto", "model"] {
        assert!(told.iter().all(|command| command.name != name), "{name}");
        assert!(parse(&text(&format!("/{name}"))).is_some(), "{name} is answered all the same");
    }
}

#[test]
fn a_message_after_escalate_or_primary_is_a_turn_of_that_agent() {
    let escalation =
        |fresh, prompt: &str| Some(Forced { target: Target::Escalation, fresh, prompt: prompt.into() });
    for (prompt, expected) in [
        ("/escalate", None),
        ("/escalate fresh", None),
        ("/escalate fix it", escalation(false, "fix it")),
        ("/escalate fresh  fix\nit ", escalation(true, "fix\nit")),
        ("/escalate freshen up", escalation(false, "freshen up")),
        ("/primary", None),
        ("/primary ls", Some(Forced { target: Target::Primary, fresh: false, prompt: "ls".into() })),
        ("/auto x", None),
        ("/think on", None),
    ] {
        let content = text(prompt);
        assert_eq!(parse(&content).as_ref().and_then(forced), expected, "{prompt:?}");
        let mut told = content.clone();
        strip(&mut told);
        let left = expected.map_or(content, |forced| text(&forced.prompt));
        assert_eq!(told, left, "{prompt:?}");
    }
}

fn words(prompt: &[Content]) -> Option<(&'static str, String, bool)> {
    parse(prompt).map(|invocation| (invocation.word, invocation.argument, invocation.attached))
}

fn text(text: &str) -> Vec<Content> {
    vec![Content::text(text)]
}

#[test]
fn only_a_known_first_word_with_a_slash_is_a_command() {
    let rows: &[(&str, Option<(&'static str, &str)>)] = &[
        ("/help", Some(("help", ""))),
        ("  /think off ", Some(("think", "off"))),
        ("/export json out.json", Some(("export", "json out.json"))),
        ("/think\noff", Some(("think", "off"))),
        ("/panel", Some(("panel", ""))),
        ("/helpme", None),
        ("/HELP", None),
        ("help", None),
        ("what does /help do?", None),
        ("/etc/passwd is a file", None),
        ("/", None),
        ("", None),
    ];
    for (prompt, expected) in rows {
        let expected = expected.map(|(word, argument)| (word, argument.to_owned(), false));
        assert_eq!(words(&text(prompt)), expected, "{prompt:?}");
    }
}

#[test]
fn text_inside_a_resource_is_never_a_command_and_attachments_are_noticed() {
    let link = Content::Link(session_model::ResourceLink { uri: "file:///a".into(), ..Default::default() });
    assert_eq!(words(&[link.clone(), Content::text("/help")]), None);
    assert_eq!(words(&[Content::text("/help"), link]), Some(("help", String::new(), true)));
}

#[test]
fn everything_advertised_runs_and_is_spelled_as_the_protocol_wants_it() {
    let mut settings =
        SessionSettings { routing: Some(Routing::new("a", "b")), ..SessionSettings::default() };
    let choice = |name: &str| Choice { value: name.into(), name: name.into(), description: None };
    settings.models = vec![choice("a"), choice("b")];
    let advertised = advertised(&Options::new(&settings, &Map::new()));
    assert_eq!(advertised.len(), TABLE.iter().filter(|entry| entry.kind != Kind::Hidden).count());
    for command in advertised {
        assert!(!command.name.contains(['/', ' ']), "{}", command.name);
        assert!(parse(&text(&format!("/{}", command.name))).is_some());
    }
}
