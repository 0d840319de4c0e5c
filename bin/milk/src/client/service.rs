//! Receives what the server sends: shows updates, answers its requests, notes how the turn ended.

use std::io::{self, Write};

use acp_rpc::{Notification, Request, Responder, RpcError, Service};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::consent::Gate;
use super::screen::Screen;
use super::update::{RowChange, Update, row};
use crate::output::{self, harmless};

/// How a turn ended, in the protocol's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) stop: Option<String>,
    pub(super) error: Option<String>,
}

/// The client's side of the connection.
pub(super) struct Terminal<W> {
    /// `None` where the raw lines are shown instead.
    screen: Option<Screen<W>>,
    gate: Gate,
    ended: watch::Sender<Option<Ended>>,
    /// Whether remarks about the turn are wanted beside its answer.
    talkative: bool,
    broken: watch::Sender<Option<io::ErrorKind>>,
}

impl<W: Write> Terminal<W> {
    pub(super) fn new(
        screen: Option<Screen<W>>,
        gate: Gate,
        ended: watch::Sender<Option<Ended>>,
        broken: watch::Sender<Option<io::ErrorKind>>,
        talkative: bool,
    ) -> Self {
        Self { screen, gate, ended, talkative, broken }
    }

    fn update(&mut self, params: &Value) {
        let update = Update::read(&params["update"]);
        if let Update::Notice { severity, title } = &update {
            self.remark(&format!("{severity}: {title}"));
        }
        if let Update::Idle { stop, error } = &update {
            self.ended.send_replace(Some(Ended { stop: stop.clone(), error: error.clone() }));
        }
        self.on_screen(|screen| screen.show(&update));
    }

    fn on_screen(&mut self, act: impl FnOnce(&mut Screen<W>)) {
        let Some(screen) = &mut self.screen else { return };
        act(screen);
        if let Some(error) = screen.take_failure() {
            self.broken.send_replace(Some(error.kind()));
        }
    }

    fn remark(&mut self, text: &str) {
        if self.screen.is_some() {
            self.on_screen(Screen::break_line);
            output::remark(harmless(text));
        }
    }

    fn permission(&mut self, params: &Value, responder: Responder) {
        let call = &params["toolCall"];
        let call = if call.is_object() { call } else { &params["subject"]["toolCall"] };
        let subject = row(call).unwrap_or_default();
        let title = params["title"].as_str().map(str::to_owned).or_else(|| subject.title.clone());
        let title = title.unwrap_or_else(|| "a tool".to_owned());
        if self.gate.asks() {
            let shown = RowChange { title: subject.title.clone().or(Some(title.clone())), ..subject };
            let description = params["description"].as_str().unwrap_or_default();
            self.on_screen(|screen| screen.show_subject(&shown, description));
        } else {
            self.on_screen(Screen::break_line);
        }
        self.gate.answer(&title, &params["options"], responder);
    }
}

impl<W: Write + Send> Service for Terminal<W> {
    fn request(&mut self, request: Request, responder: Responder) {
        let params: Value = match request.params.parse() {
            Ok(params) => params,
            Err(error) => return responder.err(&error),
        };
        match request.method.as_str() {
            "session/request_permission" => self.permission(&params, responder),
            "elicitation/create" => responder.ok(&json!({"action": "cancel"})),
            method => responder.err(&RpcError::method_not_found(method)),
        }
    }

    fn closing(&mut self) -> impl Future<Output = ()> + Send {
        self.on_screen(Screen::break_line);
        std::future::ready(())
    }

    fn notification(&mut self, notification: Notification) {
        let Ok(params) = notification.params.parse::<Value>() else { return };
        match notification.method.as_str() {
            "session/update" => self.update(&params),
            "_milk/route" if self.talkative => {
                let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
                self.remark(&format!("{} answers: {}", text("agent"), text("reason")));
            }
            "_milk/warning" => {
                let message = params["message"].as_str().unwrap_or_default().to_owned();
                self.remark(&message);
            }
            _ => {}
        }
    }
}
