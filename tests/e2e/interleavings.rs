//! Random interleavings of everything a client can do to its conversations, against what must hold of any of them:
//! one response each, no id that names two messages of a pane, no message lost or in two sessions, and every stored
//! session within reach.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent_runtime::scripted::{Line, Scripted};
use milk_acp::drivers::SessionSettings;
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::{Item, SessionId, text_of};
use session_store::{ListQuery, MemoryStore};

/// How many sequences run, half in each version; `MILK_SEQUENCES` asks for more.
const SEQUENCES: u64 = 300;
/// How many things the client does in one.
const STEPS: usize = 14;

/// A small generator: the same sequence for the same seed, on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("small")
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// One client with a memory of what it has seen.
struct Player {
    client: Client,
    cwd: std::path::PathBuf,
    random: Random,
    known: Vec<String>,
    /// Requests for new sessions, whose answers name one.
    expected: Vec<Value>,
    /// Prompts by their request.
    prompts: Vec<(Value, String)>,
    said: usize,
}

impl Player {
    fn open(&self, session: &str) -> Value {
        let replay = self.client.version() == Version::V2;
        let mut params = json!({ "sessionId": session, "cwd": self.cwd, "mcpServers": [] });
        if replay {
            params["replayFrom"] = json!({ "type": "start" });
        }
        params
    }

    async fn step(&mut self) {
        let session = self.random.pick(&self.known).clone();
        match self.random.below(16) {
            0 | 1 => {
                let fresh = self.random.below(2) == 0;
                let params =
                    json!({ "cwd": self.cwd, "mcpServers": [], "_meta": { "milk": { "fresh": fresh } } });
                let id = self.client.send("session/new", params).await;
                self.expected.push(id);
            }
            2 | 3 => {
                let params = self.open(&session);
                self.client.send("session/resume", params).await;
            }
            4 => drop(self.client.send("session/close", json!({ "sessionId": session })).await),
            5 => drop(self.client.send("session/delete", json!({ "sessionId": session })).await),
            6 => self.client.cancel(&session).await,
            7 => drop(self.client.prompt(&session, "/new").await),
            8 | 9 => {
                let other = self.random.pick(&self.known).clone();
                self.client.prompt(&session, &format!("/resume {other}")).await;
            }
            10 => {
                let other = self.random.pick(&self.known).clone();
                let argument = if self.random.below(2) == 0 { other } else { String::new() };
                self.client.prompt(&session, &format!("/drop {argument}")).await;
            }
            _ => self.prompt(&session).await,
        }
        if self.random.below(2) == 0 {
            self.look().await;
        }
    }

    async fn prompt(&mut self, session: &str) {
        self.said += 1;
        let text = format!("message {}.", self.said);
        let id = self.client.prompt(session, &text).await;
        self.prompts.push((id, text));
    }

    /// Reads what there is, and remembers the sessions it names.
    async fn look(&mut self) {
        self.client.settle().await;
        for line in self.client.take_unclaimed() {
            if let Some(session) = line["result"]["sessionId"].as_str()
                && self.expected.contains(&line["id"])
                && !self.known.iter().any(|known| known == session)
            {
                self.known.push(session.to_owned());
            }
        }
    }
}

async fn stored(rig: &Rig) -> Vec<SessionId> {
    let page = rig.store.list(ListQuery { cwd: None, offset: 0, limit: 1000 }).await.expect("listed");
    page.sessions.into_iter().map(|meta| meta.id).collect()
}

/// What the user said, by session.
async fn history(rig: &Rig) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for id in stored(rig).await {
        let entries = rig.store.load(&id).await.expect("loaded").entries;
        let texts = entries.iter().filter_map(|entry| match &entry.item {
            Item::User { content, .. } => Some(text_of(content)),
            Item::Agent { .. }
            | Item::Thought { .. }
            | Item::Tool { .. }
            | Item::Remark { .. }
            | Item::Compaction { .. }
            | Item::TurnEnd { .. } => None,
        });
        found.insert(id.to_string(), texts.collect());
    }
    found
}

