//! The contract of [`SessionStore`] about sessions, their list and their leases, against both stores.

use std::path::Path;

use serde_json::json;
use session_model::{ContextUsage, Grant, GrantScope, SessionId, SessionUsage};
use session_store::fold::Window;
use session_store::{ListQuery, MetaPatch, SessionMeta, SessionStore, StoreError, StoredSession};

use crate::support::{agent, at, contract, entry, meta, user};

contract! {
    a_new_session_comes_back_whole
    an_id_is_given_once
    a_session_is_inserted_whole_or_not_at_all
    a_session_that_does_not_exist_is_not_found_by_any_method
    a_patch_changes_what_it_names_and_nothing_else
    an_unambiguous_beginning_finds_a_session
    wildcards_in_a_reference_are_plain_characters
    the_list_is_ordered_by_last_use_then_id_and_pages_lose_nothing
    the_list_keeps_folders_apart_by_spelling
    a_name_is_looked_up_in_its_folder_and_exactly
    latest_is_of_the_folder_alone
    what_is_deleted_is_gone_and_its_id_free
    a_lease_is_exclusive_until_dropped
}

async fn a_new_session_comes_back_whole(store: &dyn SessionStore) {
    let mut whole = meta("s-1", 5);
    whole.additional_roots = vec!["/x".into(), "/y z".into()];
    whole.name = Some("n'a\"me".to_owned());
    whole.title = Some("título".to_owned());
    whole.updated_at = at(5) + time::Duration::nanoseconds(123_456_789);
    whole.grants = vec![
        Grant { tool: "bash".to_owned(), scope: GrantScope::CommandPrefix("cargo test".to_owned()) },
        Grant { tool: "read_file".to_owned(), scope: GrantScope::Outside("/etc".into()) },
    ];
    whole.options.extend([("think".to_owned(), json!(true)), ("n".to_owned(), json!(1.5))]);
    store.create(whole.clone()).await.unwrap();
    assert_eq!(store.meta(&whole.id).await.unwrap(), whole);
    let stored = store.load(&whole.id).await.unwrap();
    assert_eq!((stored.meta, stored.entries, stored.damaged), (whole, Vec::new(), 0));
}

async fn a_session_is_inserted_whole_or_not_at_all(store: &dyn SessionStore) {
    let said = [
        entry("t-1", 1, user("m1", "hello", Some("k"))),
        entry("t-1", 2, agent("a1", "hi")),
        entry("t-2", 3, user("m2", "more", None)),
    ];
    for title in [None, Some("a title".to_owned())] {
        let id = title.clone().unwrap_or("untitled".to_owned());
        let whole = StoredSession {
            meta: SessionMeta { title, ..meta(&id, 99) },
            entries: said.to_vec(),
            damaged: 0,
        };
        store.insert(whole.clone()).await.unwrap();
        assert_eq!(store.load(&whole.meta.id).await, Ok(whole.clone()));
        assert_eq!(store.inserted(&whole.meta.id, "k").await, Ok(Some("m1".into())));
        assert_eq!(store.window(&whole.meta.id, Window::FULL.span()).await.unwrap().turns, 2);
        assert_eq!(store.insert(whole.clone()).await, Err(StoreError::Exists(whole.meta.id.clone())));
    }
    let entries = vec![said[0].clone(), entry("t-3", 4, user("m9", "again", Some("k")))];
    let twice = StoredSession { meta: meta("twice", 0), entries, damaged: 0 };
    assert!(matches!(store.insert(twice).await, Err(StoreError::Failed(_))));
    assert_eq!(store.meta(&"twice".into()).await, Err(StoreError::NotFound("twice".into())));
}

async fn an_id_is_given_once(store: &dyn SessionStore) {
    store.create(meta("s-1", 0)).await.unwrap();
    assert_eq!(store.create(meta("s-1", 9)).await, Err(StoreError::Exists("s-1".into())));
    assert_eq!(store.meta(&"s-1".into()).await.unwrap(), meta("s-1", 0));
}

