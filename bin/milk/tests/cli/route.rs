//! `milk route`: the decision and what it was made from, without asking anybody.

use std::fs;

use serde_json::{Value, json};

use crate::program::Home;

/// Two agents that nobody could reach: whoever asks one fails.
fn two(rules: &Value) -> Home {
    Home::with_config(&json!({
        "agents": [{"name": "small", "url": "http://127.0.0.1:1"}, {"name": "big", "url": "http://127.0.0.1:1"}],
        "escalation_agent": "big",
        "rules": rules,
    }))
}

#[test]
fn a_decision_is_told_with_every_signal_behind_it() {
    let home = two(&json!({ "local_below_tokens": 0 }));
    fs::create_dir_all(home.path("work/src")).expect("a folder");
    fs::write(home.path("work/src/a.rs"), "").expect("a file");
    let outcome = home.milk(&["route", "how", "would you design src/a.rs?"]).expect(0);
    assert_eq!(
        outcome.out,
        "small (primary): default\n\
         decided by: default\n\
         tokens: about 7\n\
         signal: escalate-verb:design +4\n\
         signal: path-ref -2\n\
         signal: open-question +3\n\
         score: 5 (escalated from 6, the primary's down to -4)\n"
    );
    let shown = home.milk(&["route", "--json", "how would you design it"]).expect(0).json();
    assert_eq!(
        shown,
        json!({
            "agent": "big", "target": "escalation", "reason": "signals: escalate-verb:design, open-question",
            "rule": "soft_score", "tokens": 5, "score": 7, "escalateThreshold": 6, "localThreshold": -4,
            "signals": [{"name": "escalate-verb:design", "weight": 4}, {"name": "open-question", "weight": 3}],
        })
    );
}

#[test]
fn a_model_is_asked_only_on_request_and_its_failure_decides_nothing() {
    let home = two(&json!({ "local_below_tokens": 0, "classifier": true }));
    for args in [&["route", "--json", "hm"][..], &["route", "--json", "--ask", "hm"]] {
        let shown = home.milk(args).expect(0).json();
        assert_eq!((&shown["target"], &shown["reason"]), (&json!("primary"), &json!("default")), "{args:?}");
    }
}

#[test]
fn with_one_agent_there_is_nothing_to_decide() {
    let home = Home::with_config(&json!({"agents": [{"name": "only", "url": "http://127.0.0.1:1"}]}));
    let shown = home.milk(&["route", "--json", "refactor entire crate"]).expect(0).json();
    assert_eq!(
        (&shown["agent"], &shown["rule"], &shown["reason"]),
        (&json!("only"), &Value::Null, &json!("it is the only agent"))
    );
}

#[test]
fn what_cannot_be_decided_fails() {
    let home = Home::with_config(&json!([]));
    let outcome = home.milk(&["route", "x"]).expect(1);
    assert!(outcome.err.contains("the file must hold a JSON object"), "{}", outcome.err);
    home.milk(&["route"]).expect(2);
}
