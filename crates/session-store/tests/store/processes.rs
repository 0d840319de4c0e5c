//! Several stores, threads and processes on one file.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use session_model::SessionId;
use session_store::{ListQuery, SessionStore, SqliteStore, StoreError};

use crate::support::{Disk, agent, entry, meta, user};

const SESSIONS: usize = 8;
const TURNS: i64 = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stores_on_one_file_lose_nothing_and_never_find_it_locked() {
    let disk = Disk::new();
    let mut work = tokio::task::JoinSet::new();
    // Every session has a store of its own, so each append meets seven other connections.
    for n in 0..SESSIONS {
        let store = disk.store();
        work.spawn(async move {
            let id = SessionId::from(format!("s-{n}"));
            store.create(meta(id.as_str(), 0)).await.unwrap();
            for turn in 0..TURNS {
                let key = format!("k-{turn}");
                let said = [entry("t", turn, user("m", "hi", Some(&key))), entry("t", turn, agent("a", "x"))];
                store.append(&id, &said).await.unwrap();
                store.list(ListQuery { cwd: None, offset: 0, limit: 5 }).await.unwrap();
            }
        });
    }
    work.join_all().await;
    for n in 0..SESSIONS {
        let stored = disk.store().load(&format!("s-{n}").into()).await.unwrap();
        assert_eq!((stored.entries.len(), stored.damaged), (50, 0));
    }
    let check: String = disk.raw().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writes_through_one_store_are_all_kept() {
    let disk = Disk::new();
    let store = disk.store();
    let mut work = tokio::task::JoinSet::new();
    for n in 0..400 {
        let store = store.clone();
        work.spawn(async move {
            store.create(meta(&format!("s-{n:03}"), n)).await.unwrap();
            // One in ten is refused, which must not harm those committed with it.
            if n % 10 == 0 {
                assert!(matches!(
                    store.create(meta(&format!("s-{n:03}"), n)).await,
                    Err(StoreError::Exists(_))
                ));
            }
        });
    }
    work.join_all().await;
    let page = store.list(ListQuery { cwd: None, offset: 0, limit: 1000 }).await.unwrap();
    let ids: BTreeSet<_> = page.sessions.iter().map(|meta| meta.id.clone()).collect();
    assert_eq!(ids.len(), 400);
}

/// The part of the tests below that runs in a process of its own; it does what its standard input says.
#[test]
#[ignore = "the other process of tests in this file"]
fn the_other_process() {
    let mut lines = std::io::stdin().lines().map(Result::unwrap);
    let store = SqliteStore::open(lines.next().unwrap().into());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let id = SessionId::from("shared");
        match store.meta(&id).await {
            Ok(_) => {}
            Err(_) => store.create(meta("shared", 0)).await.unwrap(),
        }
        let _lease = store.lease(&id).await.unwrap();
        for n in 0_i64.. {
            store.append(&id, &[entry("t", n, agent("a", "x"))]).await.unwrap();
            // On a line of its own: the test harness prints into this stream as well.
            println!("\nacknowledged {}", n + 1);
            std::io::stdout().flush().unwrap();
            if n == 0 {
                lines.next();
            }
        }
    });
}

struct Other {
    child: Child,
    stdin: ChildStdin,
    stdout: std::io::Lines<BufReader<ChildStdout>>,
}

impl Other {
    #[expect(clippy::disallowed_methods, reason = "a second process is what is tested")]
    fn start(disk: &Disk) -> Self {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "processes::the_other_process", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{}", disk.path.display()).unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, stdout }
    }

    /// The number in the next acknowledgement; `None` when there will be none.
    fn acknowledged(&mut self) -> Option<usize> {
        let tail = |line: String| line.strip_prefix("acknowledged ").and_then(|n| n.parse().ok());
        self.stdout.by_ref().map_while(Result::ok).find_map(tail)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[tokio::test]
async fn a_session_open_in_another_process_names_it_and_is_free_after_its_death() {
    let disk = Disk::new();
    let mut other = Other::start(&disk);
    assert_eq!(other.acknowledged(), Some(1));
    let id = SessionId::from("shared");
    let pid = cfg!(unix).then(|| other.child.id());
    let refused = disk.store().lease(&id).await.unwrap_err();
    assert_eq!(refused, StoreError::Leased { id: id.clone(), pid });
    disk.store().load(&id).await.unwrap();
    other.kill();
    let _lease = disk.store().lease(&id).await.unwrap();
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let disk = Disk::new();
    let mut total = 0;
    for round in 0..5 {
        let mut other = Other::start(&disk);
        assert_eq!(other.acknowledged(), Some(1));
        // Its second line lets it run freely; the kill then hits it somewhere inside an append.
        writeln!(other.stdin).unwrap();
        let mut last = 1;
        while last < 20 + round * 7 {
            last = other.acknowledged().unwrap();
        }
        other.kill();
        last = std::iter::from_fn(|| other.acknowledged()).last().unwrap_or(last);
        let stored = disk.store().load(&"shared".into()).await.unwrap();
        let kept = stored.entries.len() - total;
        assert!(kept == last || kept == last + 1, "{kept} kept, {last} acknowledged");
        assert_eq!(stored.damaged, 0);
        total = stored.entries.len();
    }
    let check: String = disk.raw().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}
