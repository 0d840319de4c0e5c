//! The provider alone, and with the real tools on a real folder.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use session_model::source::SequentialIds;
use session_model::{Content, Event, SessionId, StopReason, TurnId};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::Agent;
use crate::calls::RunningCalls;
use crate::driver::{Permissions, TurnDriver, TurnInput};
use crate::host::HostFeatures;
use crate::io::{TurnIo, TurnSignal};
use crate::tools::registry::ToolRegistry;

/// Asks in `cwd`; gives what was said, and the titles of the rows. Nothing may be asked.
async fn ask(cwd: &Path, prompt: &str) -> (Vec<String>, Vec<String>) {
    let agent =
        Agent::new(Arc::new(Offline::new()), ToolRegistry::builtin(), Arc::new(SequentialIds::default()));
    let (io, mut signals) = TurnIo::channel(CancellationToken::new());
    let input = TurnInput {
        session: SessionId::from("s"),
        turn: TurnId::from("t"),
        prompt: vec![Content::text(prompt)],
        cwd: cwd.to_owned(),
        additional_roots: Vec::new(),
        history: Arc::new([]),
        permissions: Permissions::default(),
        show_thoughts: false,
        handover: None,
        effort: None,
        host: HostFeatures::default(),
        calls: RunningCalls::default(),
    };
    let (mut said, mut rows) = (Vec::new(), Vec::new());
    let listen = async {
        while let Some(signal) = signals.recv().await {
            match signal {
                TurnSignal::Event(Event::MessageDelta { content, .. }) => {
                    said.push(content.as_text().unwrap().to_owned());
                }
                TurnSignal::Event(Event::ToolCall(update)) => rows.extend(update.title),
                // Of a window nobody knows.
                TurnSignal::Event(Event::Usage(_)) => {}
                other @ (TurnSignal::Event(_)
                | TurnSignal::Ask(..)
                | TurnSignal::Host(..)
                | TurnSignal::Granted(_)) => {
                    panic!("unexpected {other:?}")
                }
            }
        }
    };
    let (end, ()) = tokio::join!(agent.drive(input, io), listen);
    assert_eq!(end.unwrap().stop, StopReason::EndTurn);
    (said, rows)
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    write("Cargo.toml", "[package]\nname = \"teapot\"\ndescription = \"Brews tea over HTTP\"\n");
    write("README.md", "# teapot\n\nA server that knows only\none answer.\n\n## More\n");
    write("src/main.rs", "fn main() {\n    let retry_after = 418;\n    pour(retry_after);\n}\n");
    folder
}

#[tokio::test]
async fn what_is_in_a_project_is_told_from_its_files() {
    let folder = project();
    let (said, rows) = ask(folder.path(), "What is in this project?").await;
    assert!(said.len() > 5, "it comes in pieces");
    insta::assert_snapshot!(rows.join("\n"), @r"
    list_dir: .
    read_file: README.md (lines 1-120)
    read_file: Cargo.toml (lines 1-120)
    ");
    let text = said.concat();
    assert!(text.starts_with("No model is configured"), "{text}");
    let (_, answer) = text.split_once("\n\n").unwrap();
    insta::assert_snapshot!(answer, @r"
    **teapot** is a Rust project (`Cargo.toml`). Its manifest says: Brews tea over HTTP.

    README.md begins:

    > A server that knows only one answer.

    The working directory holds:

    - folders: `src/`
    - files: `Cargo.toml`, `README.md`
    ");
}

#[tokio::test]
async fn what_is_asked_about_is_searched_for() {
    let folder = project();
    let (said, rows) = ask(folder.path(), "Where is `retry_after` used?").await;
    assert_eq!(rows.last().unwrap(), "grep: retry_after in .");
    let text = said.concat();
    let (_, answer) = text.split_once("\n\n").unwrap();
    insta::assert_snapshot!(answer, @r"
    `retry_after` is here:

    - src/main.rs:2: `let retry_after = 418;`
    - src/main.rs:3: `pour(retry_after);`
    ");
}

#[tokio::test]
async fn a_named_file_is_shown_and_a_missing_one_explained() {
    let folder = project();
    let (said, _) = ask(folder.path(), "Explain src/main.rs and src/lid.rs").await;
    let text = said.concat();
    assert!(
        text.contains("The first 4 lines of `src/main.rs`:\n\n```\nfn main() {\n    let retry"),
        "{text}"
    );
    assert!(text.contains("`src/lid.rs` could not be read: "), "{text}");
}

#[tokio::test]
async fn an_empty_folder_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (said, rows) = ask(folder.path(), "What is in this project?").await;
    assert_eq!(rows, ["list_dir: ."]);
    assert!(said.concat().ends_with("The working directory is empty, or could not be listed.\n"));
}

#[tokio::test]
async fn the_same_question_has_the_same_answer() {
    let folder = project();
    let first = ask(folder.path(), "How does retry work in `pour`?").await;
    assert_eq!(first, ask(folder.path(), "How does retry work in `pour`?").await);
}

#[test]
fn without_tools_it_still_says_how_to_get_a_model() {
    let request = ModelRequest {
        system: String::new(),
        messages: vec![ModelMessage::User(vec![Content::text("hi")])],
        tools: Vec::new(),
        ..ModelRequest::default()
    };
    let Reply { text, calls } = reply(&request);
    assert!(calls.is_empty());
    assert!(text.lines().next().unwrap().contains("`milk doctor`"));
    assert!(text.ends_with("There is nothing here that the tools could read.\n"), "{text}");
}

#[test]
fn pieces_are_the_whole_text() {
    let text = "words and  more\nwords, one_that_is_much_longer_than_a_piece_should_be é end";
    let cut = answer::pieces(text);
    assert!(cut.len() > 1);
    assert_eq!(cut.concat(), text);
    assert!(answer::pieces("").is_empty());
}
