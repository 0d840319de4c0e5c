//! The contract of [`SessionStore`], against both stores.

use std::path::Path;

use serde_json::json;
use session_model::{
    Content, Grant, GrantScope, Item, Route, SessionId, StopReason, ToolCallUpdate, ToolKind, ToolStatus,
    TurnFailure,
};
use session_store::fold::{Window, replay, replay_window};
use session_store::{ListQuery, MemoryStore, MetaPatch, SessionStore, Span, StoreError};

use crate::support::{Disk, agent, at, end, entry, meta, user};

macro_rules! contract {
    ($($name:ident)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(&super::MemoryStore::new()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name(&super::Disk::new().store()).await;
            })*
        }
    };
}

contract! {
    a_new_session_comes_back_whole
    a_window_is_the_first_and_last_turns_and_the_number_between
    a_window_counts_the_users_messages_and_names_every_key
    the_recent_turns_are_whole_and_as_many_as_were_asked_for
    an_id_is_given_once
    a_session_that_does_not_exist_is_not_found_by_any_method
    items_of_every_kind_come_back_in_order
    appending_moves_the_last_use_and_makes_the_title_once
    a_message_without_words_makes_no_title
    nothing_of_a_refused_append_is_kept
    an_idempotency_key_finds_its_message_and_is_unique_in_its_session
    a_patch_changes_what_it_names_and_nothing_else
    an_unambiguous_beginning_finds_a_session
    wildcards_in_a_reference_are_plain_characters
    the_list_is_ordered_by_last_use_then_id_and_pages_lose_nothing
    the_list_keeps_folders_apart_by_spelling
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

async fn a_window_is_the_first_and_last_turns_and_the_number_between(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 0)).await.unwrap();
    let mut history = Vec::new();
    // The third id comes again later: what stands together is a turn.
    for (turn, n) in ["t-1", "t-2", "t-3", "t-4", "t-3", "t-5", "t-6"].into_iter().zip(0_i64..) {
        let said = [user(&format!("m{n}"), "hi", None), agent(&format!("a{n}"), "x"), end()];
        let begun: Vec<_> = said.into_iter().map(|item| entry(turn, n, item)).collect();
        // Also in several pieces.
        store.append(&id, &begun[..1]).await.unwrap();
        store.append(&id, &begun[1..]).await.unwrap();
        history.extend(begun);
    }
    for (first, last, left_out) in [
        (2, 3, 2),
        (0, 2, 5),
        (3, 0, 4),
        (0, 0, 7),
        (3, 4, 0),
        (7, 7, 0),
        (1, usize::MAX, 0),
        (usize::MAX, 1, 0),
    ] {
        let span = Span { first_turns: first, last_turns: last };
        let got = store.window(&id, span).await.unwrap();
        let head = first.min(7);
        let tail = 7_usize.saturating_sub(last).max(head);
        assert_eq!(got.head, history[..3 * head], "{span:?}");
        assert_eq!(got.tail, history[3 * tail..], "{span:?}");
        assert_eq!((got.left_out, got.turns, got.damaged), (left_out, 7, 0), "{span:?}");
        let window = Window { first_turns: first, last_turns: last, ..Window::FULL };
        assert_eq!(
            replay_window(&got.head, &got.tail, got.left_out, &window),
            replay(&history, &window),
            "{span:?}"
        );
    }
    assert_eq!(store.window(&id, Window::FULL.span()).await.unwrap().meta, store.meta(&id).await.unwrap());
}

async fn a_window_counts_the_users_messages_and_names_every_key(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 0)).await.unwrap();
    let span = Span { first_turns: 0, last_turns: 1 };
    let empty = store.window(&id, span).await.unwrap();
    assert_eq!(
        (empty.head, empty.tail, empty.left_out, empty.turns, empty.keys),
        (vec![], vec![], 0, 0, vec![])
    );
    let remark = Item::Remark { id: "r".into(), text: "restored".to_owned() };
    let said = [
        entry("t-0", 0, remark),
        entry("t-1", 1, user("m1", "one", Some("k-z"))),
        entry("t-1", 1, end()),
        entry("t-2", 2, user("m2", "two", None)),
        entry("t-2", 2, user("m3", "and", Some("k-a"))),
        entry("t-3", 3, agent("a", "on my own")),
        entry("t-4", 4, user("m4", "three", Some("k-m"))),
    ];
    store.append(&id, &said[..4]).await.unwrap();
    store.append(&id, &said[4..]).await.unwrap();
    let got = store.window(&id, span).await.unwrap();
    assert_eq!((got.tail.as_slice(), got.left_out, got.turns), (&said[6..], 4, 4));
    let keys = [("k-a", "m3"), ("k-m", "m4"), ("k-z", "m1")];
    assert_eq!(got.keys, keys.map(|(key, message)| (key.to_owned(), message.into())));
    store.append(&id, &[entry("t-4", 5, end())]).await.unwrap();
    assert_eq!(store.window(&id, span).await.unwrap().turns, 4);
}

