//! Which prompts go where, and what is said of it.

use async_trait::async_trait;
use router::{
    Classifier, Decision, Fallback, NoAgent, Pins, RouteInput, Rule, Rules, Signal, Target, estimated_tokens,
    is_repeated,
};

const PRIMARY: Target = Target::Primary;
const ESCALATION: Target = Target::Escalation;

/// The default rules without the one that keeps every short prompt local, so that the others can be seen.
fn unshort() -> Rules {
    Rules { local_below_tokens: 0, ..Rules::default() }
}

fn exists(path: &str) -> bool {
    ["src/main.rs", "./src", "/etc/hosts", "docs\\a.md", "~/notes"].contains(&path)
}

fn input(prompt: &str) -> RouteInput<'_> {
    RouteInput { path_exists: &exists, ..RouteInput::new(prompt) }
}

fn decision(target: Target, rule: Rule, reason: &str) -> Decision {
    Decision { target, rule, reason: reason.to_owned() }
}

fn signals(prompt: &str) -> String {
    let found = unshort().signals(&input(prompt));
    found.iter().map(|Signal { name, weight }| format!("{name}{weight:+}")).collect::<Vec<_>>().join(" ")
}

/// Prompts and the signals in them.
const SIGNALS: &[(&str, &str)] = &[
    // The verbs of both languages.
    ("grep for TODO", "local-verb:grep-3"),
    ("Find the parser", "local-verb:find-3"),
    ("LIST all tests", "local-verb:list-3"),
    ("now run the tests", "local-verb:run-3"),
    ("fix: the login", "local-verb:fix-3"),
    ("please debug (it hangs)", "local-verb:debug-3"),
    ("cat the file", "local-verb:cat-3"),
    ("ls", "local-verb:ls-3"),
    ("implement a queue", "local-verb:implement-3"),
    ("aggiungi un test", "local-verb:aggiungi-3"),
    ("crea una funzione", "local-verb:crea-3"),
    ("Esegui i test", "local-verb:esegui-3"),
    ("leggi il file", "local-verb:leggi-3"),
    ("refactor the module", "escalate-verb:refactor+4"),
    ("Compare the two designs", "escalate-verb:compare+4"),
    ("explain why it fails", "escalate-verb:explain why+4"),
    ("make a plan", "escalate-verb:plan+4"),
    ("review, please", "escalate-verb:review+4"),
    ("progetta un servizio", "escalate-verb:progetta+4"),
    ("spiega perché fallisce", "escalate-verb:spiega perché+4"),
    ("ANALIZZA il codice", "escalate-verb:analizza+4"),
    ("riassumi la discussione", "escalate-verb:riassumi+4"),
    // Words that merely contain a verb.
    ("listen to the socket", ""),
    ("a listener and a blacklist", ""),
    ("explain this", ""),
    ("explain the planet", ""),
    ("prune the branches", ""),
    ("the address and the addition", ""),
    ("a thread already", ""),
    ("the prefix and suffix", ""),
    ("concatenate, category, catalog", ""),
    ("toolset and false", ""),
    ("the discount and account", ""),
    ("designate a reviewer", ""),
    ("the architecture", ""),
    ("a checkbox, unchecked", ""),
    ("removed, moved, movement", ""),
    ("the imprint and the sprint", ""),
    ("a runner's runtime", ""),
    ("showcase", ""),
    ("undeletable", ""),
    ("il creatore cercava", ""),
    ("rileggi e riscrivi", ""),
    ("make it read-only", ""),
    ("see src/find/mod.rs and list.rs", ""),
    ("call list_all or findUser", ""),
    // Questions.
    ("What does this do?", "open-question+3"),
    ("why?", "open-question+3"),
    ("how, exactly", "open-question+3"),
    ("what's new", "open-question+3"),
    ("Could you help", "open-question+3"),
    ("is it done", "open-question+3"),
    ("Perché non va", "open-question+3"),
    ("è possibile?", "open-question+3"),
    ("«come si fa»", "open-question+3"),
    ("whatever you like", ""),
    ("however", ""),
    ("tell me why", ""),
    ("doesn", ""),
    ("comedy", ""),
    // Paths that exist, with what people put around them.
    ("look at src/main.rs", "path-ref-2"),
    ("look at `src/main.rs`.", "path-ref-2"),
    ("error at src/main.rs:12:5:", "path-ref-2"),
    ("(./src)", "path-ref-2"),
    ("/etc/hosts", "path-ref-2"),
    ("docs\\a.md", "path-ref-2"),
    ("~/notes", "path-ref-2"),
    ("look at src/other.rs", ""),
    ("either/or", ""),
    ("https://example.com/src/main.rs", ""),
    // Code, and several at once.
    ("```rust\nfn f() {}\n```", "code-block-2"),
    ("`code`", ""),
    ("why does `run` in src/main.rs fail", "local-verb:run-3 path-ref-2 open-question+3"),
    ("how would you design this", "escalate-verb:design+4 open-question+3"),
    ("can you list and compare them", "local-verb:list-3 escalate-verb:compare+4 open-question+3"),
    // Other languages have no verbs in the lists, and none by accident.
    ("erkläre den Plan", "escalate-verb:plan+4"),
    ("Liste alle Dateien auf", ""),
    ("explique pourquoi cela échoue", ""),
    ("このモジュールを説明して", ""),
    ("объясни, почему падает", ""),
    ("", ""),
];

