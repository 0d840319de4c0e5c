//! Four processes with many sessions each on one database: nothing is lost, and none finds it locked.
//!
//! `MILK_TEST_SECONDS` lets them work that long (else as much as a few seconds allow), `MILK_TEST_SEED` is where the
//! random choices begin (else 1).

use std::collections::BTreeSet;
use std::time::Duration;

use milk_tests::client::Client;
use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::{Item, text_of};
use session_store::{ListQuery, SessionStore, SqliteStore, StoredSession};
use tokio::time::Instant;

use crate::program::{Home, Program, in_time, model};
use crate::random::{Random, setting};
use crate::talk::{connect, items};

const PROCESSES: usize = 4;
const SESSIONS: usize = 50;
/// How much each does when no time is set.
const STEPS: usize = 40;

/// A session of one process, and what was said in it.
#[derive(Debug)]
struct Kept {
    id: String,
    prompts: Vec<String>,
}

/// One process and its client.
struct Member<'a> {
    home: &'a Home,
    number: usize,
    client: Client,
    random: Random,
    sessions: Vec<Kept>,
    deleted: Vec<String>,
    prompts: usize,
}

impl Member<'_> {
    async fn call(&mut self, method: &str, mut params: Value) -> Value {
        if params["cwd"].is_null() && method != "session/close" && method != "session/delete" {
            params["cwd"] = json!(self.home.work());
        }
        let result = in_time(self.client.call(method, params)).await;
        result.unwrap_or_else(|error| panic!("{} {method}: {error}", self.number))
    }

    async fn begin(&mut self) {
        let id = in_time(self.client.new_session(&self.home.work())).await;
        self.sessions.push(Kept { id, prompts: Vec::new() });
    }

    async fn step(&mut self) {
        match self.random.below(10) {
            0 => {
                let list = self.call("session/list", json!({})).await;
                assert!(!list["sessions"].as_array().expect("a list").is_empty());
            }
            1 => self.replace().await,
            2 | 3 => self.reopen().await,
            _ => self.talk().await,
        }
        // What was shown of live turns is other tests' matter.
        self.client.take_unclaimed();
    }

    /// Deletes a session and begins another.
    async fn replace(&mut self) {
        let at = self.random.below(self.sessions.len());
        let gone = self.sessions.swap_remove(at);
        self.call("session/delete", json!({ "sessionId": gone.id })).await;
        self.deleted.push(gone.id);
        self.begin().await;
    }

    /// Closes a session and has it told again.
    async fn reopen(&mut self) {
        let at = self.random.below(self.sessions.len());
        let id = self.sessions[at].id.clone();
        self.call("session/close", json!({ "sessionId": id })).await;
        self.client.take_unclaimed();
        let (method, params) = match self.client.version() {
            Version::V1 => ("session/load", json!({ "sessionId": id, "mcpServers": [] })),
            Version::V2 => ("session/resume", json!({ "sessionId": id, "replayFrom": { "type": "start" } })),
        };
        self.call(method, params).await;
        let told: Vec<Value> =
            self.client.take_unclaimed().into_iter().map(|mut l| l["params"]["update"].take()).collect();
        let told: Vec<String> =
            items(&told).into_iter().filter(|item| item.role == "user").map(|item| item.text).collect();
        assert_eq!(told, self.sessions[at].prompts, "{} {id}", self.number);
    }

    /// Prompts several sessions at once.
    async fn talk(&mut self) {
        let chosen: BTreeSet<usize> =
            (0..=self.random.below(5)).map(|_| self.random.below(self.sessions.len())).collect();
        let mut asked = Vec::new();
        for at in chosen {
            let kept = &mut self.sessions[at];
            let prompt = format!("{}-{at}-{}", self.number, kept.prompts.len());
            asked.push(self.client.prompt(&kept.id, &prompt).await);
            kept.prompts.push(prompt);
        }
        self.prompts += asked.len();
        for id in asked {
            let answer = in_time(self.client.response(&id)).await;
            answer.unwrap_or_else(|error| panic!("{} prompt: {error}", self.number));
        }
    }

    async fn end(self, program: Program) -> (Vec<Kept>, Vec<String>, usize) {
        let transcript = in_time(self.client.finish()).await;
        for word in ["locked", "not saved", "cannot save", "session store"] {
            assert!(!transcript.contains(word), "{word} in {}'s {transcript}", self.number);
        }
        let end = program.ended().await;
        assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""), "{}", self.number);
        (self.sessions, self.deleted, self.prompts)
    }
}

