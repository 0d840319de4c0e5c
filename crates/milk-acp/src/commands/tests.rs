//! What counts as a command, and what is advertised.

use super::*;

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
    let advertised = advertised();
    assert_eq!(advertised.len(), TABLE.iter().filter(|entry| entry.kind != Kind::Hidden).count());
    for command in advertised {
        assert!(!command.name.contains(['/', ' ']), "{}", command.name);
        assert!(parse(&text(&format!("/{}", command.name))).is_some());
    }
}