async fn a_session_that_does_not_exist_is_not_found_by_any_method(store: &dyn SessionStore) {
    store.create(meta("there", 0)).await.unwrap();
    for strange in ["missing", "", "../../etc/passwd", "nul\0", &"x".repeat(10_000)] {
        let id = SessionId::from(strange);
        let missing = StoreError::NotFound(id.clone());
        assert_eq!(store.meta(&id).await, Err(missing.clone()));
        assert_eq!(store.load(&id).await, Err(missing.clone()));
        assert_eq!(store.window(&id, Window::FULL.span()).await, Err(missing.clone()));
        assert_eq!(store.recent(&id, 9).await, Err(missing.clone()));
        assert_eq!(store.find(strange).await, Err(missing.clone()));
        assert_eq!(store.append(&id, &[]).await, Err(missing.clone()));
        assert_eq!(store.append(&id, &[entry("t", 1, user("m", "hi", None))]).await, Err(missing.clone()));
        assert_eq!(store.update(&id, MetaPatch::default()).await, Err(missing.clone()));
        assert_eq!(store.inserted(&id, "k").await, Err(missing.clone()));
        assert_eq!(store.delete(&id).await, Err(missing));
    }
}

async fn a_patch_changes_what_it_names_and_nothing_else(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    let mut expected = meta("s-1", 1);
    expected.title = Some("old".to_owned());
    store.create(expected.clone()).await.unwrap();
    store.update(&id, MetaPatch::default()).await.unwrap();
    assert_eq!(store.meta(&id).await.unwrap(), expected);
    let patch = MetaPatch {
        name: Some(Some("name".to_owned())),
        title: Some(None),
        updated_at: Some(at(5)),
        grants: Some(vec![Grant { tool: "grep".to_owned(), scope: GrantScope::Tool }]),
        options: Some([("think".to_owned(), json!("on"))].into_iter().collect()),
        additional_roots: Some(vec!["/r".into()]),
        usage: Some(SessionUsage {
            context: Some(ContextUsage { used: 5, size: 9, cost: None }),
            ..SessionUsage::default()
        }),
    };
    store.update(&id, patch.clone()).await.unwrap();
    patch.apply(&mut expected);
    assert_eq!(store.meta(&id).await.unwrap(), expected);
    store.update(&id, MetaPatch { name: Some(None), ..MetaPatch::default() }).await.unwrap();
    expected.name = None;
    assert_eq!(store.meta(&id).await.unwrap(), expected);
}

async fn an_unambiguous_beginning_finds_a_session(store: &dyn SessionStore) {
    for id in ["ab", "abc-1", "abc-2", "Abd", "\u{e9}t\u{e9}"] {
        store.create(meta(id, 0)).await.unwrap();
    }
    for (reference, found) in [
        ("ab", Ok("ab")),
        ("abc-1", Ok("abc-1")),
        ("abc-", Err(StoreError::Ambiguous("abc-".to_owned()))),
        ("a", Err(StoreError::Ambiguous("a".to_owned()))),
        ("A", Ok("Abd")),
        ("\u{e9}", Ok("\u{e9}t\u{e9}")),
        ("abc-3", Err(StoreError::NotFound("abc-3".into()))),
        ("", Err(StoreError::NotFound("".into()))),
    ] {
        let got = store.find(reference).await.map(|meta| meta.id);
        assert_eq!(got, found.map(SessionId::from), "{reference:?}");
    }
}

async fn wildcards_in_a_reference_are_plain_characters(store: &dyn SessionStore) {
    for id in ["ab", "a%b", "a_c", "x\\y"] {
        store.create(meta(id, 0)).await.unwrap();
    }
    for (reference, found) in
        [("a%", Some("a%b")), ("a_", Some("a_c")), ("%", None), ("_", None), ("x\\", Some("x\\y"))]
    {
        let got = store.find(reference).await.ok().map(|meta| meta.id);
        assert_eq!(got, found.map(SessionId::from), "{reference:?}");
    }
}

async fn the_list_is_ordered_by_last_use_then_id_and_pages_lose_nothing(store: &dyn SessionStore) {
    let mut expected = Vec::new();
    for n in [4_i64, 1, 3, 0, 2, 5, 6] {
        // Three share one moment.
        let second = if n < 3 { 0 } else { n };
        expected.push(meta(&format!("s-{n}"), second));
        store.create(meta(&format!("s-{n}"), second)).await.unwrap();
    }
    expected.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
    let mut walked = Vec::new();
    let mut offset = 0;
    loop {
        let page = store.list(ListQuery { cwd: None, offset, limit: 3 }).await.unwrap();
        offset += page.sessions.len();
        walked.extend(page.sessions);
        if !page.more {
            break;
        }
    }
    assert_eq!(walked, expected);
    let whole = store.list(ListQuery { cwd: None, offset: 0, limit: 7 }).await.unwrap();
    assert_eq!((whole.sessions.len(), whole.more), (7, false));
    let none = store.list(ListQuery { cwd: None, offset: 0, limit: 0 }).await.unwrap();
    assert_eq!((none.sessions.len(), none.more), (0, true));
    let beyond = store.list(ListQuery { cwd: None, offset: 99, limit: usize::MAX }).await.unwrap();
    assert_eq!((beyond.sessions.len(), beyond.more), (0, false));
}

