//! Who answers, by the configuration.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use session_model::source::SequentialIds;

use super::*;
use crate::settings::build::tools_of;

/// Finds one server, and counts how often it is asked.
#[derive(Debug, Default)]
struct Counting(AtomicUsize);

#[async_trait]
impl Detector for Counting {
    async fn detect(&self) -> Vec<Detected> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let models = vec!["qwen".to_owned()];
        vec![Detected {
            name: "ollama".into(),
            url: "http://here".into(),
            models,
            context_window: Some(8192),
        }]
    }
}

struct Scene {
    folder: tempfile::TempDir,
    detector: Arc<Counting>,
    drivers: ConfiguredDrivers,
}

fn scene(config: &Value) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, config.to_string()).unwrap();
    let detector = Arc::new(Counting::default());
    let lookup: SharedLookup = Arc::new(|_: &str| None);
    let loader = Loader::new(Some(path), false, None);
    let drivers = ConfiguredDrivers::new(
        loader,
        lookup,
        Arc::clone(&detector) as _,
        Arc::new(SequentialIds::default()),
    );
    Scene { folder, detector, drivers }
}

fn endpoint(choice: &AgentChoice) -> (&str, &str) {
    match &choice.spec {
        AgentSpec::Endpoint(spec) => (&spec.name, &spec.model),
        AgentSpec::Claude(_)
        | AgentSpec::Acp(_)
        | AgentSpec::Subprocess(_)
        | AgentSpec::Aider(_)
        | AgentSpec::Offline
        | AgentSpec::Unusable { .. } => {
            panic!("{choice:?}")
        }
    }
}

fn two() -> Value {
    json!({"agents": [{"name": "one", "url": "http://1", "model": "a"}, {"name": "two", "url": "http://2"}]})
}

#[tokio::test(start_paused = true)]
async fn servers_are_looked_for_once_in_a_while_and_only_without_a_configuration() {
    let bare = scene(&json!({}));
    for _ in 0..3 {
        let driver = bare.drivers.open(bare.folder.path()).driver(Wanted::PRIMARY).await.unwrap();
        assert_eq!(driver.route.agent.as_str(), "ollama");
    }
    assert_eq!(bare.detector.0.load(Ordering::Relaxed), 1);
    tokio::time::advance(FOUND_FOR).await;
    bare.drivers.choice(bare.folder.path(), None).await.unwrap();
    assert_eq!(bare.detector.0.load(Ordering::Relaxed), 2);

    let configured = scene(&two());
    let driver = configured.drivers.open(configured.folder.path()).driver(Wanted::PRIMARY).await.unwrap();
    assert_eq!(driver.route.reason, "it is the first server among the configured `agents`");
    assert_eq!(configured.detector.0.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_session_may_choose_another_agent_and_the_command_line_another_model() {
    let scene = scene(&two());
    let cwd = scene.folder.path();
    let asked = |model: &str| scene.drivers.clone().with_model(Some(model.into()));
    let table = [
        (scene.drivers.clone(), None, ("one", "a")),
        (scene.drivers.clone(), Some("TWO"), ("two", "")),
        (asked("two"), None, ("two", "")),
        (asked("two"), Some("one"), ("one", "a")),
        (asked("big"), None, ("one", "big")),
        (asked("big"), Some("one"), ("one", "big")),
        (asked("big"), Some("two"), ("two", "")),
    ];
    for (drivers, chosen, expected) in table {
        let choice = drivers.choice(cwd, chosen).await.unwrap();
        assert_eq!(endpoint(&choice), expected, "{chosen:?} with {:?}", drivers.model);
    }
    let offered = scene.drivers.open(cwd).settings();
    assert_eq!(offered.models.iter().map(|m| m.value.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(offered.model.as_deref(), Some("one"));
    assert_eq!(asked("two").open(cwd).settings().model.as_deref(), Some("two"));
}

#[tokio::test]
async fn the_same_description_keeps_its_provider() {
    let scene = scene(&two());
    let choice = scene.drivers.choice(scene.folder.path(), None).await.unwrap();
    let first = scene.drivers.provider(&choice.spec).unwrap().0;
    assert!(Arc::ptr_eq(&first, &scene.drivers.clone().provider(&choice.spec).unwrap().0));
    let other = scene.drivers.choice(scene.folder.path(), Some("two")).await.unwrap();
    assert!(!Arc::ptr_eq(&first, &scene.drivers.provider(&other.spec).unwrap().0));
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_fails_the_turn_with_the_reason() {
    let scene = scene(&json!([]));
    let session = scene.drivers.open(scene.folder.path());
    let failure = session.driver(Wanted::PRIMARY).await.unwrap_err();
    assert_eq!(failure.code, "config_invalid");
    assert!(failure.message.contains("the file must hold a JSON object"), "{}", failure.message);
    assert_eq!(session.settings().warnings, [failure.message]);
    assert_eq!(scene.drivers.default_ack(), Ack::TurnEnd);
}

#[tokio::test]
async fn an_agent_that_cannot_work_says_what_to_correct() {
    let table = [
        (json!({"name": "a", "url": ""}), "a: it has no `url`; give the server's base URL"),
        (
            json!({"name": "a", "url": "http://h", "provider": "bedrock"}),
            "a: it has no `aws_region`; set it or AWS_REGION, or give the region's `url`",
        ),
    ];
    for (agent, message) in table {
        let scene = scene(&json!({"agents": [agent]}));
        let failure = scene.drivers.open(scene.folder.path()).driver(Wanted::PRIMARY).await.unwrap_err();
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("provider_misconfigured", message));
    }
}

#[test]
fn the_users_words_come_from_the_file_and_its_absence_is_told() {
    let scene =
        scene(&json!({"agents": [{"name": "a", "url": "u", "prompt": "short", "prompt_file": "p.md"}]}));
    let session = scene.drivers.open(scene.folder.path());
    let warnings = session.settings().warnings;
    assert!(warnings.iter().any(|w| w.starts_with("a: cannot read `prompt_file`")), "{warnings:?}");
    std::fs::write(scene.folder.path().join("p.md"), "long").unwrap();
    let loaded = scene.drivers.load(scene.folder.path()).unwrap();
    assert_eq!(custom_prompt(&loaded.settings.agents[0]), Ok(Some("long".to_owned())));
}

#[test]
fn tools_are_included_and_excluded_by_name() {
    let names = |limits: Value| {
        let agent: AgentSettings = serde_json::from_value(json!({"name": "a", "limits": limits})).unwrap();
        let tools = tools_of(&ToolRegistry::builtin(), Some(&agent));
        tools.iter().map(|tool| tool.spec().schema.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(json!({"included_tools": ["grep", "bash", "none"]})), ["grep", "bash"]);
    assert_eq!(names(json!({"included_tools": ["grep", "bash"], "excluded_tools": ["bash"]})), ["grep"]);
    assert_eq!(names(json!({})).len(), ToolRegistry::builtin().iter().count());
}