#[test]
fn prompts_show_their_signals() {
    for (prompt, expected) in SIGNALS {
        assert_eq!(signals(prompt), *expected, "{prompt:?}");
    }
}

#[test]
fn prompts_are_decided_by_the_first_rule_that_applies() {
    let long = format!("{} end", "word ".repeat(1_600));
    let just = "x".repeat(8_003);
    for (prompt, expected) in [
        (long.as_str(), Some(decision(ESCALATION, Rule::Long, "prompt exceeds token threshold"))),
        (just.as_str(), None),
        (
            "Refactor entire crate",
            Some(decision(ESCALATION, Rule::Keyword, "escalate keyword: refactor entire")),
        ),
        (
            "open the memory panel",
            Some(decision(ESCALATION, Rule::Keyword, "escalate keyword: memory panel")),
        ),
        ("refactor entirely", None),
        (
            "how would you design this",
            Some(decision(ESCALATION, Rule::Score, "signals: escalate-verb:design, open-question")),
        ),
        (
            "perché? confronta le due",
            Some(decision(ESCALATION, Rule::Score, "signals: escalate-verb:confronta, open-question")),
        ),
        ("fix src/main.rs", Some(decision(PRIMARY, Rule::Score, "signals: local-verb:fix, path-ref"))),
        ("run ```x```", Some(decision(PRIMARY, Rule::Score, "signals: local-verb:run, code-block"))),
        ("list and compare", None),
        ("hello there", None),
    ] {
        assert_eq!(unshort().decide(&input(prompt)), expected, "{prompt:.40}");
    }
}

#[test]
fn short_prompts_stay_local_up_to_the_limit_unless_a_keyword_says_otherwise() {
    let rules = Rules::default();
    let short = decision(PRIMARY, Rule::Short, "short prompt (local)");
    for (prompt, expected) in [
        ("how would you design this", Some(short.clone())),
        (&"é".repeat(123), Some(short.clone())),
        (&"é".repeat(124), None),
        ("", Some(short)),
        ("refactor entire", Some(decision(ESCALATION, Rule::Keyword, "escalate keyword: refactor entire"))),
    ] {
        assert_eq!(rules.decide(&input(prompt)), expected, "{prompt:?}");
    }
}

