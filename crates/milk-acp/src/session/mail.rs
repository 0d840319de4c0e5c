//! What a session's task does with what dispatch posts, and how it begins and ends.

use std::collections::HashMap;

use acp_rpc::{Responder, RpcError};
use futures::FutureExt;
use session_model::source::IdKind;
use session_model::{Entry, Event, Item, MessageId, SessionId, Severity};
use session_store::{MetaPatch, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::command::{OpenSession, Prompt, Replay, Reply, SetOption};
use crate::commands;
use crate::error::ServerError;
use crate::options::Options;
use crate::session::actor::{Actor, Ending, Out, Parts, Waiting};
use crate::session::core::{Effect, Input, NewPrompt, ReplyId};
use crate::session::open::{self, Opened, same_directory};
use crate::session::{Birth, Mail, Opening, Registration, SessionHandle, Shared, replay};

/// An open session that is to be shown again.
pub(super) struct Attached {
    replay: Replay,
    responder: Responder,
    entries: Result<Vec<Entry>, ServerError>,
}

/// Opens a session, serves it to its end, and answers everything it was ever sent.
pub(crate) async fn run(shared: Shared, birth: Birth) {
    let Birth { opening, responder, handle, mut mailbox, shutdown } = birth;
    let opened = tokio::select! {
        biased;
        () = shutdown.cancelled() => Err(ServerError::Cancelled),
        opened = open::open(&shared, &opening) => opened,
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) => {
            mailbox.close();
            responder.err(&RpcError::from(error));
            return refuse_rest(&mut mailbox);
        }
    };
    let session = opened.meta.id.clone();
    if matches!(opening, Opening::New { .. }) {
        register(&shared, session, handle).await;
    }
    let mut actor = born(shared, &opening, opened, responder, shutdown);
    actor.run(&mut mailbox).await;
    mailbox.close();
    actor.depart().await;
    refuse_rest(&mut mailbox);
}

/// Before the client learns the id, dispatch knows the way to it.
async fn register(shared: &Shared, session: SessionId, handle: SessionHandle) {
    // When dispatch is gone, the connection is ending and the session with it.
    drop(shared.registrations.send(Registration { session, handle }).await);
}

/// An actor for an opened session, with its first words queued.
fn born(
    shared: Shared,
    opening: &Opening,
    opened: Opened,
    responder: Responder,
    shutdown: CancellationToken,
) -> Actor {
    let drivers = shared.drivers.open(&opened.meta.cwd);
    let settings = drivers.settings();
    let options = Options::new(&settings, &opened.meta.options);
    let Opened { meta, entries, damaged, adopted, lease, unstored } = opened;
    let mut actor = Actor::new(Parts {
        shared,
        session: meta.id.clone(),
        cwd: meta.cwd,
        additional_roots: meta.additional_roots,
        drivers,
        settings,
        options,
        grants: meta.grants,
        keys: keys(&entries),
        lease,
        shutdown,
    });
    match opening {
        Opening::New { .. } => actor.say_new(responder, &entries, adopted),
        Opening::Stored(request) => actor.say_opened(responder, &entries, request.replay),
    }
    let servers = match opening {
        Opening::New { request, .. } => &request.mcp_servers,
        Opening::Stored(request) => &request.mcp_servers,
    };
    if !servers.is_empty() {
        let title = format!("MCP servers are not connected by this version of milk: {}", servers.join(", "));
        actor.notice(Severity::Warning, title);
    }
    if damaged > 0 {
        actor.notice(Severity::Warning, format!("{damaged} damaged items of this session were left out"));
    }
    if let Some(error) = unstored {
        let title = format!("this conversation is not being saved: {error}; it goes on in memory");
        actor.notice(Severity::Error, title);
    }
    for warning in std::mem::take(&mut actor.settings.warnings) {
        actor.notice(Severity::Warning, warning);
    }
    actor
}

/// The messages inserted under an idempotency key.
fn keys(entries: &[Entry]) -> HashMap<String, MessageId> {
    let keyed = entries.iter().filter_map(|entry| match &entry.item {
        Item::User { id, key: Some(key), .. } => Some((key.clone(), id.clone())),
        Item::User { key: None, .. }
        | Item::Agent { .. }
        | Item::Thought { .. }
        | Item::Tool { .. }
        | Item::Remark { .. }
        | Item::TurnEnd { .. } => None,
    });
    keyed.collect()
}

/// Answers what reached a session too late.
fn refuse_rest(mailbox: &mut mpsc::Receiver<Mail>) {
    while let Ok(mail) = mailbox.try_recv() {
        match mail {
            Mail::Prompt(Prompt { session, .. }, responder)
            | Mail::SetOption(SetOption { session, .. }, responder)
            | Mail::Attach(OpenSession { session, .. }, responder)
            | Mail::Delete(session, responder) => {
                responder.err(&RpcError::from(ServerError::UnknownSession(session)));
            }
            Mail::Close(responder) => responder.ok(&serde_json::json!({})),
            Mail::Cancel => {}
        }
    }
}