async fn the_recent_turns_are_whole_and_as_many_as_were_asked_for(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 0)).await.unwrap();
    assert_eq!(store.recent(&id, 9).await.unwrap().entries, []);
    let history: Vec<_> = (0..5_i64)
        .flat_map(|n| {
            let turn = format!("t-{n}");
            let said = [user(&format!("m{n}"), "hi", None), agent(&format!("a{n}"), "x"), end()];
            said.map(|item| entry(&turn, n, item))
        })
        .collect();
    store.append(&id, &history).await.unwrap();
    let size: usize =
        history[..3].iter().map(|entry| serde_json::to_string(&entry.item).unwrap().len()).sum();
    for (bytes, turns) in [
        (0, 1),
        (1, 1),
        (size, 1),
        (size + 1, 2),
        (size * 4, 4),
        (size * 4 + 1, 5),
        (size * 5 + 1, 5),
        (usize::MAX, 5),
    ] {
        let got = store.recent(&id, bytes).await.unwrap();
        assert_eq!(got.entries, history[3 * (5 - turns)..], "{bytes}");
        assert_eq!((got.earlier, got.damaged), (turns < 5, 0), "{bytes}");
    }
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

async fn items_of_every_kind_come_back_in_order(store: &dyn SessionStore) {
    let mut call = ToolCallUpdate::new("call-1".into());
    call.name = Some("bash".to_owned());
    call.title = Some("bash: ls".to_owned());
    call.kind = Some(ToolKind::Execute);
    call.status = Some(ToolStatus::Completed);
    call.raw_input = Some(json!({"command": "ls", "z": 1, "a": 2}));
    let failure = TurnFailure { code: "provider_unreachable".to_owned(), message: "no answer".to_owned() };
    let route = Route { agent: "local".into(), target: "primary".to_owned(), reason: "default".to_owned() };
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    let items = [
        Item::User { id: "u".into(), content: vec![Content::text("a\0b\u{2028}"), image], key: None },
        Item::Thought { id: "th".into(), step: 0, text: "hm".to_owned() },
        agent("a", "on it"),
        Item::Tool { step: 0, call },
        Item::Remark { id: "r".into(), text: "a remark".to_owned() },
        Item::TurnEnd { stop: StopReason::Error, error: Some(failure), route: Some(route) },
    ];
    let entries: Vec<_> = items.into_iter().zip(0..).map(|(item, n)| entry("t-1", n, item)).collect();
    store.create(meta("s-1", 0)).await.unwrap();
    store.append(&"s-1".into(), &entries[..2]).await.unwrap();
    store.append(&"s-1".into(), &entries[2..]).await.unwrap();
    assert_eq!(store.load(&"s-1".into()).await.unwrap().entries, entries);
}

async fn appending_moves_the_last_use_and_makes_the_title_once(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 1)).await.unwrap();
    store.append(&id, &[]).await.unwrap();
    assert_eq!(store.meta(&id).await.unwrap(), meta("s-1", 1));
    store.append(&id, &[entry("t", 7, agent("a", "hello")), entry("t", 8, end())]).await.unwrap();
    let told = store.meta(&id).await.unwrap();
    assert_eq!((told.updated_at, told.title), (at(8), None));
    let long = format!("  why\n\tdoes {} ", "x".repeat(60));
    store.append(&id, &[entry("t", 9, user("m1", &long, None))]).await.unwrap();
    store.append(&id, &[entry("t", 10, user("m2", "something else", None))]).await.unwrap();
    let told = store.meta(&id).await.unwrap();
    let title = format!("why does {}…", "x".repeat(51));
    assert_eq!((told.updated_at, told.title), (at(10), Some(title)));
}

async fn a_message_without_words_makes_no_title(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 1)).await.unwrap();
    let wordless = entry("t", 2, user("m1", " \n", None));
    store.append(&id, &[wordless, entry("t", 3, user("m2", "words", None))]).await.unwrap();
    assert_eq!(store.meta(&id).await.unwrap().title.as_deref(), Some("words"));
}

async fn nothing_of_a_refused_append_is_kept(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 1)).await.unwrap();
    store.append(&id, &[entry("t", 2, user("m1", "one", Some("k")))]).await.unwrap();
    let before = store.load(&id).await.unwrap();
    let twice = [entry("t", 3, agent("a", "x")), entry("t", 4, user("m2", "two", Some("k")))];
    assert!(matches!(store.append(&id, &twice).await, Err(StoreError::Failed(_))));
    assert_eq!(store.load(&id).await.unwrap(), before);
}

async fn an_idempotency_key_finds_its_message_and_is_unique_in_its_session(store: &dyn SessionStore) {
    let (one, two) = (SessionId::from("s-1"), SessionId::from("s-2"));
    store.create(meta("s-1", 1)).await.unwrap();
    store.create(meta("s-2", 1)).await.unwrap();
    store.append(&one, &[entry("t", 2, user("m1", "x", Some("k")))]).await.unwrap();
    assert_eq!(store.inserted(&one, "k").await, Ok(Some("m1".into())));
    assert_eq!(store.inserted(&one, "other").await, Ok(None));
    assert_eq!(store.inserted(&two, "k").await, Ok(None));
    store.append(&two, &[entry("t", 2, user("m9", "x", Some("k")))]).await.unwrap();
    assert_eq!(store.inserted(&two, "k").await, Ok(Some("m9".into())));
    let unkeyed = [entry("t", 3, user("m2", "x", None)), entry("t", 3, user("m3", "x", None))];
    store.append(&one, &unkeyed).await.unwrap();
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
