//! The same agents for every session, for tests and for embedders.

use std::path::Path;
use std::sync::Arc;

use agent_runtime::driver::TurnDriver;
use agent_runtime::handover::HandoverSlot;
use agent_runtime::redact::Redactor;
use async_trait::async_trait;
use router::Target;
use session_model::{AgentId, Route, TurnFailure};

use super::{Driver, Drivers, Judge, Routing, SessionDrivers, SessionSettings, Wanted};
use crate::command::Ack;

/// Always the same driver; or the same two, between which the rules decide.
#[derive(Debug, Clone)]
pub struct FixedDriver {
    driver: Driver,
    escalation: Option<Driver>,
    settings: SessionSettings,
    ack: Ack,
    classifier: Option<Arc<dyn Judge>>,
    redactor: Arc<Redactor>,
}

impl FixedDriver {
    /// Answers every turn with `driver`, under the name `agent`.
    #[must_use]
    pub fn new(agent: &str, driver: Arc<dyn TurnDriver>) -> Self {
        Self {
            driver: made(agent, Target::Primary, driver),
            escalation: None,
            settings: SessionSettings::default(),
            ack: Ack::TurnEnd,
            classifier: None,
            redactor: Arc::new(Redactor::new("fixed")),
        }
    }

    /// With a second agent, to whom prompts go as `routing` has it.
    #[must_use]
    pub fn with_escalation(mut self, driver: Arc<dyn TurnDriver>, routing: Routing) -> Self {
        self.escalation = Some(made(&routing.escalation, Target::Escalation, driver));
        self.settings.routing = Some(routing);
        self
    }

    /// With the slot in which the first agent's `escalate` tool leaves its wish.
    #[must_use]
    pub fn with_slot(mut self, slot: HandoverSlot) -> Self {
        self.driver.slot = slot;
        self
    }

    /// With someone to ask where the rules do not say.
    #[must_use]
    pub fn with_classifier(mut self, classifier: Arc<dyn Judge>) -> Self {
        self.classifier = Some(classifier);
        self
    }

    /// With these settings for every session.
    #[must_use]
    pub fn with_settings(mut self, settings: SessionSettings) -> Self {
        let routing = settings.routing.clone().or_else(|| self.settings.routing.take());
        self.settings = SessionSettings { routing, ..settings };
        self
    }
}

fn made(agent: &str, target: Target, driver: Arc<dyn TurnDriver>) -> Driver {
    let route = Route {
        agent: AgentId::new(agent),
        target: target.to_string(),
        reason: "the only agent".to_owned(),
        conclusive: Some(true),
    };
    Driver { driver, route, slot: HandoverSlot::default() }
}

impl Drivers for FixedDriver {
    fn default_ack(&self) -> Ack {
        self.ack
    }

    fn open(&self, _cwd: &Path) -> Arc<dyn SessionDrivers> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl SessionDrivers for FixedDriver {
    fn settings(&self) -> SessionSettings {
        self.settings.clone()
    }

    async fn driver(&self, wanted: Wanted<'_>) -> Result<Driver, TurnFailure> {
        let second = self.escalation.as_ref().filter(|_| wanted.target == Target::Escalation);
        Ok(second.unwrap_or(&self.driver).clone())
    }

    async fn classifier(&self, _model: Option<&str>) -> Option<Arc<dyn Judge>> {
        self.classifier.clone()
    }

    fn redactor(&self) -> Option<Arc<Redactor>> {
        Some(Arc::clone(&self.redactor))
    }
}
