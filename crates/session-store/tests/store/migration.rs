//! A database of an earlier milk, opened by this one.

use session_model::{Entry, SessionId, SessionUsage};
use session_store::{SessionStore, Span, StoreError};

use crate::support::{Disk, agent, end, entry, meta, user};

/// Takes away what later versions added.
fn as_in_version_1(disk: &Disk) {
    let older = "DROP TABLE turns;
        DROP TABLE keys;
        DROP TABLE unindexed;
        DROP TABLE messages_index;
        DROP INDEX sessions_name;
        ALTER TABLE sessions DROP COLUMN used;
        CREATE UNIQUE INDEX entries_key ON entries (session, key) WHERE key IS NOT NULL;
        PRAGMA user_version = 1;";
    disk.raw().execute_batch(older).unwrap();
}

fn history(session: &str) -> Vec<Entry> {
    let mut history = Vec::new();
    for (turn, n) in ["t-1", "t-2", "t-2", "t-1", "t-3"].into_iter().zip(0_i64..) {
        let key = format!("{session}-k{n}");
        history.push(entry(turn, n, user(&format!("m{n}"), "hi there", Some(&key))));
        history.push(entry(turn, n, agent(&format!("a{n}"), "x")));
        history.push(entry(turn, n, end()));
    }
    history
}

#[tokio::test]
async fn turns_and_keys_of_an_older_database_are_found_as_if_written_by_this_one() {
    let disk = Disk::new();
    for session in ["s-1", "s-2"] {
        let id = SessionId::from(session);
        disk.store().create(meta(session, 0)).await.unwrap();
        disk.store().append(&id, &history(session)).await.unwrap();
    }
    disk.store().create(meta("empty", 0)).await.unwrap();
    let span = Span { first_turns: 1, last_turns: 2 };
    let before = disk.store().window(&"s-2".into(), span).await.unwrap();
    assert_eq!((before.left_out, before.turns, before.keys.len()), (1, 5, 5));
    as_in_version_1(&disk);
    let store = disk.store();
    assert_eq!(store.meta(&"s-1".into()).await.unwrap().usage, SessionUsage::default());
    assert_eq!(store.window(&"s-2".into(), span).await.unwrap(), before);
    assert_eq!(store.search("there", None, 9).await.unwrap().len(), 2);
    assert_eq!(store.window(&"empty".into(), span).await.unwrap().turns, 0);
    assert_eq!(store.inserted(&"s-1".into(), "s-1-k3").await, Ok(Some("m3".into())));
    let twice = [entry("t-4", 9, user("m9", "hi", Some("s-1-k3")))];
    assert!(matches!(store.append(&"s-1".into(), &twice).await, Err(StoreError::Failed(_))));
    store.append(&"s-1".into(), &[entry("t-3", 9, end()), entry("t-4", 9, end())]).await.unwrap();
    assert_eq!(store.window(&"s-1".into(), span).await.unwrap().left_out, 2);
}
