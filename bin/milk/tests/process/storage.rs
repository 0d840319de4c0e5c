//! A disk that does not take what is to be kept: the user is told, the conversation goes on, and nothing stored is
//! harmed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use milk_tests::client::Client;
use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;

use crate::program::{Home, Program, in_time, model};
use crate::talk::{Talk, items};

/// An account that owns nothing here; permissions do not hold the superuser back.
const NOBODY: u32 = 65_534;

fn permit(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours to change");
}

#[tokio::test]
async fn in_a_folder_that_cannot_be_written_a_conversation_is_told_and_not_kept() {
    for version in Version::BOTH {
        let model = model().await;
        model.script([
            Reply::say(&["Stored", "."]),
            Reply::say(&["Not", " stored."]),
            Reply::say(&["Heard."]),
        ]);
        let home = Home::with(&model);
        let (program, mut talk) = Talk::start(&home, version).await;
        talk.ask("First?").await;
        let stored = talk.session.clone();
        in_time(talk.client.finish()).await;
        assert_eq!(program.ended().await.code, Some(0));

        let mut command = home.serve();
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY);
            permit(&home.path(""), 0o755);
            permit(&home.path("milk/config.json"), 0o644);
        }
        let folder = home.path("milk");
        for file in std::fs::read_dir(&folder).expect("a folder") {
            let file = file.expect("an entry").path();
            let mode = if file.is_dir() { 0o555 } else { 0o444 };
            permit(&file, mode);
        }
        permit(&folder, 0o555);
        let (program, stdout, stdin) = Program::start(command);
        let mut client = Client::new(version, stdout, stdin);
        in_time(client.initialize()).await;
        let session = in_time(client.new_session(&home.work())).await;
        let mut talk = Talk { client, session, seen: Vec::new(), rest: Vec::new() };
        talk.ask("Second?").await;
        talk.ask("Did you hear that?").await;
        let heard = model.chats().pop().expect("the model was asked").body["messages"].to_string();
        assert!(heard.contains("Second?") && heard.contains("Not stored."), "it is remembered: {heard}");
        let told = talk.client.transcript();
        let said = "cannot use the session store at";
        assert!(told.contains(said) && told.contains("sessions"), "{told}");
        in_time(talk.client.finish()).await;
        let end = program.ended().await;
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        assert!(!end.stderr.contains("panicked"), "{}", end.stderr);

        permit(&folder, 0o755);
        for file in std::fs::read_dir(&folder).expect("a folder") {
            let file = file.expect("an entry").path();
            permit(&file, if file.is_dir() { 0o755 } else { 0o644 });
        }
        assert_eq!(home.integrity(), "ok");
        let (program, talk) = Talk::reopen(&home, version, &stored).await;
        let told: Vec<String> = items(&talk.seen).into_iter().map(|item| item.text).collect();
        assert_eq!(told, ["First?", "Stored."]);
        in_time(talk.client.finish()).await;
        assert_eq!(program.ended().await.code, Some(0));
    }
}

/// The size no file of the program may pass, from now on.
#[cfg(target_os = "linux")]
fn limit_files(program: &Program, bytes: Option<u64>) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    let pid = Pid::from_raw(program.pid().try_into().expect("a process id")).expect("not zero");
    prlimit(Some(pid), Resource::Fsize, Rlimit { current: bytes, maximum: None }).expect("ours to limit");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_full_disk_refused_is_told_and_kept_as_soon_as_there_is_room() {
    for version in Version::BOTH {
        let model = model().await;
        let answers = ["One.", "Two.", "Three.", "Four."].map(|text| Reply::say(&[text]));
        model.script(answers);
        let home = Home::with(&model);
        // The signal that comes with a file too large must not end the program; a full disk sends none.
        let command = home.shell("trap '' XFSZ; exec \"$0\" serve --acp");
        let (program, stdout, stdin) = Program::start(command);
        let mut client = Client::new(version, stdout, stdin);
        in_time(client.initialize()).await;
        let session = in_time(client.new_session(&home.work())).await;
        let mut talk = Talk { client, session, seen: Vec::new(), rest: Vec::new() };
        talk.ask("first").await;
        limit_files(&program, Some(4_096));
        talk.ask("second").await;
        talk.ask("third").await;
        let told = talk.client.transcript();
        assert!(told.contains("cannot use the session store at"), "{told}");
        limit_files(&program, None);
        talk.ask("fourth").await;
        let told = talk.client.transcript();
        assert!(told.contains("this conversation is saved again"), "{told}");
        let heard = model.chats().pop().expect("the model was asked").body["messages"].to_string();
        assert!(heard.contains("second") && heard.contains("Three."), "{heard}");
        program.kill().await;
        assert_eq!(home.integrity(), "ok");
        let (program, again) = Talk::reopen(&home, version, &talk.session).await;
        let expected = ["first", "One.", "second", "Two.", "third", "Three.", "fourth", "Four."];
        let kept: Vec<String> = items(&again.seen).into_iter().map(|item| item.text).collect();
        let kept: Vec<&str> =
            kept.iter().map(String::as_str).filter(|text| expected.contains(text)).collect();
        assert_eq!(kept, expected);
        in_time(again.client.finish()).await;
        assert_eq!(program.ended().await.code, Some(0));
    }
}