async fn work(home: &Home, number: usize) -> (Vec<Kept>, Vec<String>, usize) {
    let seconds = setting("MILK_TEST_SECONDS", 0);
    let seed = setting("MILK_TEST_SEED", 1) * 1_000 + u64::try_from(number).expect("a few");
    let (program, client) = connect(home, Version::BOTH[number % 2]).await;
    let random = Random::new(seed);
    let mut member =
        Member { home, number, client, random, sessions: Vec::new(), deleted: Vec::new(), prompts: 0 };
    for _ in 0..SESSIONS {
        member.begin().await;
    }
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut steps = 0;
    while steps < STEPS || Instant::now() < until {
        member.step().await;
        steps += 1;
    }
    member.end(program).await
}

/// What is stored of a session is what was said in it, once and in order, and every turn ended.
fn check(stored: &StoredSession, prompts: &[String]) {
    let mut said = Vec::new();
    for turn in stored.entries.chunk_by(|a, b| a.turn == b.turn) {
        let texts: Vec<String> = turn.iter().filter_map(|entry| text(&entry.item)).collect();
        assert!(matches!(turn.last().map(|entry| &entry.item), Some(Item::TurnEnd { .. })), "{turn:?}");
        let [asked, answered] = texts.as_slice() else { panic!("{turn:?}") };
        assert_eq!(*answered, format!("re: {asked}"));
        said.push(asked.clone());
    }
    assert_eq!(said, prompts, "{}", stored.meta.id);
    assert_eq!(stored.damaged, 0);
}

fn text(item: &Item) -> Option<String> {
    match item {
        Item::User { content, .. } => Some(text_of(content)),
        Item::Agent { text, .. } => Some(text.clone()),
        Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::Compaction { .. }
        | Item::TurnEnd { .. } => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_processes_with_fifty_sessions_each_lose_nothing() {
    let model = model().await;
    model.respond(|request| Reply::say(&["re: ", &request.last_user_text()]));
    let home = Home::with(&model);
    let began = Instant::now();
    let done = futures::future::join_all((0..PROCESSES).map(|number| work(&home, number))).await;
    let took = began.elapsed();
    let store = SqliteStore::open(home.path("milk/sessions.db"));
    let mut expected = BTreeSet::new();
    let (mut prompts, mut deleted) = (0, 0);
    for (sessions, gone, said) in &done {
        for kept in sessions {
            let stored = store.load(&kept.id.as_str().into()).await.expect("it is stored");
            check(&stored, &kept.prompts);
            expected.insert(kept.id.clone());
        }
        for id in gone {
            assert!(store.meta(&id.as_str().into()).await.is_err(), "{id} was deleted");
        }
        (prompts, deleted) = (prompts + said, deleted + gone.len());
    }
    let listed = store.list(ListQuery { cwd: None, offset: 0, limit: 1_000 }).await.expect("listed").sessions;
    let listed: BTreeSet<String> = listed.iter().map(|meta| meta.id.to_string()).collect();
    assert_eq!(listed, expected);
    let last = done[0].0.iter().find_map(|kept| Some((kept.id.clone(), kept.prompts.last()?.clone())));
    let (id, prompt) = last.expect("something was said");
    let hits = store.search(&prompt, None, 9).await.expect("searched");
    assert!(hits.iter().any(|hit| hit.meta.id.as_str() == id), "{prompt}: {hits:?}");
    assert_eq!(home.integrity(), "ok");
    println!(
        "{PROCESSES} processes, {} sessions, {deleted} deleted, {prompts} prompts in {took:?}",
        expected.len()
    );
}
