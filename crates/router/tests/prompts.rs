//! Prompts, who gets them, and why: the expectations are worked out from the rules by hand.
//!
//! A small verb counts -3, a large one +4, a path that is there -2, code -2, an open question +3; from 6 on a prompt is
//! escalated, down to -4 it is the primary's, and between the two nothing is decided.

use router::{Decision, RouteInput, Rules, Target};

use Target::{Escalation as E, Primary as P};

type Row = (&'static str, Target, &'static str);

/// The default rules but for the one that keeps every short prompt local, so that the others can be seen.
fn unshort() -> Rules {
    Rules { local_below_tokens: 0, ..Rules::default() }
}

fn exists(path: &str) -> bool {
    ["src/main.rs", "./src", "../lib", "/etc/hosts", "docs\\a.md", "~/notes"].contains(&path)
}

async fn routed(rules: &Rules, prompt: &str) -> Decision {
    rules.route(&RouteInput { path_exists: &exists, ..RouteInput::new(prompt) }, None).await
}

const PROMPTS: &[Row] = &[
    // A small verb alone decides nothing, so the primary keeps it by default.
    ("grep for TODO", P, "default"),
    ("Find the parser", P, "default"),
    ("list all tests", P, "default"),
    ("run the tests", P, "default"),
    ("read it to me", P, "default"),
    ("fix the login", P, "default"),
    ("debug the hang", P, "default"),
    ("show me the log", P, "default"),
    ("cat the file", P, "default"),
    ("ls", P, "default"),
    ("check the types", P, "default"),
    ("print the tree", P, "default"),
    ("count the lines", P, "default"),
    ("search for the name", P, "default"),
    ("add a flag", P, "default"),
    ("create a module", P, "default"),
    ("write a test", P, "default"),
    ("implement a queue", P, "default"),
    ("rename the type", P, "default"),
    ("delete the branch", P, "default"),
    ("move it up", P, "default"),
    ("aggiungi un test", P, "default"),
    ("crea una funzione", P, "default"),
    ("scrivi la documentazione", P, "default"),
    ("implementa la coda", P, "default"),
    ("rinomina il tipo", P, "default"),
    ("elimina il file", P, "default"),
    ("sposta la funzione", P, "default"),
    ("cerca il nome", P, "default"),
    ("mostra il registro", P, "default"),
    ("controlla i tipi", P, "default"),
    ("esegui i test", P, "default"),
    ("leggi il file", P, "default"),
    // A small verb and a path that is there, or code, is a small job.
    ("fix src/main.rs", P, "signals: local-verb:fix, path-ref"),
    ("please read `src/main.rs`.", P, "signals: local-verb:read, path-ref"),
    ("grep unwrap in ./src", P, "signals: local-verb:grep, path-ref"),
    ("show /etc/hosts", P, "signals: local-verb:show, path-ref"),
    ("cat ~/notes", P, "signals: local-verb:cat, path-ref"),
    ("print docs\\a.md", P, "signals: local-verb:print, path-ref"),
    ("list ../lib", P, "signals: local-verb:list, path-ref"),
    ("run \"src/main.rs\"", P, "signals: local-verb:run, path-ref"),
    ("fix src/main.rs:12:5", P, "signals: local-verb:fix, path-ref"),
    ("fix the error at (src/main.rs:12)", P, "signals: local-verb:fix, path-ref"),
    ("leggi src/main.rs", P, "signals: local-verb:leggi, path-ref"),
    ("mostra ./src, per favore", P, "signals: local-verb:mostra, path-ref"),
    ("fix this: ```\nlet x = 1\n```", P, "signals: local-verb:fix, code-block"),
    ("run ```ls```", P, "signals: local-verb:run, code-block"),
    ("debug\n```py\nprint(1)\n```", P, "signals: local-verb:debug, code-block"),
    ("implementa ```fn f()```", P, "signals: local-verb:implementa, code-block"),
    ("fix src/main.rs: ```x```", P, "signals: local-verb:fix, path-ref, code-block"),
    ("in src/main.rs there is ```x```", P, "signals: path-ref, code-block"),
    ("./src ```a```", P, "signals: path-ref, code-block"),
    (
        "how do I add ```x``` to src/main.rs",
        P,
        "signals: local-verb:add, path-ref, code-block, open-question",
    ),
    ("why does ```x``` run in ./src", P, "signals: local-verb:run, path-ref, code-block, open-question"),
    // What is missing or no path at all does not count.
    ("fix src/gone.rs", P, "default"),
    ("fix main.rs", P, "default"),
    ("fix either/or", P, "default"),
    ("read https://example.com/src/main.rs", P, "default"),
    ("list /", P, "default"),
    ("fix src/main.rs.bak", P, "default"),
    ("show ~", P, "default"),
    ("fix ~/gone", P, "default"),
    ("run `code`", P, "default"),
    ("fix ``x``", P, "default"),
    ("look at src/main.rs", P, "default"),
    ("```just code```", P, "default"),
    ("src\\main.rs, fix it", P, "default"),
    // A large verb alone is not enough to escalate.
    ("architect a service", P, "default"),
    ("design a cache", P, "default"),
    ("refactor the module", P, "default"),
    ("explain why it fails", P, "default"),
    ("compare the two", P, "default"),
    ("evaluate the options", P, "default"),
    ("make a plan", P, "default"),
    ("propose a name", P, "default"),
    ("summarize the thread", P, "default"),
    ("review the change", P, "default"),
    ("analyze the trace", P, "default"),
    ("describe the flow", P, "default"),
    ("progetta un servizio", P, "default"),
    ("refactorizza il modulo", P, "default"),
    ("spiega perché fallisce", P, "default"),
    ("confronta le due", P, "default"),
    ("valuta le opzioni", P, "default"),
    ("pianifica il lavoro", P, "default"),
    ("proponi un nome", P, "default"),
    ("riassumi la discussione", P, "default"),
    ("revisiona la modifica", P, "default"),
    ("analizza il codice", P, "default"),
    ("descrivi il flusso", P, "default"),
    // An open question about something large is escalated.
    ("how would you design this", E, "signals: escalate-verb:design, open-question"),
    ("What is the plan?", E, "signals: escalate-verb:plan, open-question"),
    ("why, compare both", E, "signals: escalate-verb:compare, open-question"),
    ("could you review it?", E, "signals: escalate-verb:review, open-question"),
    ("can you analyze the trace", E, "signals: escalate-verb:analyze, open-question"),
    ("would you refactor it", E, "signals: escalate-verb:refactor, open-question"),
    ("should we evaluate both", E, "signals: escalate-verb:evaluate, open-question"),
    ("which design is better", E, "signals: escalate-verb:design, open-question"),
    ("who should review this", E, "signals: escalate-verb:review, open-question"),
    ("when do we plan it", E, "signals: escalate-verb:plan, open-question"),
    ("where would you propose a seam", E, "signals: escalate-verb:propose, open-question"),
    ("is it worth a refactor", E, "signals: escalate-verb:refactor, open-question"),
    ("are there flaws? describe them", E, "signals: escalate-verb:describe, open-question"),
    ("do you summarize", E, "signals: escalate-verb:summarize, open-question"),
    ("does the design hold", E, "signals: escalate-verb:design, open-question"),
    ("what's the plan", E, "signals: escalate-verb:plan, open-question"),
    ("¿why compare?", E, "signals: escalate-verb:compare, open-question"),
    ("\"how\" to describe it", E, "signals: escalate-verb:describe, open-question"),
    ("how would an architect design it", E, "signals: escalate-verb:architect, open-question"),
    ("come confronta i due", E, "signals: escalate-verb:confronta, open-question"),
    ("perché? analizza il codice", E, "signals: escalate-verb:analizza, open-question"),
    ("puoi riassumi", E, "signals: escalate-verb:riassumi, open-question"),
    ("quale valuta usi", E, "signals: escalate-verb:valuta, open-question"),
    ("cosa descrivi", E, "signals: escalate-verb:descrivi, open-question"),
    ("è possibile? progetta una prova", E, "signals: escalate-verb:progetta, open-question"),
    ("potresti: proponi un nome", E, "signals: escalate-verb:proponi, open-question"),
    ("sai, pianifica tutto", E, "signals: escalate-verb:pianifica, open-question"),
    // Signals that pull both ways come to nothing.
    ("can you list and compare them", P, "default"),
    ("how do I fix the design", P, "default"),
    ("what does the plan in src/main.rs say", P, "default"),
    ("why review ```x```", P, "default"),
    ("refactor src/main.rs", P, "default"),
    ("design and implement it", P, "default"),
    ("review and fix ./src", P, "default"),
    ("how do I run it", P, "default"),
    ("what is in src/main.rs", P, "default"),
    ("where is ```x```", P, "default"),
    ("why does `run` in src/main.rs fail", P, "default"),
    ("can you check src/main.rs", P, "default"),
    ("puoi leggi src/main.rs", P, "default"),
    // A question alone, and talk, stay with the primary.
    ("what?", P, "default"),
    ("why does it fail", P, "default"),
    ("how, exactly", P, "default"),
    ("hello there", P, "default"),
    ("thanks!", P, "default"),
    ("yes, continue please", P, "default"),
    ("go on", P, "default"),
    ("ok", P, "default"),
    ("no", P, "default"),
    ("", P, "default"),
    ("   ", P, "default"),
    ("?", P, "default"),
    ("🙂", P, "default"),
    ("tell me why", P, "default"),
    ("so what", P, "default"),
    ("whatever you like", P, "default"),
    ("however", P, "default"),
    ("come back to it", P, "default"),
    ("whose is it", P, "default"),
    // Words that merely contain one of the words are other words.
    ("how do I listen to a socket, explain", P, "default"),
    ("what listens? a blacklist", P, "default"),
    ("why explain the planet", P, "default"),
    ("explain this", P, "default"),
    ("prune the branches ```x```", P, "default"),
    ("the address in src/main.rs", P, "default"),
    ("the addition ```x```", P, "default"),
    ("a thread in src/main.rs", P, "default"),
    ("already ```x```", P, "default"),
    ("the prefix in ./src", P, "default"),
    ("concatenate ```x```", P, "default"),
    ("a category in src/main.rs", P, "default"),
    ("false ```x```", P, "default"),
    ("a tools folder ./src", P, "default"),
    ("the discount ```x```", P, "default"),
    ("my account ./src", P, "default"),
    ("what is a designer", P, "default"),
    ("why designate a reviewer", P, "default"),
    ("how is the architecture", P, "default"),
    ("what was reviewed", P, "default"),
    ("a checkbox in ./src", P, "default"),
    ("removed from src/main.rs", P, "default"),
    ("the sprint ```x```", P, "default"),
    ("blueprint ```x```", P, "default"),
    ("a runner ```x```", P, "default"),
    ("runtime ```x```", P, "default"),
    ("showcase ./src", P, "default"),
    ("research ```x```", P, "default"),
    ("recreate ```x```", P, "default"),
    ("rewrite ./src", P, "default"),
    ("reimplement ```x```", P, "default"),
    ("findings ./src", P, "default"),
    ("a debugger ```x```", P, "default"),
    ("why comparable", P, "default"),
    ("how proposed", P, "default"),
    ("what an evaluation", P, "default"),
    ("how to replan", P, "default"),
    ("why redesign", P, "default"),
    ("what a subplan", P, "default"),
    ("read-only ```x```", P, "default"),
    ("a dry-run ./src", P, "default"),
    ("call list_all ```x```", P, "default"),
    ("findUser ```x```", P, "default"),
    ("see list.rs ```x```", P, "default"),
    ("the list's head ```x```", P, "default"),
    ("in lib/read/mod.rs ```x```", P, "default"),
    ("how-to design", P, "default"),
    ("however we design it", P, "default"),
    ("il creatore ```x```", P, "default"),
    ("rileggi ```x```", P, "default"),
    ("why panel-memory", P, "default"),
    // The words that escalate by themselves.
    ("refactor entire crate", E, "escalate keyword: refactor entire"),
    ("Refactor ENTIRE src/main.rs", E, "escalate keyword: refactor entire"),
    ("the context brick is empty", E, "escalate keyword: context brick"),
    ("open the memory panel", E, "escalate keyword: memory panel"),
    ("fix the panel memory", E, "escalate keyword: panel memory"),
    ("ls; refactor entire", E, "escalate keyword: refactor entire"),
    ("refactor entirely", P, "default"),
    ("refactor the entire crate", P, "default"),
    ("context bricks", P, "default"),
    ("a memory-panel", P, "default"),
    // Other languages have no words in the lists, and none by accident; words they share count.
    ("Liste alle Dateien auf", P, "default"),
    ("Behebe den Fehler in src/main.rs", P, "default"),
    ("Warum schlägt das fehl?", P, "default"),
    ("Erkläre, warum es fehlschlägt", P, "default"),
    ("Wie würdest du das entwerfen?", P, "default"),
    ("Zeige ```x```", P, "default"),
    ("What ist der Plan?", E, "signals: escalate-verb:plan, open-question"),
    ("Mach einen Plan", P, "default"),
    ("explique pourquoi cela échoue", P, "default"),
    ("corrige src/main.rs", P, "default"),
    ("montre ```x```", P, "default"),
    ("comment faire un plan ?", P, "default"),
    ("quand lister les fichiers", P, "default"),
    ("explica por qué falla", P, "default"),
    ("arregla src/main.rs", P, "default"),
    ("¿cómo funciona?", P, "default"),
    ("haz un plan", P, "default"),
    ("como funciona", P, "default"),
    ("quando falha o teste", P, "default"),
    ("corrija ```x```", P, "default"),
    ("なぜ失敗するのですか", P, "default"),
    ("src/main.rs を直して", P, "default"),
    ("このモジュールを設計して", P, "default"),
    ("`src/main.rs` を fix して", P, "signals: local-verb:fix, path-ref"),
    ("用run命令 ```x```", P, "signals: local-verb:run, code-block"),
    ("请解释为什么失败", P, "default"),
    ("修复 src/main.rs", P, "default"),
    ("请 review 这个 design", P, "default"),
    ("объясни, почему падает", P, "default"),
    ("исправь src/main.rs", P, "default"),
    ("왜 실패하나요", P, "default"),
    ("src/main.rs 를 fix 해줘", P, "signals: local-verb:fix, path-ref"),
    ("اشرح لماذا", P, "default"),
    ("แก้ไข ```x```", P, "default"),
];

