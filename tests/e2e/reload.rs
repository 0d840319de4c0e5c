//! The configuration is edited while a session is open.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use milk_acp::settings::{ConfiguredDrivers, HttpDetector, Loader};
use milk_tests::client::Client;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;
use serde_json::{Value, json};
use session_model::source::SequentialIds;

fn configured(config: &Path) -> Rig {
    let loader = Loader::new(Some(config.to_owned()), false, None);
    let detector = Arc::new(HttpDetector::new(Vec::new()));
    let drivers =
        ConfiguredDrivers::new(loader, Arc::new(|_: &str| None), detector, Arc::<SequentialIds>::default());
    Rig::served_by(Arc::new(drivers))
}

fn write(config: &Path, document: &Value) {
    fs::write(config, document.to_string()).expect("written");
}

/// What a prompt that no model hears of tells beside its words: options, commands, notices.
async fn told(
    client: &mut Client,
    session: &str,
    prompt: &str,
) -> (Option<Value>, Option<Value>, Vec<String>) {
    let id = client.prompt(session, prompt).await;
    client.response(&id).await.expect("answered");
    client.settle().await;
    let (mut options, mut commands, mut notices) = (None, None, Vec::new());
    for line in client.take_unclaimed() {
        let update = &line["params"]["update"];
        match update["sessionUpdate"].as_str() {
            Some("config_option_update") => options = Some(update["configOptions"].clone()),
            Some("available_commands_update") => commands = Some(update["availableCommands"].clone()),
            Some("notice") => notices.extend(update["title"].as_str().map(str::to_owned)),
            Some("agent_message_chunk") => {
                notices.extend(update["content"]["text"].as_str().map(str::to_owned));
            }
            _ => {}
        }
    }
    (options, commands, notices)
}

fn current(options: Option<&Value>, id: &str) -> Option<String> {
    let options = options?.as_array()?;
    let option = options.iter().find(|option| option["id"] == id || option["configId"] == id)?;
    option["currentValue"].as_str().map(str::to_owned)
}

fn has(commands: Option<&Value>, name: &str) -> Option<bool> {
    Some(commands?.as_array()?.iter().any(|command| command["name"] == name))
}

#[tokio::test(start_paused = true)]
async fn an_edited_configuration_holds_from_the_next_prompt_on_and_choices_stay() {
    for version in Version::BOTH {
        let home = tempfile::tempdir().expect("a folder");
        let config = home.path().join("config.json");
        let (small, big) =
            (json!({ "name": "small", "url": "http://h" }), json!({ "name": "big", "url": "http://h" }));
        write(&config, &json!({ "agents": [small] }));
        let rig = configured(&config);
        let (mut client, session) = rig.session(version).await;
        let (options, _, _) = told(&mut client, &session, "/auto").await;
        assert_eq!(options, None, "nothing has changed");

        write(&config, &json!({ "agents": [small, big], "escalation_agent": "big" }));
        let (options, commands, _) = told(&mut client, &session, "/think").await;
        assert_eq!(current(options.as_ref(), "routing").as_deref(), Some("auto"));
        assert_eq!(current(options.as_ref(), "model").as_deref(), Some("small"));
        assert_eq!(has(commands.as_ref(), "escalate"), Some(true));

        let (options, _, _) = told(&mut client, &session, "/escalate").await;
        assert_eq!(current(options.as_ref(), "routing").as_deref(), Some("escalation"));
        write(
            &config,
            &json!({ "agents": [small, big], "escalation_agent": "big", "show_reasoning": false }),
        );
        let (options, commands, _) = told(&mut client, &session, "/think").await;
        assert_eq!(current(options.as_ref(), "routing").as_deref(), Some("escalation"), "the pin stays");
        assert_eq!(commands, None, "the commands are the same");

        fs::write(&config, "{ broken").expect("written");
        let (options, commands, notices) = told(&mut client, &session, "/think").await;
        assert_eq!((options, commands), (None, None), "the last good state holds");
        let said =
            |notices: &[String]| notices.iter().any(|notice| notice.contains("its last good state is used"));
        assert!(said(&notices), "{notices:?}");
        let (_, _, notices) = told(&mut client, &session, "/think").await;
        assert!(!said(&notices), "it is said once: {notices:?}");

        write(&config, &json!({ "agents": [small] }));
        let (options, commands, _) = told(&mut client, &session, "/think").await;
        assert!(options.is_some() && current(options.as_ref(), "routing").is_none(), "{options:?}");
        assert_eq!(has(commands.as_ref(), "escalate"), Some(false));
        client.finish().await;
    }
}
