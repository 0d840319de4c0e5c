//! The doctor's look at agents: who would answer, and whether each is reachable, streams and calls tools.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent_runtime::providers::http::HttpClients;
use agent_runtime::providers::openai_chat::probe::{Check, ProbeReport, probe, probe_any};
use futures::future::join_all;
use milk_acp::settings::{
    AgentChoice, AgentSpec, ApiFormat, ConfiguredDrivers, EndpointSpec, KNOWN_SERVICES, Settings,
    build_provider, chat_config, redact_url, specify,
};

use session_model::source::Clock;

use super::programs;
use super::report::{Level, Report};
use crate::assemble::SystemClock;
use crate::places::variable;

/// How many models of a server are named.
const NAMED_MODELS: usize = 8;

/// Said when there is no model.
const NO_MODEL: &str = "no model: prompts are answered from what the tools find. Start an OpenAI-compatible \
    server (Ollama, llama.cpp, LM Studio, vLLM) on its usual port, set an API key such as OPENAI_API_KEY, or add an \
    agent to the configuration (`milk config init` makes one)";

/// Finds out who would answer, and tries every agent for at most `limit` a question.
pub(super) async fn agents(
    drivers: &ConfiguredDrivers,
    settings: Option<&Settings>,
    cwd: &Path,
    limit: Duration,
    report: &mut Report,
) {
    report.section("agents");
    let set: Vec<_> =
        KNOWN_SERVICES.iter().map(|service| service.variable).filter(|name| is_set(name)).collect();
    if !set.is_empty() {
        report.find(Level::Note, "keys in the environment", &set.join(", "));
    }
    let choice = match drivers.choice(cwd, None).await {
        Ok(choice) => choice,
        Err(failure) => return report.find(Level::Bad, "choice", &failure.message),
    };
    tell_choice(&choice, report);
    let clients = HttpClients::default();
    let specs = specs(&choice.spec, settings);
    let looks = specs.iter().map(|spec| look(spec, &clients, limit));
    for (spec, found) in specs.iter().zip(join_all(looks).await) {
        tell(spec, *spec == choice.spec, found, report);
    }
}

fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| !value.trim().is_empty())
}

fn tell_choice(choice: &AgentChoice, report: &mut Report) {
    let reason = &choice.reason;
    match &choice.spec {
        AgentSpec::Offline => report.find(Level::Warn, "answers", &format!("{NO_MODEL} ({reason})")),
        AgentSpec::Endpoint(endpoint) => {
            report.find(Level::Good, "answers", &format!("{}, because {reason}", describe(endpoint)));
        }
        spec
        @ (AgentSpec::Claude(_) | AgentSpec::Acp(_) | AgentSpec::Subprocess(_) | AgentSpec::Aider(_)) => {
            let name = spec.program().unwrap_or_default();
            report.find(Level::Good, "answers", &format!("{name}, because {reason}"));
        }
        AgentSpec::Unusable { name, .. } => {
            report.find(Level::Note, "answers", &format!("{name}, because {reason}"));
        }
    }
}

fn describe(endpoint: &EndpointSpec) -> String {
    let model = if endpoint.model.is_empty() { "the server's own model" } else { &endpoint.model };
    format!("{} ({model} at {})", endpoint.name, redact_url(&endpoint.url))
}

/// The agent that would answer, then the other configured ones.
fn specs(chosen: &AgentSpec, settings: Option<&Settings>) -> Vec<AgentSpec> {
    let mut specs = vec![chosen.clone()];
    for agent in settings.iter().flat_map(|settings| &settings.agents) {
        let spec = specify(agent, &variable);
        if !specs.contains(&spec) {
            specs.push(spec);
        }
    }
    specs
}

async fn look(spec: &AgentSpec, clients: &HttpClients, limit: Duration) -> Option<ProbeReport> {
    match spec {
        AgentSpec::Endpoint(endpoint) => match endpoint.api {
            ApiFormat::ChatCompletions => Some(probe(chat_config(endpoint, clients), limit).await),
            ApiFormat::Responses | ApiFormat::Messages | ApiFormat::Converse => {
                let clock: Arc<dyn Clock> = Arc::new(SystemClock);
                let provider = build_provider(spec, clients, Some(&clock)).ok()?;
                Some(probe_any(&*provider, &endpoint.url, limit).await)
            }
        },
        AgentSpec::Claude(_)
        | AgentSpec::Acp(_)
        | AgentSpec::Subprocess(_)
        | AgentSpec::Aider(_)
        | AgentSpec::Offline
        | AgentSpec::Unusable { .. } => None,
    }
}

fn tell(spec: &AgentSpec, chosen: bool, found: Option<ProbeReport>, report: &mut Report) {
    // What the chosen agent cannot do, milk cannot do; another one's trouble is only good to know.
    let trouble = if chosen { Level::Bad } else { Level::Warn };
    match (spec, found) {
        (AgentSpec::Offline, _) => {}
        (AgentSpec::Claude(config), _) => programs::tell(&config.name, &config.bin, trouble, report),
        (AgentSpec::Acp(config), _) => programs::tell(&config.name, &config.bin, trouble, report),
        (AgentSpec::Subprocess(config), _) => {
            programs::tell(&config.program.name, &config.program.bin, trouble, report);
        }
        (AgentSpec::Aider(config), _) => programs::tell(&config.name, &config.bin, trouble, report),
        (AgentSpec::Unusable { name, reason }, _) => report.find(trouble, name, reason),
        (AgentSpec::Endpoint(endpoint), None) => {
            report.find(trouble, &endpoint.name, "it could not be tried");
        }
        (AgentSpec::Endpoint(endpoint), Some(found)) => {
            let name = &endpoint.name;
            tell_check(&found.reachable, &format!("{name} is reachable"), trouble, report);
            tell_check(&found.streams, &format!("{name} streams"), trouble, report);
            tell_check(&found.calls_tools, &format!("{name} calls tools"), Level::Warn, report);
            tell_models(endpoint, &found.models, report);
        }
    }
}

fn tell_check(check: &Check, subject: &str, trouble: Level, report: &mut Report) {
    match check {
        Check::Passed(detail) => report.find(Level::Good, subject, &redact_url(detail)),
        Check::Failed(reason) => report.find(trouble, subject, reason),
        Check::Skipped => report.find(Level::Note, subject, "not tried"),
    }
}

fn tell_models(endpoint: &EndpointSpec, models: &[String], report: &mut Report) {
    if models.is_empty() {
        return;
    }
    let subject = format!("{} has models", endpoint.name);
    let mut names = models.iter().take(NAMED_MODELS).map(String::as_str).collect::<Vec<_>>().join(", ");
    if models.len() > NAMED_MODELS {
        names = format!("{names} and {} more", models.len() - NAMED_MODELS);
    }
    if endpoint.model.is_empty() || models.contains(&endpoint.model) {
        report.find(Level::Note, &subject, &names);
    } else {
        report.find(
            Level::Warn,
            &subject,
            &format!("{names}, but not `{}`; correct `model`", endpoint.model),
        );
    }
}