#[tokio::test]
async fn every_prompt_goes_where_the_rules_say_and_for_their_reason() {
    assert!(PROMPTS.len() >= 200);
    for (prompt, target, reason) in PROMPTS {
        let decision = routed(&unshort(), prompt).await;
        assert_eq!((decision.target, decision.reason.as_str()), (*target, *reason), "{prompt:?}");
    }
}

/// What the default rules make of them: whatever is short is the primary's, unless a keyword says otherwise.
#[tokio::test]
async fn by_default_every_short_prompt_is_the_primarys() {
    for (prompt, _, reason) in PROMPTS {
        let decision = routed(&Rules::default(), prompt).await;
        assert!(prompt.chars().count() < 124, "{prompt:?} is short");
        let expected =
            if reason.starts_with("escalate keyword") { (E, *reason) } else { (P, "short prompt (local)") };
        assert_eq!((decision.target, decision.reason.as_str()), expected, "{prompt:?}");
    }
}

/// Longer than the short ones by this: words that say nothing.
const LONG: &str = "and so on, as was said, for all of these as well as for those that were not named here but are meant all the same, in their order";

#[tokio::test]
async fn longer_prompts_are_decided_by_what_they_say() {
    let rows: &[Row] = &[
        ("how would you design this", E, "signals: escalate-verb:design, open-question"),
        ("fix src/main.rs", P, "signals: local-verb:fix, path-ref"),
        ("run ```x```", P, "signals: local-verb:run, code-block"),
        ("hello there", P, "default"),
        ("make a plan", P, "default"),
        ("Perché non va? Analizza il codice", E, "signals: escalate-verb:analizza, open-question"),
        ("なぜ失敗するのですか", P, "default"),
    ];
    for (prompt, target, reason) in rows {
        let prompt = format!("{prompt} {LONG}");
        let decision = routed(&Rules::default(), &prompt).await;
        assert_eq!((decision.target, decision.reason.as_str()), (*target, *reason), "{prompt:?}");
    }
}

#[tokio::test]
async fn a_wall_of_text_is_escalated_in_every_script() {
    for (unit, count) in [("word ", 1_601), ("ö", 8_004), ("語", 8_004), ("fix src/main.rs ", 501)] {
        let long = unit.repeat(count);
        let decision = routed(&Rules::default(), &long).await;
        assert_eq!(
            (decision.target, decision.reason.as_str()),
            (E, "prompt exceeds token threshold"),
            "{unit}"
        );
        let never = Rules { escalate_above_tokens: -1, ..Rules::default() };
        assert_eq!(routed(&never, &long).await.target, P, "{unit}: the rule can be switched off");
    }
}
