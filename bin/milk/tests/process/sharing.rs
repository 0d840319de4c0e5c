//! Several processes on one database.

use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;
use serde_json::{Value, json};

use crate::program::{Home, in_time, model};
use crate::talk::{Talk, connect, items};

/// How the process ends that had the session first.
#[derive(Debug, Clone, Copy)]
enum Leaving {
    Closes,
    Ends,
    Crashes,
}

#[tokio::test]
async fn a_session_is_open_in_one_process_at_a_time() {
    for leaving in [Leaving::Closes, Leaving::Ends, Leaving::Crashes] {
        for version in Version::BOTH {
            let model = model().await;
            model.script([Reply::say(&["He", "re."]), Reply::say(&["The", "re."])]);
            let home = Home::with(&model);
            let (first, mut holder) = Talk::start(&home, version).await;
            holder.ask("Where?").await;
            let pid = first.pid();
            let (second, client) = connect(&home, version).await;
            let mut other =
                Talk { client, session: holder.session.clone(), seen: Vec::new(), rest: Vec::new() };
            let error = other.replay(&home).await.expect_err("the first has it");
            let told = format!("open in another milk process, pid {pid}");
            assert!(error.to_string().contains(&told), "{leaving:?} {version:?}: {error}");
            assert_eq!(error["code"], -32603, "{error}");
            assert!(items(&other.seen).is_empty(), "nothing is told of it");
            let list = json!({ "cwd": home.work() });
            let list = in_time(other.client.call("session/list", list)).await.expect("listed");
            assert_eq!(list["sessions"][0]["sessionId"], holder.session, "it is listed all the same");

            match leaving {
                Leaving::Closes => {
                    let close = json!({ "sessionId": holder.session });
                    in_time(holder.client.call("session/close", close)).await.expect("closed");
                }
                Leaving::Ends => {
                    in_time(holder.client.finish()).await;
                    assert_eq!(first.ended().await.code, Some(0));
                }
                Leaving::Crashes => first.kill().await,
            }
            other.replay(&home).await.expect("it is free now");
            let told: Vec<String> = items(&other.seen).into_iter().map(|item| item.text).collect();
            assert_eq!(told, ["Where?", "Here."], "{leaving:?}");
            other.ask("And now?").await;
            in_time(other.client.finish()).await;
            assert_eq!(second.ended().await.code, Some(0));
        }
    }
}

#[tokio::test]
async fn a_new_session_does_not_take_up_what_another_process_has() {
    for version in Version::BOTH {
        let model = model().await;
        model.script([Reply::say(&["One", "."]), Reply::say(&["Two", "."])]);
        let home = Home::with(&model);
        let (first, mut one) = Talk::start(&home, version).await;
        one.ask("First?").await;
        let (second, mut two) = Talk::start(&home, version).await;
        assert_ne!(one.session, two.session);
        two.ask("Second?").await;
        let heard = model.chats().pop().expect("the model was asked").body["messages"].to_string();
        assert!(!heard.contains("First?"), "no context is shared: {heard}");
        for (program, talk) in [(first, one), (second, two)] {
            in_time(talk.client.finish()).await;
            assert_eq!(program.ended().await.code, Some(0));
        }
    }
}

#[tokio::test]
async fn processes_that_begin_sessions_at_once_lose_none() {
    const PROCESSES: usize = 6;
    let model = model().await;
    model.script((0..PROCESSES).map(|_| Reply::say(&["Fi", "ne."])));
    let home = Home::with(&model);
    let starts = (0..PROCESSES).map(|number| {
        let (home, version) = (&home, Version::BOTH[number % 2]);
        async move {
            let (program, mut talk) = Talk::start(home, version).await;
            talk.ask(&format!("Number {number}?")).await;
            (program, talk)
        }
    });
    let mut sessions: Vec<String> = Vec::new();
    for (program, talk) in futures::future::join_all(starts).await {
        sessions.push(talk.session.clone());
        in_time(talk.client.finish()).await;
        assert_eq!(program.ended().await.code, Some(0));
    }
    let (program, mut client) = connect(&home, Version::V2).await;
    let list = in_time(client.call("session/list", json!({ "cwd": home.work() }))).await.expect("listed");
    let mut listed: Vec<String> = list["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["sessionId"].as_str().map(str::to_owned))
        .collect();
    listed.sort();
    sessions.sort();
    sessions.dedup();
    assert_eq!((listed.len(), &listed), (PROCESSES, &sessions), "{:?}", Value::from(listed.clone()));
    in_time(client.finish()).await;
    assert_eq!(program.ended().await.code, Some(0));
}
