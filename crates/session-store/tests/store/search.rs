//! The contract of [`SessionStore::search`], against both stores.

use std::path::Path;

use session_model::{Item, SessionId, ToolCallUpdate};
use session_store::{Hit, MetaPatch, SessionStore};

use crate::support::{agent, contract, end, entry, meta, user};

contract! {
    a_search_finds_words_in_messages_titles_and_names
    any_text_can_be_searched_for
    a_search_keeps_folders_apart_and_the_last_used_first
    what_is_deleted_or_renamed_is_not_found_any_more
}

async fn a_search_finds_words_in_messages_titles_and_names(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    let mut named = meta("s-1", 0);
    named.name = Some("Payments rework".to_owned());
    store.create(named).await.unwrap();
    let mut call = ToolCallUpdate::new("call-1".into());
    call.title = Some("grep: hidden".to_owned());
    let said = [
        entry("t-1", 1, user("m1", "Why does the LOGIN form\n  reject  umlauts?", None)),
        entry("t-1", 2, Item::Thought { id: "th".into(), step: 0, text: "hidden".to_owned() }),
        entry("t-1", 3, Item::Tool { step: 0, call }),
        entry(
            "t-1",
            4,
            agent("a1", "Because `validate_login` is ASCII only. \u{30ed}\u{30b0}\u{30a4}\u{30f3}"),
        ),
        entry("t-1", 5, Item::Remark { id: "r".into(), text: "hidden".to_owned() }),
        entry("t-1", 6, end()),
        entry("t-2", 7, user("m2", "caf\u{e9} STRASSE", None)),
    ];
    store.append(&id, &said[..4]).await.unwrap();
    assert_eq!(found(store, "validate").await, [("s-1", Some("a1"))], "before the rest is there");
    store.append(&id, &said[4..]).await.unwrap();
    for (text, message) in [
        ("login", Some(Some("a1"))),
        ("login form", Some(Some("m1"))),
        ("form login", Some(Some("m1"))),
        ("form reject umlauts?", Some(Some("m1"))),
        ("validate_log", Some(Some("a1"))),
        ("login validate only", Some(Some("a1"))),
        ("\u{30b0}\u{30a4}", Some(Some("a1"))),
        ("\u{30ed}\u{30b0}\u{30a4}", Some(Some("a1"))),
        ("is", Some(Some("a1"))),
        ("CAF\u{c9}", Some(Some("m2"))),
        ("\u{e9}", Some(Some("m2"))),
        ("form strasse", None),
        ("hidden", None),
        ("payments", Some(None)),
        ("re", Some(Some("m1"))),
        ("work pay", Some(None)),
        ("payments login", None),
    ] {
        let expected: Vec<_> = message.into_iter().map(|message| ("s-1", message)).collect();
        assert_eq!(found(store, text).await, expected, "{text}");
    }
    let hits = store.search("umlauts", None, 9).await.unwrap();
    assert_eq!(hits[0].snippet, "Why does the LOGIN form reject umlauts?");
    assert_eq!(hits[0].message.as_ref().unwrap().turn, "t-1".into());
    assert_eq!(hits[0].meta, store.meta(&id).await.unwrap());
    assert_eq!(store.search("rework", None, 9).await.unwrap()[0].snippet, "Payments rework");
}

/// The sessions found, each with the message.
async fn found(store: &dyn SessionStore, text: &str) -> Vec<(&'static str, Option<&'static str>)> {
    let hits = store.search(text, None, 99).await.unwrap();
    let leak = |text: &str| -> &'static str { text.to_owned().leak() };
    let shown = |hit: &Hit| (leak(hit.meta.id.as_str()), hit.message.as_ref().map(|m| leak(m.id.as_str())));
    hits.iter().map(shown).collect()
}

async fn any_text_can_be_searched_for(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    store.create(meta("s-1", 0)).await.unwrap();
    let strange = [
        "\"",
        "\"\"\"",
        "'",
        "''; DROP TABLE sessions; --",
        "AND",
        "OR NOT",
        "NEAR(a b)",
        "x*",
        "^abc",
        "text:abc",
        "{text}:a",
        "(((",
        ")))",
        "-abc",
        "+abc",
        "a\0bcd",
        "100%_%",
        "\\",
        "\u{feff}\u{202e}abc",
        "\u{1f600}\u{1f600}\u{1f600}",
    ];
    let said = strange.iter().zip(0_i64..).map(|(text, n)| entry("t", n, user(&format!("m{n}"), text, None)));
    store.append(&id, &said.collect::<Vec<_>>()).await.unwrap();
    for text in strange {
        let hits = store.search(text, None, 9).await.unwrap();
        assert_eq!(hits.len(), 1, "{text:?}");
    }
    for text in ["", " \n", "\0", "nothing of it"] {
        assert_eq!(store.search(text, None, 9).await.unwrap(), [], "{text:?}");
    }
}

async fn a_search_keeps_folders_apart_and_the_last_used_first(store: &dyn SessionStore) {
    for (n, cwd) in ["/w", "/w/sub", "/w", "/w"].into_iter().enumerate() {
        let second = i64::try_from(n).unwrap();
        let mut meta = meta(&format!("s-{n}"), second);
        meta.cwd = cwd.into();
        let id = meta.id.clone();
        store.create(meta).await.unwrap();
        let text = if n == 2 { "something else" } else { "the needle" };
        store.append(&id, &[entry("t", second, user("m", text, None))]).await.unwrap();
    }
    for text in ["needle", "ne"] {
        let ids = |hits: Vec<Hit>| hits.iter().map(|hit| hit.meta.id.to_string()).collect::<Vec<_>>();
        assert_eq!(ids(store.search(text, None, 9).await.unwrap()), ["s-3", "s-1", "s-0"]);
        assert_eq!(ids(store.search(text, None, 2).await.unwrap()), ["s-3", "s-1"]);
        assert_eq!(ids(store.search(text, None, 0).await.unwrap()), [""; 0]);
        assert_eq!(ids(store.search(text, Some(Path::new("/w")), 9).await.unwrap()), ["s-3", "s-0"]);
        assert_eq!(ids(store.search(text, Some(Path::new("/w/")), 9).await.unwrap()), [""; 0]);
    }
}

async fn what_is_deleted_or_renamed_is_not_found_any_more(store: &dyn SessionStore) {
    let id = SessionId::from("s-1");
    for round in 0..3_i64 {
        store.create(meta("s-1", round)).await.unwrap();
        store.append(&id, &[entry("t", round, user("m", "the needle", None))]).await.unwrap();
        assert_eq!(found(store, "needle").await, [("s-1", Some("m"))]);
        store.append(&id, &[entry("t", round, user("m2", "a second one", None))]).await.unwrap();
        store.delete(&id).await.unwrap();
        assert_eq!(found(store, "needle").await, []);
        assert_eq!(found(store, "second").await, []);
        store.create(meta("s-1", round)).await.unwrap();
        assert_eq!(found(store, "needle").await, []);
        let patch = MetaPatch { name: Some(Some("haystack".to_owned())), ..MetaPatch::default() };
        store.update(&id, patch).await.unwrap();
        assert_eq!(found(store, "haystack").await, [("s-1", None)]);
        store.update(&id, MetaPatch { name: Some(None), ..MetaPatch::default() }).await.unwrap();
        assert_eq!(found(store, "haystack").await, []);
        store.delete(&id).await.unwrap();
    }
}
