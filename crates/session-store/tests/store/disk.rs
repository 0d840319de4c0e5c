//! The file: when it is made, who may read it, what happens when it cannot be written, how it is searched.

use rusqlite::params;
use session_model::SessionId;
use session_store::{ListQuery, SessionStore, StoreError};

use crate::support::{Disk, agent, entry, meta, user};

#[tokio::test]
async fn opening_touches_nothing_until_the_first_use() {
    let disk = Disk::new();
    let store = disk.store();
    assert!(!disk.path.parent().unwrap().exists());
    store.create(meta("s-1", 0)).await.unwrap();
    assert!(disk.path.exists());
}

#[tokio::test]
async fn warming_makes_the_database_ready_and_harms_nothing_when_it_cannot() {
    let disk = Disk::new();
    for _ in 0..2 {
        let store = disk.store();
        store.warm();
        store.warm();
        let log = disk.path.with_file_name("sessions.db-wal");
        // It is begun when nobody has asked for anything.
        while !log.metadata().is_ok_and(|log| log.len() > 0) {
            assert_eq!(store.find("missing").await, Err(StoreError::NotFound("missing".into())));
        }
    }
    // Elsewhere: a store that has been dropped may still be at its files.
    let disk = Disk::new();
    std::fs::create_dir_all(&disk.path).unwrap();
    let store = disk.store();
    store.warm();
    assert!(matches!(store.find("missing").await, Err(StoreError::Unavailable { .. })));
    std::fs::remove_dir(&disk.path).unwrap();
    store.create(meta("s-1", 0)).await.unwrap();
}

#[tokio::test]
async fn sessions_and_keys_survive_the_store() {
    let disk = Disk::new();
    let id = SessionId::from("s-1");
    disk.store().create(meta("s-1", 0)).await.unwrap();
    let said = [entry("t", 1, user("m", "hi", Some("k"))), entry("t", 2, agent("a", "hello"))];
    disk.store().append(&id, &said).await.unwrap();
    let stored = disk.store().load(&id).await.unwrap();
    assert_eq!((stored.entries.as_slice(), stored.damaged), (&said[..], 0));
    assert_eq!(disk.store().inserted(&id, "k").await, Ok(Some("m".into())));
    assert!(disk.store().append(&id, &said[..1]).await.is_err());
}

#[tokio::test]
async fn a_file_removed_under_a_running_store_is_made_again_and_not_written_into_the_void() {
    let disk = Disk::new();
    let store = disk.store();
    store.create(meta("s-1", 0)).await.unwrap();
    std::fs::remove_dir_all(disk.path.parent().unwrap()).unwrap();
    if cfg!(unix) {
        assert_eq!(store.meta(&"s-1".into()).await, Err(StoreError::NotFound("s-1".into())));
    }
    store.create(meta("s-2", 0)).await.unwrap();
    assert_eq!(disk.store().meta(&"s-2".into()).await, Ok(meta("s-2", 0)));
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_folders_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;

    let disk = Disk::new();
    let store = disk.store();
    store.create(meta("s-1", 0)).await.unwrap();
    let _lease = store.lease(&"s-1".into()).await.unwrap();
    let data = disk.path.parent().unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(data), mode(&data.join("locks"))), (0o700, 0o700));
    for file in ["sessions.db", "sessions.db-wal", "sessions.db-shm", "locks/s-1.lock"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_made_by_others_is_narrowed() {
    use std::os::unix::fs::PermissionsExt;

    let disk = Disk::new();
    std::fs::create_dir_all(disk.path.parent().unwrap()).unwrap();
    std::fs::write(&disk.path, "").unwrap();
    std::fs::set_permissions(&disk.path, std::fs::Permissions::from_mode(0o644)).unwrap();
    disk.store().create(meta("s-1", 0)).await.unwrap();
    assert_eq!(disk.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn lists_and_lookups_use_their_indexes() {
    let disk = Disk::new();
    disk.store().create(meta("s-1", 0)).await.unwrap();
    let raw = disk.raw();
    let plan = |sql: &str| -> String {
        let mut statement = raw.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    for (sql, index) in [
        (
            "SELECT n FROM sessions WHERE NULL IS NULL ORDER BY updated_at DESC, id LIMIT 50",
            "COVERING INDEX sessions_recent",
        ),
        ("SELECT n FROM sessions ORDER BY updated_at, id DESC LIMIT 50", "COVERING INDEX sessions_recent"),
        (
            "SELECT n FROM sessions WHERE cwd = '/w' ORDER BY updated_at DESC, id LIMIT 50",
            "COVERING INDEX sessions_folder",
        ),
        ("SELECT * FROM sessions WHERE cwd = '/w' AND name = 'x'", "INDEX sessions_name (cwd=? AND name=?)"),
        ("SELECT message FROM keys WHERE session = 1 AND key = 'k'", "PRIMARY KEY (session=? AND key=?)"),
        ("SELECT key, message FROM keys WHERE session = 1 ORDER BY key", "PRIMARY KEY (session=?)"),
        ("SELECT seq FROM turns WHERE session = 1 AND nth = 3", "PRIMARY KEY (session=? AND nth=?)"),
        ("SELECT seq FROM turns WHERE session = 1 ORDER BY nth DESC LIMIT 1", "PRIMARY KEY (session=?)"),
        ("SELECT seq FROM entries WHERE session = 1 ORDER BY seq DESC LIMIT 1", "PRIMARY KEY (session=?)"),
    ] {
        let plan = plan(sql);
        assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{sql}: {plan}");
    }
}

#[tokio::test]
async fn pages_counted_from_the_end_are_the_same_pages() {
    let disk = Disk::new();
    let store = disk.store();
    store.create(meta("s-0000", 0)).await.unwrap();
    {
        let mut raw = disk.raw();
        let tx = raw.transaction().unwrap();
        let sql = "INSERT INTO sessions (id, cwd, roots, created_at, updated_at, grants, options)
            VALUES (?1, ?2, '[]', 0, ?3, '[]', '{}')";
        for n in 1..1_500_i64 {
            tx.execute(sql, params![format!("s-{n:04}"), format!("/{}", n % 2), n * 31 % 300]).unwrap();
        }
        tx.commit().unwrap();
    }
    for cwd in [None, Some("/1".into())] {
        let whole =
            store.list(ListQuery { cwd: cwd.clone(), offset: 0, limit: 2_000 }).await.unwrap().sessions;
        for offset in [499, 500, 501, 600, 740, 749, 750, 751, 1_400, 1_450, 1_499, 1_500, 1_501, 9_999] {
            let page = store.list(ListQuery { cwd: cwd.clone(), offset, limit: 50 }).await.unwrap();
            let expected: Vec<_> = whole.iter().skip(offset).take(50).cloned().collect();
            assert_eq!((page.more, page.sessions), (whole.len() > offset + 50, expected), "{cwd:?} {offset}");
        }
    }
}
