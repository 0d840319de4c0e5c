//! A bad row costs itself and nothing more.

use session_model::SessionId;
use session_store::{ListQuery, SessionStore, Span, SqliteStore, StoreError};

use crate::support::{Disk, agent, end, entry, meta, user};

#[tokio::test]
async fn damaged_and_future_items_are_skipped_and_counted_and_the_next_append_works() {
    let disk = Disk::new();
    let id = SessionId::from("s-1");
    let entries = [
        entry("t", 1, user("m", "hello", None)),
        entry("t", 2, agent("a1", "half")),
        entry("t", 3, agent("a2", "future")),
        entry("t", 4, agent("a3", "junk")),
        entry("t", 5, agent("a4", "shape")),
        entry("t", 6, end()),
    ];
    disk.store().create(meta("s-1", 0)).await.unwrap();
    disk.store().append(&id, &entries).await.unwrap();
    let bytes = "CAST(X'7BFFFE00' AS TEXT)";
    for (seq, set) in [
        (2, "json = substr(json, 1, 10)".to_owned()),
        (3, "version = 2, json = '{\"kind\":\"hologram\"}'".to_owned()),
        (4, format!("json = {bytes}")),
        (5, "json = '[1, 2]'".to_owned()),
    ] {
        assert_eq!(
            disk.raw().execute(&format!("UPDATE entries SET {set} WHERE seq = {seq}"), []).unwrap(),
            1
        );
    }
    let stored = disk.store().load(&id).await.unwrap();
    assert_eq!((stored.entries, stored.damaged), (vec![entries[0].clone(), entries[5].clone()], 4));
    disk.store().append(&id, &[entry("t2", 7, agent("a5", "on"))]).await.unwrap();
    let stored = disk.store().load(&id).await.unwrap();
    assert_eq!((stored.entries.len(), stored.damaged), (3, 4));
    let kept: i64 = disk.raw().query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 7, "what cannot be read stays for a later version or a repair");
}

#[tokio::test]
async fn a_damaged_session_record_hides_only_that_session() {
    let disk = Disk::new();
    for n in 1..=4 {
        disk.store().create(meta(&format!("s-{n}"), n)).await.unwrap();
    }
    let raw = disk.raw();
    raw.execute("UPDATE sessions SET cwd = CAST(X'FF' AS TEXT) WHERE id = 's-2'", []).unwrap();
    raw.execute("UPDATE sessions SET grants = 'no json', options = '7', roots = '' WHERE id = 's-3'", [])
        .unwrap();
    let page = disk.store().list(ListQuery { cwd: None, offset: 0, limit: 9 }).await.unwrap();
    assert_eq!(page.sessions, [meta("s-4", 4), meta("s-3", 3), meta("s-1", 1)]);
    let refused = disk.store().load(&"s-2".into()).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    assert_eq!(disk.store().load(&"s-3".into()).await.unwrap().meta, meta("s-3", 3));
}

#[tokio::test]
async fn damaged_items_are_left_out_of_windows_recent_turns_and_searches() {
    let disk = Disk::new();
    let id = SessionId::from("s-1");
    disk.store().create(meta("s-1", 0)).await.unwrap();
    let history: Vec<_> = (0..6)
        .flat_map(|n| {
            let turn = format!("t-{n}");
            [user(&format!("m{n}"), "needle", None), end()].map(|item| entry(&turn, n, item))
        })
        .collect();
    disk.store().append(&id, &history).await.unwrap();
    // The user's messages of the first turn, of one in the gap, and of the last.
    for (seq, set) in [
        (1, "json = '{'"),
        (7, "version = 9, json = '{\"kind\":\"hologram\"}'"),
        (11, "turn = CAST(X'FF' AS TEXT)"),
    ] {
        disk.raw().execute(&format!("UPDATE entries SET {set} WHERE seq = {seq}"), []).unwrap();
    }
    let part = disk.store().window(&id, Span { first_turns: 2, last_turns: 2 }).await.unwrap();
    assert_eq!(part.head, [history[1].clone(), history[2].clone(), history[3].clone()]);
    assert_eq!(part.tail, [history[8].clone(), history[9].clone(), history[11].clone()]);
    assert_eq!((part.left_out, part.turns, part.damaged), (2, 6, 2));
    let recent = disk.store().recent(&id, usize::MAX).await.unwrap();
    assert_eq!((recent.entries.len(), recent.earlier, recent.damaged), (9, false, 3));
    let hits = disk.store().search("needle", None, 9).await.unwrap();
    assert_eq!(hits[0].message.as_ref().unwrap().id, "m4".into());
}

