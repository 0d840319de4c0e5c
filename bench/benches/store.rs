//! The store among 100 and among 100,000 sessions, with one session of 5,000 turns in each: medians as a table.
//!
//! Each database is filled by this process and looked at by a fresh one, whose memory counts. With a folder as
//! argument the databases are kept there and used again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use session_model::{Content, Entry, Item, SessionId, StopReason, TurnId};
use session_store::fold::{Window, replay_window};
use session_store::{ListQuery, SessionMeta, SessionStore, SqliteStore, StoredSession};
use time::OffsetDateTime;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

const SIZES: [i64; 2] = [100, 100_000];
const TURNS: i64 = 5_000;
const RUNS: usize = 31;
/// Inserts on their way at once; they share commits.
const AT_ONCE: usize = 128;
const LONG: &str = "ffffffff-0000-4000-8000-000000000000";
const ROWS: [&str; 19] = [
    "first use of the database, ms",
    "`list`, first page of 50, ms",
    "`list`, last page, ms",
    "`list` of a folder, first page, ms",
    "`list` of a folder, last page, ms",
    "`latest` of a folder, ms",
    "lease, `window` of 10 + 200 of 5,000 turns, replayed, ms",
    "`recent`, 256 KiB of 5,000 turns, ms",
    "`load`, all 5,000 turns, ms",
    "`append` of a turn's three items, ms",
    "the slowest of 1,000 such, ms",
    "`search`, a common word and a rare short one, ms",
    "`search`, a word of every session, ms",
    "`search`, two letters of no session, ms",
    "`insert` of 5,000 turns (once), ms",
    "the first search afterwards, which indexes them (once), ms",
    "`delete` of 5,000 turns (once), ms",
    "resident after lists and window, MiB",
    "resident after all, MiB",
];

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.as_slice() {
        [look, path, size] if look == "look" => {
            for value in block_on(measured(Path::new(path), size.parse().expect("a number"))) {
                println!("{value}");
            }
        }
        [folder] => table(Path::new(folder)),
        _ => {
            let folder = tempfile::tempdir().expect("a temporary folder");
            table(folder.path());
        }
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    runtime().block_on(work)
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn table(folder: &Path) {
    let columns: Vec<Vec<f64>> = SIZES.iter().map(|size| column(folder, *size)).collect();
    println!("| what | 100 sessions | 100,000 sessions |\n|---|--:|--:|");
    for (row, what) in ROWS.iter().enumerate() {
        println!("| {what} | {:.2} | {:.2} |", columns[0][row], columns[1][row]);
    }
    println!("\nMedians of {RUNS} in one fresh process per column; the first line is of one.");
}

fn column(folder: &Path, size: i64) -> Vec<f64> {
    let path = folder.join(format!("{size}.db"));
    if !path.exists() {
        let began = Instant::now();
        block_on(fill(&path, size));
        eprintln!("{size} sessions made in {:.1?}", began.elapsed());
    }
    let program = std::env::current_exe().expect("this program");
    let output =
        Command::new(program).arg("look").arg(&path).arg(size.to_string()).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.parse().expect("a number")).collect()
}

fn at(second: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_700_000_000 + second).expect("a time")
}

fn turn(n: i64, said: &str) -> [Entry; 3] {
    let text = "The function reads the file line by line and counts what it finds there. ".repeat(6);
    let items = [
        Item::User { id: format!("u{n}").as_str().into(), content: vec![Content::text(said)], key: None },
        Item::Agent { id: format!("a{n}").as_str().into(), step: 0, text },
        Item::TurnEnd { stop: StopReason::EndTurn, error: None, route: None },
    ];
    items.map(|item| Entry { turn: TurnId::from(format!("t{n}")), at: at(n), item })
}

fn session(id: &str, folder: &str, used: i64, entries: Vec<Entry>) -> StoredSession {
    let meta = SessionMeta {
        id: SessionId::from(id),
        cwd: folder.into(),
        additional_roots: Vec::new(),
        name: None,
        title: Some(format!("what does number {used} do")),
        created_at: at(0),
        updated_at: at(used),
        grants: Vec::new(),
        options: serde_json::Map::new(),
        usage: session_model::SessionUsage::default(),
    };
    StoredSession { meta, entries, damaged: 0 }
}

