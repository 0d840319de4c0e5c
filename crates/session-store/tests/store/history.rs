//! The contract of [`SessionStore`] about the items of a session, against both stores.

use serde_json::json;
use session_model::{
    Content, Item, Route, SessionId, StopReason, Summary, ToolCallUpdate, ToolKind, ToolStatus, TurnFailure,
};
use session_store::fold::{Window, replay, replay_window};
use session_store::{SessionStore, Span, StoreError};

use crate::support::{agent, at, contract, end, entry, meta, user};

contract! {
    a_window_is_the_first_and_last_turns_and_the_number_between
    a_window_counts_the_users_messages_and_names_every_key
    the_recent_turns_are_whole_and_as_many_as_were_asked_for
    items_of_every_kind_come_back_in_order
    appending_moves_the_last_use_and_makes_the_title_once
    a_message_without_words_makes_no_title
    nothing_of_a_refused_append_is_kept
    an_idempotency_key_finds_its_message_and_is_unique_in_its_session
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

async fn items_of_every_kind_come_back_in_order(store: &dyn SessionStore) {
    let mut call = ToolCallUpdate::new("call-1".into());
    call.name = Some("bash".to_owned());
    call.title = Some("bash: ls".to_owned());
    call.kind = Some(ToolKind::Execute);
    call.status = Some(ToolStatus::Completed);
    call.raw_input = Some(json!({"command": "ls", "z": 1, "a": 2}));
    let failure = TurnFailure { code: "provider_unreachable".to_owned(), message: "no answer".to_owned() };
    let route = Route {
        agent: "local".into(),
        target: "primary".to_owned(),
        reason: "default".to_owned(),
        conclusive: None,
    };
    let image = Content::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned(), uri: None };
    let items = [
        Item::User { id: "u".into(), content: vec![Content::text("a\0b\u{2028}"), image], key: None },
        Item::Thought { id: "th".into(), step: 0, text: "hm".to_owned() },
        agent("a", "on it"),
        Item::Tool { step: 0, call },
        Item::Remark { id: "r".into(), text: "a remark".to_owned() },
        Item::Compaction {
            id: "comp".into(),
            summary: Summary { turns: 2, last: "t-0".into(), text: "so far".to_owned() },
        },
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
