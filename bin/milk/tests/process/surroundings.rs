//! Where a process finds itself: its folder, an environment with nothing in it.

use milk_tests::client::Client;
use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;
use serde_json::json;

use crate::program::{Home, Program, in_time, model};
use crate::talk::{Talk, connect};

#[tokio::test]
async fn a_relative_folder_is_the_processs_own_with_a_warning() {
    for version in Version::BOTH {
        let model = model().await;
        model.script([
            Reply::call("read_file", &json!({ "path": "answer.txt" })),
            Reply::say(&["Forty", "-two."]),
        ]);
        let home = Home::with(&model);
        let (program, mut client) = connect(&home, version).await;
        let session = in_time(client.new_session(std::path::Path::new("."))).await;
        let mut talk = Talk { client, session, seen: Vec::new(), rest: Vec::new() };
        talk.ask("What does it say?").await;
        let heard = model.chats().pop().expect("the model was asked").body["messages"].to_string();
        assert!(heard.contains("forty-two"), "the file was read: {heard}");
        let list = json!({ "cwd": home.work() });
        let list = in_time(talk.client.call("session/list", list)).await.expect("listed");
        assert_eq!(list["sessions"][0]["cwd"], json!(home.work()), "{list}");
        in_time(talk.client.finish()).await;
        let end = program.ended().await;
        assert_eq!(end.code, Some(0));
        assert!(end.stderr.contains("WARN") && end.stderr.contains("cwd"), "a warning: {}", end.stderr);
    }
}

#[tokio::test]
async fn without_a_home_sessions_are_kept_in_memory_and_it_says_so() {
    for version in Version::BOTH {
        let home = Home::new();
        let mut command = home.serve();
        command.env_clear().env("MILK_DETECT", "off");
        let (program, stdout, stdin) = Program::start(command);
        let mut client = Client::new(version, stdout, stdin);
        in_time(client.initialize()).await;
        let session = in_time(client.new_session(&home.work())).await;
        let mut talk = Talk { client, session, seen: Vec::new(), rest: Vec::new() };
        talk.ask("What is in this project?").await;
        let transcript_so_far = talk.client.transcript();
        assert!(
            transcript_so_far.contains("this session is forgotten when milk ends"),
            "{transcript_so_far}"
        );
        assert!(transcript_so_far.contains("list_dir"), "{transcript_so_far}");
        in_time(talk.client.finish()).await;
        let end = program.ended().await;
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        let left: Vec<_> = std::fs::read_dir(home.work()).expect("a folder").collect();
        assert_eq!(left.len(), 1, "nothing is written beside: {left:?}");
        assert_eq!(std::fs::read_dir(home.path("milk")).expect("a folder").count(), 0);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_inherits_no_descriptor_of_the_protocol() {
    let model = model().await;
    let command = "for fd in /proc/self/fd/*; do readlink \"$fd\"; done; readlink /proc/$PPID/fd/0";
    model.script([Reply::call("bash", &json!({ "command": command })), Reply::say(&["Done."])]);
    let home = Home::with(&model);
    let (program, mut talk) = Talk::start(&home, Version::V2).await;
    let id = talk.client.prompt(&talk.session, "List your descriptors.").await;
    talk.allow().await;
    in_time(talk.client.response(&id)).await.expect("answered");
    let heard = model.chats().pop().expect("the model was told").body["messages"].to_string();
    assert!(heard.contains("/dev/null"), "the command's input is empty: {heard}");
    for descriptor in [0, 1] {
        let link = format!("/proc/{}/fd/{descriptor}", program.pid());
        let link = std::fs::read_link(link).expect("the program runs").display().to_string();
        // The last line is the program's own input: the test can tell when it is there.
        let times = heard.matches(&link).count();
        assert_eq!(times, usize::from(descriptor == 0), "{link} among the command's descriptors: {heard}");
    }
    in_time(talk.client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0));
}