#[test]
fn wishes_come_before_state_and_state_before_the_text() {
    let long = "word ".repeat(2_000);
    let base = input(&long);
    let waiting = "the escalation agent waits for an answer";
    for (wished, expected) in [
        (
            RouteInput { forced: Some(PRIMARY), pinned: Some(ESCALATION), awaiting_escalation: true, ..base },
            Some(decision(PRIMARY, Rule::Forced, "the primary agent was asked for in this turn")),
        ),
        (
            RouteInput { pinned: Some(PRIMARY), sticky: true, awaiting_escalation: true, ..base },
            Some(decision(PRIMARY, Rule::Pinned, "the primary agent is pinned")),
        ),
        (
            RouteInput { awaiting_escalation: true, sticky: true, ..input("ls") },
            Some(decision(ESCALATION, Rule::Waiting, waiting)),
        ),
        (
            RouteInput { sticky: true, ..input("ls") },
            Some(decision(ESCALATION, Rule::Sticky, "an earlier turn was escalated")),
        ),
        (
            RouteInput { forced: Some(ESCALATION), pinned: Some(PRIMARY), ..input("ls") },
            Some(decision(ESCALATION, Rule::Forced, "the escalation agent was asked for in this turn")),
        ),
    ] {
        assert_eq!(Rules::default().decide(&wished), expected, "{wished:?}");
    }
}

#[derive(Debug)]
struct Says(Option<Target>);

#[async_trait]
impl Classifier for Says {
    async fn classify(&self, _prompt: &str) -> Option<Target> {
        self.0
    }
}

#[tokio::test]
async fn the_classifier_is_asked_only_where_the_rules_come_to_nothing() {
    let rules = unshort();
    let default = decision(PRIMARY, Rule::Default, "default");
    for (prompt, classifier, expected) in [
        ("hello there", None, default.clone()),
        ("hello there", Some(Says(None)), default),
        (
            "hello there",
            Some(Says(Some(ESCALATION))),
            decision(ESCALATION, Rule::Classifier, "model classifier"),
        ),
        ("hello there", Some(Says(Some(PRIMARY))), decision(PRIMARY, Rule::Classifier, "model classifier")),
        (
            "fix src/main.rs",
            Some(Says(Some(ESCALATION))),
            decision(PRIMARY, Rule::Score, "signals: local-verb:fix, path-ref"),
        ),
    ] {
        let classifier = classifier.as_ref().map(|says| says as &dyn Classifier);
        assert_eq!(rules.route(&input(prompt), classifier).await, expected, "{prompt}");
    }
    let rules = Rules { classifier_fallback: Fallback::Escalation, ..unshort() };
    let fallback = decision(ESCALATION, Rule::Fallback, "classifier-fallback=escalation");
    assert_eq!(rules.route(&input("hello there"), Some(&Says(Some(PRIMARY)))).await, fallback);
}

#[test]
fn an_agent_that_is_not_available_is_replaced_by_the_other_and_that_is_said() {
    let chosen = decision(ESCALATION, Rule::Pinned, "the escalation agent is pinned");
    assert_eq!(chosen.clone().among(true, true), Ok(chosen.clone()));
    let reason = "the escalation agent is not available (chosen for: the escalation agent is pinned)";
    assert_eq!(chosen.clone().among(true, false), Ok(decision(PRIMARY, Rule::Unavailable, reason)));
    assert_eq!(chosen.among(false, false), Err(NoAgent));
}

#[test]
fn the_routers_own_escalation_sticks_until_the_primary_is_wanted() {
    let scored = decision(ESCALATION, Rule::Score, "signals: x");
    let next = |pins: &mut Pins| {
        let mut input = RouteInput::new("ls");
        pins.apply(&mut input);
        (input.forced, input.pinned, input.sticky)
    };
    let mut pins = Pins::default();
    pins.succeeded(&scored, false);
    assert_eq!(next(&mut pins), (None, None, false), "switched off");
    pins.succeeded(&scored, true);
    assert_eq!(next(&mut pins), (None, None, true));
    assert_eq!(pins.pinned(), None, "stickiness reads as automatic");
    pins.force_once(PRIMARY);
    assert_eq!(next(&mut pins), (Some(PRIMARY), None, false));
    assert_eq!(next(&mut pins), (None, None, false), "once is once");
    pins.succeeded(&scored, true);
    pins.pin(None);
    assert_eq!(next(&mut pins), (None, None, false));
}