async fn the_list_keeps_folders_apart_by_spelling(store: &dyn SessionStore) {
    for (n, cwd) in ["/a", "/a/", "/a/b", "/A", "/a"].into_iter().enumerate() {
        let mut meta = meta(&format!("s-{n}"), i64::try_from(n).unwrap());
        meta.cwd = cwd.into();
        store.create(meta).await.unwrap();
    }
    for (cwd, found) in
        [("/a", vec!["s-4", "s-0"]), ("/a/b", vec!["s-2"]), ("/A", vec!["s-3"]), ("/none", vec![])]
    {
        let query = ListQuery { cwd: Some(cwd.into()), offset: 0, limit: 50 };
        let page = store.list(query).await.unwrap();
        let ids: Vec<_> = page.sessions.iter().map(|meta| meta.id.as_str().to_owned()).collect();
        assert_eq!((ids, page.more), (found.into_iter().map(str::to_owned).collect(), false), "{cwd}");
    }
}

async fn a_name_is_looked_up_in_its_folder_and_exactly(store: &dyn SessionStore) {
    let named = |id: &str, cwd: &str, name: Option<&str>, at| SessionMeta {
        cwd: cwd.into(),
        name: name.map(str::to_owned),
        ..meta(id, at)
    };
    for meta in [
        named("s-1", "/w", Some("plan"), 1),
        named("s-2", "/w", None, 2),
        named("s-3", "/other", Some("plan"), 3),
    ] {
        store.create(meta).await.unwrap();
    }
    let found = store.named(Path::new("/w"), "plan").await.unwrap();
    assert_eq!(found.map(|meta| meta.id), Some("s-1".into()));
    for (cwd, name) in [("/w", "pla"), ("/w", "PLAN"), ("/w", ""), ("/nowhere", "plan")] {
        assert_eq!(store.named(Path::new(cwd), name).await, Ok(None), "{cwd} {name}");
    }
}

async fn latest_is_of_the_folder_alone(store: &dyn SessionStore) {
    assert_eq!(store.latest(Path::new("/w")).await, Ok(None));
    for (id, second) in [("s-1", 1), ("s-3", 3), ("s-2", 3)] {
        store.create(meta(id, second)).await.unwrap();
    }
    let mut elsewhere = meta("s-9", 9);
    elsewhere.cwd = "/elsewhere".into();
    store.create(elsewhere).await.unwrap();
    assert_eq!(store.latest(Path::new("/w")).await, Ok(Some(meta("s-2", 3))));
    store.append(&"s-1".into(), &[entry("t", 4, agent("a", "x"))]).await.unwrap();
    assert_eq!(store.latest(Path::new("/w")).await.unwrap().unwrap().id, "s-1".into());
}

async fn what_is_deleted_is_gone_and_its_id_free(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 1)).await.unwrap();
    store.append(&id, &[entry("t", 2, user("m", "x", Some("k")))]).await.unwrap();
    store.delete(&id).await.unwrap();
    assert_eq!(store.load(&id).await, Err(StoreError::NotFound(id.clone())));
    assert_eq!(store.delete(&id).await, Err(StoreError::NotFound(id.clone())));
    assert!(store.list(ListQuery { cwd: None, offset: 0, limit: 9 }).await.unwrap().sessions.is_empty());
    store.create(meta("s-1", 3)).await.unwrap();
    assert_eq!(store.load(&id).await.unwrap().entries, []);
    assert_eq!(store.inserted(&id, "k").await, Ok(None));
}

async fn a_lease_is_exclusive_until_dropped(store: &dyn SessionStore) {
    let (one, two) = (SessionId::from("s-1"), SessionId::from("s-2"));
    let held = store.lease(&one).await.unwrap();
    let _other = store.lease(&two).await.unwrap();
    let refused = store.lease(&one).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Leased { id, .. } if *id == one), "{refused}");
    if cfg!(unix) {
        let told = refused.to_string();
        assert!(told.contains(&format!("pid {}", std::process::id())), "{told}");
    }
    drop(held);
    store.lease(&one).await.unwrap();
}
