//! A bad row costs itself and nothing more.

use session_model::SessionId;
use session_store::{ListQuery, SessionStore, StoreError};

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
