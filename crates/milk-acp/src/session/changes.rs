//! What changes beside the conversation: by a command, by a turn's end, or because the configuration was edited. The
//! client's settings follow.

use session_model::{Command, Event, Severity};
use session_store::MetaPatch;

use crate::command::Replay;
use crate::commands::{self, Change};
use crate::session::actor::{Actor, Out};
use crate::session::core::{Effect, Input};

impl Actor {
    /// What a command changed, or a turn taught.
    pub(super) fn change(&mut self, change: Change) {
        match change {
            Change::ShowThoughts(on) => {
                let stored = self.options.set_think(on);
                self.step(Input::ShowThoughts(on));
                self.store_options(stored);
                self.tell_options();
            }
            Change::SkipPermissions(on) => {
                self.options.skip_permissions(on);
                self.mode.set(self.options.mode());
                self.tell_options();
            }
            Change::Model(name) => {
                let stored = self.options.set_model(name);
                self.store_options(stored);
                self.tell_options();
            }
            Change::Pin(target) => {
                self.desk.pin(target, false);
                self.show_routing();
            }
            Change::BeginAnew => self.desk.begin_anew(),
            Change::Routed(learned) => {
                let sticky = self.settings.routing.as_ref().is_some_and(|routing| routing.sticky);
                self.desk.learn(*learned, sticky);
            }
            Change::Show(opened) => {
                let past = self.bind(*opened);
                self.replay(&past, Replay::Window);
                self.gauge();
            }
        }
    }

    fn store_options(&mut self, stored: serde_json::Map<String, serde_json::Value>) {
        self.queue.push_back(Out::Update(MetaPatch { options: Some(stored), ..MetaPatch::default() }));
    }

    fn tell_options(&mut self) {
        self.queue.push_back(Out::Do(Effect::Emit(Event::Options(self.options.list()))));
    }

    /// Shows whom the user wants, when that is not what is shown.
    pub(super) fn show_routing(&mut self) {
        if self.options.show_routing(self.desk.shown()) {
            self.tell_options();
        }
    }

    /// The commands as the client is told of them.
    pub(super) fn commands(&self) -> Vec<Command> {
        commands::advertised(&self.options)
    }

    /// Warnings about the configuration that were not shown yet.
    pub(super) fn tell_warnings(&mut self) {
        let warnings = std::mem::take(&mut self.settings.warnings);
        for warning in &warnings {
            if !self.shown_warnings.contains(warning) {
                self.notice(Severity::Warning, warning.clone());
            }
        }
        self.shown_warnings = warnings;
    }

    /// Takes up what the configuration says now. What the user chose stays, as far as it still exists.
    pub(super) fn refresh(&mut self) {
        let (options, commands) = (self.options.list(), self.commands());
        self.settings = self.drivers.settings();
        self.options.refresh(&self.settings);
        self.options.show_routing(self.desk.shown());
        self.step(Input::ShowThoughts(self.options.think()));
        if self.options.list() != options {
            self.tell_options();
        }
        let now = self.commands();
        if now != commands {
            self.queue.push_back(Out::Do(Effect::Emit(Event::Commands(now))));
        }
        self.tell_warnings();
    }
}