#[test]
fn a_wish_for_one_turn_leaves_nothing_behind() {
    let mut pins = Pins::default();
    pins.force_once(ESCALATION);
    let mut input = RouteInput::new("help");
    pins.apply(&mut input);
    let decision = Rules::default().decide(&input).unwrap();
    assert_eq!(decision.target, ESCALATION);
    pins.succeeded(&decision, true);
    assert_eq!(pins, Pins::default());
    pins.pin(Some(ESCALATION));
    pins.force_once(PRIMARY);
    assert_eq!(pins.pinned(), None);
    pins.pin(Some(PRIMARY));
    pins.force_once(ESCALATION);
    assert_eq!(pins.pinned(), None, "both ways");
    pins.pin(Some(PRIMARY));
    pins.force_once(PRIMARY);
    assert_eq!(pins.pinned(), Some(PRIMARY), "it is the same one");
}

#[test]
fn turning_away_from_a_waiting_agent_lasts_until_it_speaks_again() {
    let waits = |pins: &mut Pins| {
        let mut input = RouteInput { awaiting_escalation: true, ..RouteInput::new("ls") };
        pins.apply(&mut input);
        input.awaiting_escalation
    };
    let mut pins = Pins::default();
    assert!(waits(&mut pins));
    pins.pin(Some(ESCALATION));
    assert!(waits(&mut pins));
    pins.pin(None);
    assert!(!waits(&mut pins), "automatic routing begins anew");
    pins.succeeded(&decision(ESCALATION, Rule::Keyword, "x"), false);
    assert!(waits(&mut pins), "it has spoken since");
    pins.force_once(PRIMARY);
    assert!(!waits(&mut pins));
}

#[test]
fn rules_are_read_with_defaults_for_what_is_absent() {
    let given =
        r#"{"local_verbs": ["zeige"], "classifier_fallback": "claude", "open_question_prefixes": []}"#;
    let rules: Rules = serde_json::from_str(given).unwrap();
    let expected = Rules {
        local_verbs: vec!["zeige".to_owned()],
        classifier_fallback: Fallback::Escalation,
        open_question_prefixes: Vec::new(),
        ..Rules::default()
    };
    assert_eq!(rules, expected);
    let names: Vec<_> =
        rules.signals(&input("what? Zeige es")).into_iter().map(|signal| signal.name).collect();
    assert_eq!(names, ["local-verb:zeige", "open-question"]);
    assert_eq!(serde_json::from_str::<Rules>("{}").unwrap(), Rules::default());
}

#[test]
fn repeated_questions_are_noticed_and_repeated_confirmations_are_not() {
    let question = "Why does the build fail on Windows?";
    for (prompt, earlier, repeated) in [
        (question, vec!["why  does the build\nfail on windows?"], true),
        (question, vec!["something else entirely"], false),
        (question, vec!["x", question], false),
        (question, vec!["x", question, question], false),
        (question, vec!["x", question, question, question], true),
        ("yes, continue please", vec!["yes, continue please"], false),
        ("yes, continue please", vec!["yes, continue please"; 10], false),
        ("go on", vec!["go on"], false),
        (
            "なぜこのビルドはウィンドウズで失敗するのですか",
            vec!["なぜこのビルドはウィンドウズで失敗するのですか"],
            true,
        ),
    ] {
        assert_eq!(is_repeated(prompt, earlier.iter().copied()), repeated, "{prompt} after {earlier:?}");
    }
    let mut far = vec!["x"; 10];
    far.extend([question; 50]);
    assert!(!is_repeated(question, far), "only the last ten are looked at");
}

#[test]
fn a_decision_is_told_with_its_agent_and_counted_under_its_rule() {
    let decision = decision(ESCALATION, Rule::Keyword, "escalate keyword: x");
    let route = decision.route("claude".into());
    assert_eq!((route.agent.as_str(), route.target.as_str()), ("claude", "escalation"));
    assert_eq!(route.reason, "escalate keyword: x");
    assert_eq!((decision.rule.label(), decision.rule.conclusive()), ("hard_threshold", true));
    assert_eq!((Rule::Default.label(), Rule::Default.conclusive()), ("default", false));
}

#[test]
fn tokens_are_counted_by_characters() {
    for (prompt, tokens) in [("", 0), ("abc", 0), ("abcd", 1), ("ééééé", 1), ("日本語日", 1)] {
        assert_eq!(estimated_tokens(prompt), tokens, "{prompt}");
    }
}