#[tokio::test]
async fn a_table_of_turns_that_does_not_fit_costs_time_and_no_history() {
    for harm in
        ["DELETE FROM turns", "DELETE FROM turns WHERE nth = 2", "DELETE FROM turns WHERE nth IN (2, 3)"]
    {
        let disk = Disk::new();
        let id = SessionId::from("s-1");
        disk.store().create(meta("s-1", 0)).await.unwrap();
        let turn =
            |n: i64| [user(&format!("m{n}"), "x", None), end()].map(|item| entry(&format!("t-{n}"), n, item));
        let history: Vec<_> = (0..5).flat_map(turn).collect();
        disk.store().append(&id, &history).await.unwrap();
        disk.raw().execute(harm, []).unwrap();
        let span = Span { first_turns: 2, last_turns: 2 };
        let part = disk.store().window(&id, span).await.unwrap();
        assert_eq!((part.head.as_slice(), part.tail.as_slice()), (&history[..4], &history[6..]), "{harm}");
        assert_eq!((part.left_out, part.turns), (1, 5), "{harm}");
        disk.store().append(&id, &turn(5)).await.unwrap();
        assert_eq!(disk.store().load(&id).await.unwrap().entries.len(), 12, "{harm}");
    }
}

#[tokio::test]
async fn a_damaged_index_costs_time_and_is_built_anew() {
    for harm in [
        "UPDATE messages_index_data SET block = X'00'",
        "DELETE FROM messages_index_data",
        "DELETE FROM messages_index_docsize",
        "DROP TABLE messages_index",
    ] {
        let disk = Disk::new();
        for n in 0..3 {
            let id = format!("s-{n}");
            disk.store().create(meta(&id, n)).await.unwrap();
            disk.store()
                .append(&id.as_str().into(), &[entry("t", n, user("m", "the needle", None))])
                .await
                .unwrap();
        }
        let found = async |store: SqliteStore| -> Vec<String> {
            let hits = store.search("needle", None, 9).await.unwrap();
            hits.iter().map(|hit| hit.meta.id.to_string()).collect()
        };
        assert_eq!(found(disk.store()).await, ["s-2", "s-1", "s-0"]);
        disk.raw().execute_batch(harm).unwrap();
        disk.store().append(&"s-0".into(), &[entry("t", 9, agent("a", "another needle"))]).await.unwrap();
        disk.store().delete(&"s-1".into()).await.unwrap();
        assert_eq!(found(disk.store()).await, ["s-0", "s-2"], "{harm}");
        assert_eq!(found(disk.store()).await, ["s-0", "s-2"], "{harm}");
        // Postings of what is gone may be left where it is not known any more what they belong to; they find nothing.
        let sql = "SELECT (SELECT count(*) FROM messages_index WHERE messages_index MATCH 'nee AND dle') >= 3
            AND NOT EXISTS (SELECT 1 FROM unindexed)";
        assert_eq!(disk.raw().query_row(sql, [], |row| row.get(0)), Ok(true), "{harm}: it is built anew");
        let check: String = disk.raw().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok", "{harm}");
    }
}

#[tokio::test]
async fn a_damaged_record_is_not_searched_and_the_others_are() {
    let disk = Disk::new();
    for n in 1..=3 {
        let id = format!("s-{n}");
        disk.store().create(meta(&id, n)).await.unwrap();
        disk.store()
            .append(&id.as_str().into(), &[entry("t", n, user("m", "the needle", None))])
            .await
            .unwrap();
    }
    disk.raw().execute("UPDATE sessions SET cwd = CAST(X'FF' AS TEXT) WHERE id = 's-2'", []).unwrap();
    disk.raw().execute("UPDATE sessions SET title = CAST(X'FF' AS TEXT) WHERE id = 's-3'", []).unwrap();
    let hits = disk.store().search("needle", None, 9).await.unwrap();
    let ids: Vec<_> = hits.iter().map(|hit| hit.meta.id.as_str()).collect();
    assert_eq!(ids, ["s-3", "s-1"]);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_untouched() {
    let disk = Disk::new();
    std::fs::create_dir_all(disk.path.parent().unwrap()).unwrap();
    let junk = "this is somebody's diary\n".repeat(100);
    std::fs::write(&disk.path, &junk).unwrap();
    let refused = disk.store().create(meta("s-1", 0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
    assert_eq!(std::fs::read_to_string(&disk.path).unwrap(), junk);
}

#[tokio::test]
async fn a_folder_in_the_files_place_is_said() {
    let disk = Disk::new();
    std::fs::create_dir_all(&disk.path).unwrap();
    let refused = disk.store().list(ListQuery::default()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
}

#[tokio::test]
async fn a_database_of_a_newer_milk_is_left_alone() {
    let disk = Disk::new();
    disk.store().create(meta("s-1", 0)).await.unwrap();
    let current: i64 = disk.raw().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    disk.raw().pragma_update(None, "user_version", 99).unwrap();
    let refused = disk.store().meta(&"s-1".into()).await.unwrap_err();
    assert!(refused.to_string().contains("newer milk wrote it (version 99"), "{refused}");
    disk.raw().pragma_update(None, "user_version", current).unwrap();
    disk.store().meta(&"s-1".into()).await.unwrap();
}