/// Sessions of one turn in two folders, not in the order of their use, and the long one.
async fn fill(path: &Path, size: i64) {
    let store = SqliteStore::open(path.to_owned());
    let long = (0..TURNS).flat_map(|n| turn(n, "and then?")).collect();
    store.insert(session(LONG, "/projects/long", 5, long)).await.expect("stored");
    let mut work = JoinSet::new();
    for n in 1..size {
        let used = n * 7_919 % 100_003;
        let folder = format!("/projects/{}", n % 2);
        let said = format!("what does number {n} do");
        let session =
            session(&format!("{n:08}-0000-4000-8000-000000000000"), &folder, used, turn(n, &said).to_vec());
        let store = store.clone();
        work.spawn(async move { store.insert(session).await.expect("stored") });
        if work.len() >= AT_ONCE {
            work.join_next().await.expect("one").expect("no panic");
        }
    }
    work.join_all().await;
    // So that no search has to wait for the index.
    store.search("number", None, 1).await.expect("searched");
}

async fn measured(path: &Path, size: i64) -> Vec<f64> {
    let began = Instant::now();
    let store = SqliteStore::open(path.to_owned());
    let long = SessionId::from(LONG);
    store.meta(&long).await.expect("it is there");
    let mut values = vec![millis(began.elapsed())];
    let total = usize::try_from(size).expect("a size");
    for (cwd, offset) in [
        (None, 0),
        (None, total - 50),
        (Some(PathBuf::from("/projects/1")), 0),
        (Some(PathBuf::from("/projects/1")), total / 2 - 50),
    ] {
        values.push(
            median(async || {
                let query = ListQuery { cwd: cwd.clone(), offset, limit: 50 };
                assert_eq!(store.list(query).await.expect("listed").sessions.len(), 50);
            })
            .await,
        );
    }
    values.push(
        median(async || assert!(store.latest(Path::new("/projects/1")).await.expect("found").is_some()))
            .await,
    );
    values.push(
        median(async || {
            let _lease = store.lease(&long).await.expect("free");
            let part = store.window(&long, Window::BOUNDED.span()).await.expect("read");
            let events = replay_window(&part.head, &part.tail, part.left_out, &Window::BOUNDED);
            assert_eq!(events.len(), 421);
        })
        .await,
    );
    let before = resident();
    values.push(median(async || assert!(store.recent(&long, 256 * 1024).await.expect("read").earlier)).await);
    values
        .push(median(async || assert!(store.load(&long).await.expect("read").entries.len() >= 15_000)).await);
    values.push(
        median(async || {
            let other = SessionId::from("00000007-0000-4000-8000-000000000000");
            store.append(&other, &turn(7, "more")).await.expect("stored");
        })
        .await,
    );
    let other = SessionId::from("00000008-0000-4000-8000-000000000000");
    let mut slowest = 0_f64;
    for n in 0..1_000 {
        let entries = turn(n, "and more");
        let began = Instant::now();
        store.append(&other, &entries).await.expect("stored");
        slowest = slowest.max(millis(began.elapsed()));
    }
    values.push(slowest);
    for (text, found) in [("number 42 do", true), ("function", true), ("xq", false)] {
        values.push(
            median(async || {
                let hits = store.search(text, None, 20).await.expect("searched");
                assert_eq!(!hits.is_empty(), found);
            })
            .await,
        );
    }
    values.extend(once(&store).await);
    values.extend([before, resident()]);
    values
}

/// What is done to a long session as a whole.
async fn once(store: &SqliteStore) -> [f64; 3] {
    let entries = (0..TURNS).flat_map(|n| turn(n, "and then what?")).collect();
    let another = session("eeeeeeee-0000-4000-8000-000000000000", "/projects/long", 6, entries);
    let began = Instant::now();
    store.insert(another.clone()).await.expect("stored");
    let inserted = began.elapsed();
    let began = Instant::now();
    assert!(!store.search("then what?", None, 1).await.expect("searched").is_empty());
    let indexed = began.elapsed();
    let began = Instant::now();
    store.delete(&another.meta.id).await.expect("deleted");
    [inserted, indexed, began.elapsed()].map(millis)
}

async fn median(work: impl AsyncFn()) -> f64 {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let began = Instant::now();
        work().await;
        times.push(millis(began.elapsed()));
    }
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// In MiB, where the system says; 0 elsewhere.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1_024.0
}
