//! Agents as tools, as configured: models and programs of their own ask each other.

use milk_tests::mock_openai::{MockOpenAi, Reply, Request};
use milk_tests::schema::Version;
use serde_json::{Value, json};

use crate::program::{Home, Program, in_time, model};
use crate::talk::{Talk, items};

/// A home with these agents, the first of which answers.
fn home(agents: &Value, agent_tools: &Value) -> Home {
    let home = Home::new();
    let config = json!({"agents": agents, "agent_tools": agent_tools}).to_string();
    std::fs::write(home.path("milk/config.json"), config).expect("a configuration");
    home
}

fn server(name: &str, model: &MockOpenAi) -> Value {
    json!({"name": name, "url": model.url(), "model": "mock-model"})
}

/// The agents a request offers as tools.
fn offered(request: &Request) -> Vec<&str> {
    let tools = request.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = tools.iter().filter_map(|tool| tool["function"]["name"].as_str());
    names.filter(|name| name.starts_with("agent_")).collect()
}

async fn finish(program: Program, talk: Talk) {
    in_time(talk.client.finish()).await;
    let end = program.ended().await;
    assert_eq!((end.code, &*end.stderr), (Some(0), ""));
}

#[tokio::test]
async fn agents_that_may_ask_each_other_do_not_ask_in_a_circle() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::call("agent_b_2", &json!({"request": "Ask on."})));
        model.reply(Reply::call("agent_a", &json!({"request": "And back."})));
        model.reply(Reply::call("agent_c", &json!({"request": "Further."})));
        model.reply(Reply::say(&["From c."]));
        model.reply(Reply::say(&["From b."]));
        model.reply(Reply::say(&["From a."]));
        let agents =
            json!([server("a", &model), server("B-2", &model), server("c", &model), server("d", &model)]);
        let peers =
            json!([{"agent": "a"}, {"agent": "B-2"}, {"agent": "c"}, {"agent": "d", "enabled": false}]);
        let home = home(&agents, &peers);
        let (program, mut talk) = Talk::start(&home, version).await;
        let prompt = talk.client.prompt(&talk.session, "Begin.").await;
        talk.allow().await;
        talk.allow().await;
        in_time(talk.client.response(&prompt)).await.expect("answered");
        talk.collect();
        let chats = model.chats();
        let tools: Vec<_> = chats.iter().map(offered).collect();
        let (of_a, of_b, of_c) = (vec!["agent_b_2", "agent_c"], vec!["agent_c"], Vec::new());
        assert_eq!(tools, [of_a.clone(), of_b.clone(), of_b.clone(), of_c, of_b, of_a]);
        let result = |at: usize| {
            let messages: &Value = &chats[at].body["messages"];
            messages
                .as_array()
                .and_then(|all| all.last())
                .map(|last| last["content"].to_string())
                .expect("a result")
        };
        assert!(result(2).contains("unknown tool: agent_a"), "{}", result(2));
        assert!(result(4).contains("From c."), "{}", result(4));
        assert!(result(5).contains("From b."), "{}", result(5));
        assert_eq!(chats[1].last_user_text(), "Ask on.");
        assert!(items(&talk.seen).iter().any(|item| item.role == "agent" && item.text == "From a."));
        finish(program, talk).await;
    }
}

#[tokio::test]
async fn an_agent_that_speaks_acp_can_be_asked_and_its_process_ends_with_the_call() {
    for version in Version::BOTH {
        let model = model().await;
        model.reply(Reply::call("agent_inner", &json!({"request": "Write it."})));
        model.reply(Reply::call("write_file", &json!({"path": "new.txt", "content": "hello\n"})));
        model.reply(Reply::say(&["Written."]));
        model.reply(Reply::say(&["Fine."]));
        let inner = Home::with(&model);
        let env = json!({"MILK_HOME": inner.path("milk"), "MILK_DETECT": "off"});
        let program = env!("CARGO_BIN_EXE_milk");
        let colleague = json!({"name": "inner", "provider": "acp", "bin": program, "args": ["serve", "--acp"], "env": env});
        let outer = home(&json!([server("outer", &model), colleague]), &json!([{"agent": "inner"}]));
        let (program, mut talk) = Talk::start(&outer, version).await;
        let prompt = talk.client.prompt(&talk.session, "Begin.").await;
        talk.allow().await;
        let (id, params) = in_time(talk.client.request("session/request_permission")).await;
        let call = if version == Version::V1 { &params["toolCall"] } else { &params["subject"]["toolCall"] };
        assert_eq!(call["title"], "inner → write_file: new.txt", "{params}");
        talk.client.choose(&id, "allow").await;
        in_time(talk.client.response(&prompt)).await.expect("answered");
        talk.collect();
        assert!(outer.path("work/new.txt").exists());
        let told = items(&talk.seen);
        assert!(told.iter().any(|item| item.role == "agent" && item.text == "Fine."), "{told:?}");
        assert_eq!(
            told.iter().filter(|item| item.role == "tool").count(),
            1,
            "one row for all of it: {told:?}"
        );
        finish(program, talk).await;
    }
}