async fn play(seed: u64, version: Version) -> String {
    let answers = vec![vec![Line::say("ok")], vec![Line::say("ok")], vec![Line::say("ok"), Line::Hang]];
    let model = Scripted::new(answers).looped();
    let rig = Rig::build(model, SessionSettings::default(), Arc::new(MemoryStore::new()));
    let (client, first) = rig.session(version).await;
    let (cwd, random) = (rig.cwd(), Random(seed));
    let mut player = Player {
        client,
        cwd,
        random,
        known: vec![first, "no-such-session".to_owned()],
        expected: Vec::new(),
        prompts: Vec::new(),
        said: 0,
    };
    for _ in 0..STEPS {
        player.step().await;
    }
    rest(&rig, &mut player).await;
    within_reach(&rig, &mut player).await;
    let kept = history(&rig).await;
    let transcript = player.client.finish().await;
    lost_or_doubled(&transcript, &player.prompts, &kept);
    doubled_ids(&transcript);
    for id in stored(&rig).await {
        drop(rig.store.lease(&id).await.expect("nothing is held after the end"));
    }
    transcript
}

/// Ends whatever still runs, however it can be reached.
async fn rest(rig: &Rig, player: &mut Player) {
    for _ in 0..2 {
        player.look().await;
        let ids: Vec<String> =
            stored(rig).await.iter().map(ToString::to_string).chain(player.known.clone()).collect();
        for id in ids {
            let params = player.open(&id);
            player.client.send("session/resume", params).await;
            player.client.settle().await;
            player.client.cancel(&id).await;
            player.look().await;
        }
    }
}

/// Every stored session can be opened on this connection, and a prompt to it arrives in it and nowhere else.
async fn within_reach(rig: &Rig, player: &mut Player) {
    for id in stored(rig).await {
        let params = player.open(id.as_str());
        player.client.call("session/resume", params).await.unwrap_or_else(|error| {
            panic!("session {id} is out of reach: {error}\n{}", player.client.transcript())
        });
        player.prompt(id.as_str()).await;
        player.client.settle().await;
        player.client.cancel(id.as_str()).await;
        player.look().await;
        let (_, text) = player.prompts.last().expect("just sent");
        let holders: Vec<String> = history(rig)
            .await
            .into_iter()
            .filter(|(_, texts)| texts.contains(text))
            .map(|(session, _)| session)
            .collect();
        assert_eq!(holders, [id.to_string()], "where {text} went\n{}", player.client.transcript());
    }
}

/// A message that was answered is in one session at most (its session may have been deleted), and once.
fn lost_or_doubled(transcript: &str, prompts: &[(Value, String)], kept: &BTreeMap<String, Vec<String>>) {
    let deletes = transcript.contains("session/delete") || transcript.contains("/drop");
    for (id, text) in prompts {
        let times = kept.values().flatten().filter(|kept| *kept == text).count();
        assert!(times <= 1, "{text} is kept {times} times\n{transcript}");
        let answered = transcript.contains(&format!("\"id\":{id},\"result\""));
        assert!(!answered || times == 1 || deletes, "{text} is lost\n{transcript}");
    }
}

/// In one pane an id names one message.
fn doubled_ids(transcript: &str) {
    let mut roles = BTreeMap::new();
    let mut users = BTreeMap::new();
    for line in transcript.lines().filter_map(|line| line.strip_prefix("← ")) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let (pane, update) = (&line["params"]["sessionId"], &line["params"]["update"]);
        let (Some(kind), Some(id)) = (update["sessionUpdate"].as_str(), update["messageId"].as_str()) else {
            continue;
        };
        let role = kind.trim_end_matches("_chunk").to_owned();
        let key = (pane.to_string(), id.to_owned());
        let before = roles.insert(key.clone(), role.clone());
        assert!(before.is_none_or(|before| before == role), "{id} names two messages\n{transcript}");
        if role == "user_message" {
            let text = update["content"].to_string();
            let before = users.insert(key, text.clone());
            assert!(before.is_none_or(|before| before == text), "{id} names two messages\n{transcript}");
        }
    }
}

fn sequences() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is asked by its environment for more than its share"
    )]
    let asked = std::env::var("MILK_SEQUENCES");
    asked.ok().and_then(|n| n.parse().ok()).unwrap_or(SEQUENCES)
}

#[test]
fn whatever_a_client_does_in_whatever_order_nothing_is_lost_doubled_or_out_of_reach() {
    let mut rules = BTreeSet::new();
    for seed in 0..sequences() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let version = Version::BOTH[usize::from(seed % 2 == 1)];
        let transcript = runtime.expect("a runtime").block_on(play(seed, version));
        for rule in
            ["open in another conversation", "goes on in the fresh session", "resumed session", "cancelled"]
        {
            if transcript.contains(rule) {
                rules.insert(rule);
            }
        }
    }
    assert_eq!(rules.len(), 4, "the sequences reach every rule: {rules:?}");
}