impl Actor {
    /// The response first: updates before it would reach a client that does not know the id yet.
    fn say_new(&mut self, responder: Responder, entries: &[Entry], adopted: bool) {
        let reply = Reply::NewSession {
            session: self.session.clone(),
            options: self.options.list(),
            commands: commands::advertised(),
        };
        self.reply(responder, Ok(&reply));
        self.emit(Event::Commands(commands::advertised()));
        let turns = replay::turns(entries);
        if adopted && turns > 0 {
            let notice = replay::resumed_notice(self.message_id(), &self.session, turns);
            self.emit(notice);
            self.replay(entries, Replay::Window);
        }
    }

    /// The replay first, then what the session is doing, then the response.
    fn say_opened(&mut self, responder: Responder, entries: &[Entry], how: Replay) {
        self.replay(entries, how);
        if how != Replay::Nothing {
            self.queue.push_back(Out::Replay(Event::ReplayComplete));
        }
        self.emit(Event::Foreground(self.core.foreground()));
        let reply = Reply::OpenSession { options: self.options.list(), commands: commands::advertised() };
        self.reply(responder, Ok(&reply));
        self.emit(Event::Commands(commands::advertised()));
    }

    fn replay(&mut self, entries: &[Entry], how: Replay) {
        let events = replay::events(entries, how, self.options.think());
        self.queue.extend(events.into_iter().map(Out::Replay));
    }

    fn emit(&mut self, event: Event) {
        self.queue.push_back(Out::Do(Effect::Emit(event)));
    }

    /// Answers in order, behind what is already on its way.
    fn reply(&mut self, responder: Responder, outcome: Result<&Reply, ServerError>) {
        let outcome = outcome.map(|reply| self.shared.dialect.reply(reply));
        self.queue.push_back(Out::Answer(responder, outcome));
    }

    /// One piece of mail.
    pub(super) fn mail(&mut self, mail: Mail) {
        match mail {
            Mail::Prompt(prompt, responder) if self.ending.is_none() => self.prompt(prompt, responder),
            Mail::SetOption(set, responder) if self.ending.is_none() => self.set_option(&set, responder),
            Mail::Attach(request, responder) if self.ending.is_none() => self.attach(request, responder),
            Mail::Prompt(_, responder) | Mail::SetOption(_, responder) | Mail::Attach(_, responder) => {
                responder.err(&RpcError::from(ServerError::UnknownSession(self.session.clone())));
            }
            Mail::Cancel => self.step(Input::Cancel),
            Mail::Close(responder) => {
                self.closers.push(responder);
                self.end(Ending::Close);
            }
            Mail::Delete(_, responder) => {
                self.closers.push(responder);
                self.end(Ending::Delete);
            }
        }
    }

    fn prompt(&mut self, prompt: Prompt, responder: Responder) {
        let reply = ReplyId(self.next_reply);
        self.next_reply += 1;
        let withdrawn = Box::pin(responder.cancelled().clone().cancelled_owned());
        self.waiting.insert(reply, Waiting { responder, withdrawn, seen: false });
        let Prompt { content, ack, key, .. } = prompt;
        let message = self.message_id();
        let turn = self.shared.ids.fresh(IdKind::Turn).into();
        let local = commands::parse(&content).is_some();
        self.step(Input::Prompt(NewPrompt { reply, content, ack, key, message, turn, local }));
    }

    fn set_option(&mut self, set: &SetOption, responder: Responder) {
        match self.options.set(&set.option, &set.value) {
            Ok(stored) => {
                self.step(Input::ShowThoughts(self.options.think()));
                let patch = MetaPatch { options: Some(stored), ..MetaPatch::default() };
                self.queue.push_back(Out::Update(patch));
                self.reply(responder, Ok(&Reply::OptionSet { options: self.options.list() }));
            }
            Err(error) => responder.err(&RpcError::from(error)),
        }
    }

    /// Looks up what is needed to show the open session again.
    fn attach(&mut self, request: OpenSession, responder: Responder) {
        let (shared, session) = (self.shared.clone(), self.session.clone());
        let unsaved = self.journal.unsaved().to_vec();
        let look = async move {
            let entries = match shared.store.load(&session).await {
                Ok(stored) => {
                    same_directory(&shared, &stored.meta, &request.cwd).await.map(|()| stored.entries)
                }
                // It was never stored, and lives in memory alone.
                Err(StoreError::NotFound(_)) => Ok(Vec::new()),
                Err(error) => Err(error.into()),
            };
            let entries = entries.map(|mut entries| {
                entries.extend(unsaved);
                entries
            });
            Attached { replay: request.replay, responder, entries }
        };
        self.attaching.push_back(look.boxed());
    }

    /// Shows the open session again.
    pub(super) fn attached(&mut self, attached: Attached) {
        match attached.entries {
            Ok(entries) => self.say_opened(attached.responder, &entries, attached.replay),
            Err(error) => attached.responder.err(&RpcError::from(error)),
        }
    }

    /// The last step: everything is kept, nothing runs.
    async fn depart(&mut self) {
        self.queue.clear();
        let outcome = match self.ending {
            Some(Ending::Delete) => self.shared.store.delete(&self.session).await,
            Some(Ending::Close) | None => Ok(()),
        };
        self.lease = None;
        let error = outcome.err().map(ServerError::from);
        for closer in self.closers.drain(..) {
            match &error {
                None => closer.ok(&self.shared.dialect.reply(&Reply::Done)),
                Some(error) => closer.err(&RpcError::from(error)),
            }
        }
    }
}
