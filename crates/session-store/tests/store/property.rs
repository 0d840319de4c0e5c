//! Whatever several handles do in whatever order, the file keeps what the store in memory keeps.

use proptest::prelude::*;
use serde_json::json;
use session_model::{Entry, SessionId};
use session_store::{
    Lease, ListQuery, MemoryStore, MetaPatch, SessionStore, Span, SqliteStore, StoredSession,
};

use crate::support::{Disk, agent, at, end, entry, meta, user};

const HANDLES: usize = 3;
const IDS: [&str; 4] = ["s-1", "s-2", "s-22", "other"];
const TEXTS: [&str; 5] = ["fix the login", "LOGIN again", "日本語の文", "a \"quote\" * ?", " "];
const WORDS: [&str; 6] = ["login", "the fix", "日本", "quote", "*", "absent"];
const TURNS: [&str; 3] = ["t-1", "t-2", "t-3"];

/// One thing done through one handle.
#[derive(Debug, Clone)]
enum Act {
    Create(usize, i64),
    Insert(usize, Vec<Said>),
    Append(usize, Vec<Said>),
    Rename(usize, Option<usize>, i64),
    Delete(usize),
    /// Takes the lease, or gives it back where it is held.
    Lease(usize),
    Load(usize),
    Window(usize, usize, usize),
    Recent(usize, usize),
    Key(usize, usize),
    Find(&'static str),
    Named(usize),
    List(usize, usize),
    Search(usize, usize),
    /// The handle is closed and opened again.
    Reopen,
}

/// An item: kind, turn, text, key, time.
type Said = (u8, usize, usize, Option<usize>, i64);

fn said() -> impl Strategy<Value = Vec<Said>> {
    let key = prop_oneof![4 => Just(None), 1 => (0..6_usize).prop_map(Some)];
    prop::collection::vec((0..3_u8, 0..TURNS.len(), 0..TEXTS.len(), key, 0..50_i64), 0..6)
}

fn act() -> impl Strategy<Value = Act> {
    let id = 0..IDS.len();
    prop_oneof![
        4 => (id.clone(), 0..50_i64).prop_map(|(id, at)| Act::Create(id, at)),
        1 => (id.clone(), said()).prop_map(|(id, said)| Act::Insert(id, said)),
        8 => (id.clone(), said()).prop_map(|(id, said)| Act::Append(id, said)),
        2 => (id.clone(), prop::option::of(0..TEXTS.len()), 0..50_i64)
            .prop_map(|(id, text, at)| Act::Rename(id, text, at)),
        1 => id.clone().prop_map(Act::Delete),
        2 => id.clone().prop_map(Act::Lease),
        1 => id.clone().prop_map(Act::Load),
        2 => (id.clone(), 0..4_usize, 0..4_usize).prop_map(|(id, first, last)| Act::Window(id, first, last)),
        1 => (id.clone(), 0..900_usize).prop_map(|(id, bytes)| Act::Recent(id, bytes)),
        1 => (id.clone(), 0..6_usize).prop_map(|(id, key)| Act::Key(id, key)),
        1 => prop::sample::select(vec!["s", "s-2", "s-22", "o", "", "x"]).prop_map(Act::Find),
        1 => (0..TEXTS.len()).prop_map(Act::Named),
        1 => (0..4_usize, 0..4_usize).prop_map(|(offset, limit)| Act::List(offset, limit)),
        1 => (0..WORDS.len(), 0..4_usize).prop_map(|(word, limit)| Act::Search(word, limit)),
        1 => Just(Act::Reopen),
    ]
}

fn entries(said: &[Said]) -> Vec<Entry> {
    let item = |(n, (kind, turn, text, key, at)): (usize, &Said)| {
        let (id, key) = (format!("m-{n}"), key.map(|key| format!("k-{key}")));
        let item = match kind {
            0 => user(&id, TEXTS[*text], key.as_deref()),
            1 => agent(&id, TEXTS[*text]),
            _ => end(),
        };
        entry(TURNS[*turn], *at, item)
    };
    said.iter().enumerate().map(item).collect()
}

/// What came of it, as text: the two must say the same.
async fn done(store: &dyn SessionStore, leases: &mut [Option<Lease>], act: &Act) -> String {
    let id = |n: &usize| SessionId::from(IDS[*n]);
    match act {
        Act::Create(n, at) => told(store.create(meta(IDS[*n], *at)).await),
        Act::Insert(n, said) => {
            let mut meta = meta(IDS[*n], 7);
            meta.options.insert("n".to_owned(), json!(n));
            told(store.insert(StoredSession { meta, entries: entries(said), damaged: 0 }).await)
        }
        Act::Append(n, said) => told(store.append(&id(n), &entries(said)).await),
        Act::Rename(n, name, second) => {
            let name = Some(name.map(|text| TEXTS[text].to_owned()));
            let patch = MetaPatch { name, updated_at: Some(at(*second)), ..MetaPatch::default() };
            told(store.update(&id(n), patch).await)
        }
        Act::Delete(n) => told(store.delete(&id(n)).await),
        Act::Lease(n) => {
            if leases[*n].take().is_some() {
                return "given back".to_owned();
            }
            let taken = store.lease(&id(n)).await;
            let said = told(&taken);
            leases[*n] = taken.ok();
            said
        }
        Act::Load(n) => told(store.load(&id(n)).await),
        Act::Window(n, first_turns, last_turns) => {
            told(store.window(&id(n), Span { first_turns: *first_turns, last_turns: *last_turns }).await)
        }
        Act::Recent(n, bytes) => told(store.recent(&id(n), *bytes).await),
        Act::Key(n, key) => told(store.inserted(&id(n), &format!("k-{key}")).await),
        Act::Find(reference) => told(store.find(reference).await),
        Act::Named(text) => told(store.named("/w".as_ref(), TEXTS[*text]).await),
        Act::List(offset, limit) => {
            told(store.list(ListQuery { cwd: None, offset: *offset, limit: *limit }).await)
        }
        Act::Search(word, limit) => told(store.search(WORDS[*word], None, *limit).await),
        Act::Reopen => String::new(),
    }
}

fn told(result: impl std::fmt::Debug) -> String {
    format!("{result:?}")
}

async fn same(acts: &[(usize, Act)]) {
    let (disk, memory) = (Disk::new(), MemoryStore::new());
    let mut handles: [SqliteStore; HANDLES] = std::array::from_fn(|_| disk.store());
    let (mut of_disk, mut of_memory) = (IDS.map(|_| None), IDS.map(|_| None));
    for (handle, act) in acts {
        if matches!(act, Act::Reopen) {
            handles[*handle] = disk.store();
        }
        let expected = done(&memory, &mut of_memory, act).await;
        assert_eq!(done(&handles[*handle], &mut of_disk, act).await, expected, "{handle} {act:?}");
    }
    for id in IDS.map(SessionId::from) {
        assert_eq!(handles[0].load(&id).await, memory.load(&id).await);
    }
    for word in WORDS {
        assert_eq!(handles[1].search(word, None, 9).await, memory.search(word, None, 9).await, "{word}");
    }
    let check: String = disk.raw().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let orphans = "SELECT (SELECT count(*) FROM turns WHERE session NOT IN (SELECT n FROM sessions))
        + (SELECT count(*) FROM keys WHERE session NOT IN (SELECT n FROM sessions))
        + (SELECT count(*) FROM entries WHERE session NOT IN (SELECT n FROM sessions))
        + (SELECT count(*) FROM unindexed)";
    let orphans: i64 = disk.raw().query_row(orphans, [], |row| row.get(0)).unwrap();
    assert_eq!(orphans, 0);
    let indexed = "SELECT count(*) FROM messages_index_docsize";
    let messages = "SELECT count(*) FROM entries WHERE kind IN ('user', 'agent') AND json NOT LIKE '%\" \"%'";
    let count = |sql: &str| -> i64 { disk.raw().query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(count(indexed), count(messages), "every message is in the index, and none that is gone");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn several_handles_on_a_file_behave_as_one_store_in_memory(
        acts in prop::collection::vec((0..HANDLES, act()), 1..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(same(&acts));
    }
}
