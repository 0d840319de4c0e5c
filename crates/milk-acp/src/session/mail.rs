//! What a session's task does with what dispatch posts, and how it begins and ends.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use acp_rpc::{Responder, RpcError};
use futures::FutureExt;
use session_model::source::IdKind;
use session_model::{Event, Item, SessionId, Severity, ToolCallId, TurnId};
use session_store::{MetaPatch, StoreError};
use tokio_util::sync::CancellationToken;

use crate::command::{OpenSession, Prompt, Replay, Reply, SetOption};
use crate::commands;
use crate::delete;
use crate::drivers::SessionDrivers;
use crate::error::ServerError;
use crate::options::{Options, ROUTING};
use crate::session::actor::{Actor, Out, Parts, Waiting};
use crate::session::core::{Effect, Input, NewPrompt, ReplyId};
use crate::session::open::{self, Opened, Past, directories, same_directory};
use crate::session::{Birth, Mail, Mailbox, Opening, Shared, replay};
use crate::views::Seat;

/// What programs are told when the client's terminals are in doubt.
const UNRESOLVED: &str = "terminal_unresolved";

/// An open session that is to be shown again.
pub(super) struct Attached {
    request: OpenSession,
    responder: Responder,
    found: Result<(Past, Vec<PathBuf>), ServerError>,
}

/// Opens a session, serves its view to the end, and answers everything it was ever sent.
pub(crate) async fn run(shared: Shared, birth: Birth) {
    let Birth { opening, responder, seat, mut mailbox, shutdown } = birth;
    let first = First::of(&opening);
    let opened = tokio::select! {
        biased;
        () = shutdown.cancelled() => Err(ServerError::Cancelled),
        opened = open::open(&shared, &seat, opening) => opened,
    };
    let (opened, drivers) = match opened {
        Ok(found) => found,
        Err(error) => {
            mailbox.close();
            // Before the client knows, or its next request would still find this view.
            drop(seat);
            responder.err(&RpcError::from(error));
            return refuse_rest(&mut mailbox);
        }
    };
    let (mut actor, found) = born(shared, seat, (opened, drivers), shutdown);
    actor.begin(&first, &found, responder);
    actor.run(&mut mailbox).await;
    mailbox.close();
    actor.depart().await;
    refuse_rest(&mut mailbox);
}

/// What a view's first words depend on.
struct First {
    /// How much of the history is shown before the answer; `None` for `session/new`.
    replay: Option<Replay>,
    mcp_servers: Vec<String>,
}

impl First {
    fn of(opening: &Opening) -> Self {
        match opening {
            Opening::New { request, .. } => Self { replay: None, mcp_servers: request.mcp_servers.clone() },
            Opening::Stored { request, .. } => {
                Self { replay: Some(request.replay), mcp_servers: request.mcp_servers.clone() }
            }
        }
    }
}

/// An actor for an opened session, and what its first words are about.
fn born(
    shared: Shared,
    seat: Seat,
    (mut opened, drivers): (Opened, Arc<dyn SessionDrivers>),
    shutdown: CancellationToken,
) -> (Actor, Found) {
    let settings = drivers.settings();
    let options = Options::new(&settings, &opened.options);
    let (title, adopted, unstored) = (opened.title.clone(), opened.adopted, opened.unstored.take());
    let (actor, past) = Actor::new(Parts { shared, seat, drivers, settings, options, opened, shutdown });
    (actor, Found { past, title: title.filter(|_| adopted), adopted, unstored })
}

/// What was found when the session was opened.
struct Found {
    past: Past,
    /// The title of a session that was adopted, which the client has seen in no list.
    title: Option<String>,
    adopted: bool,
    unstored: Option<StoreError>,
}

/// Answers what reached a session too late.
fn refuse_rest(mailbox: &mut Mailbox) {
    while let Ok(mail) = mailbox.try_recv() {
        if let Mail::Close(responder) = mail {
            responder.ok(&serde_json::json!({}));
            continue;
        }
        let session = mail.session().cloned();
        if let (Some(responder), Some(session)) = (mail.into_responder(), session) {
            responder.err(&RpcError::from(ServerError::UnknownSession(session)));
        }
    }
}

impl Actor {
    /// Its first words.
    fn begin(&mut self, first: &First, found: &Found, responder: Responder) {
        let Found { past, title, adopted, unstored } = found;
        match first.replay {
            None => self.say_new(responder, past, *adopted),
            Some(how) => self.say_opened(responder, past, how),
        }
        if title.is_some() {
            self.emit(Event::Title(title.clone()));
        }
        if !first.mcp_servers.is_empty() {
            let servers = first.mcp_servers.join(", ");
            let title = format!("MCP servers are not connected by this version of milk: {servers}");
            self.notice(Severity::Warning, title);
        }
        self.tell_trouble(past.damaged, unstored.as_ref());
        self.tell_warnings();
    }

    /// The response first: updates before it would reach a client that does not know the id yet.
    fn say_new(&mut self, responder: Responder, past: &Past, adopted: bool) {
        let reply = Reply::NewSession {
            session: self.session.clone(),
            options: self.options.list(),
            commands: self.commands(),
        };
        self.reply(responder, Ok(&reply));
        self.emit(Event::Commands(self.commands()));
        if adopted && past.turns > 0 {
            let notice = replay::resumed_notice(self.message_id(), &self.session, past.turns);
            self.emit(notice);
            self.replay(past, Replay::Window);
            self.gauge();
        }
    }

    /// The replay first, then what the session is doing, then the response.
    pub(super) fn say_opened(&mut self, responder: Responder, past: &Past, how: Replay) {
        self.replay(past, how);
        if how != Replay::Nothing {
            self.queue.push_back(Out::Replay(Event::ReplayComplete));
        }
        self.emit(Event::Foreground(self.core.foreground()));
        let reply = Reply::OpenSession { options: self.options.list(), commands: self.commands() };
        self.reply(responder, Ok(&reply));
        self.emit(Event::Commands(self.commands()));
        self.gauge();
    }

    /// How full the context was when the session was last used, and what it cost.
    pub(super) fn gauge(&mut self) {
        if let Some(gauge) = self.core.usage().gauge() {
            self.emit(Event::Usage(gauge));
        }
    }

    /// Shows a history. In a pane that has shown another session, ids that only tell a place are told apart.
    pub(super) fn replay(&mut self, past: &Past, how: Replay) {
        let session = (self.session != self.first).then_some(&self.session);
        let events = replay::events(past, how, self.options.think(), session);
        self.queue.extend(events.into_iter().map(Out::Replay));
    }

    /// What did not go well when the session was opened.
    pub(super) fn tell_trouble(&mut self, damaged: usize, unstored: Option<&StoreError>) {
        if damaged > 0 {
            self.notice(Severity::Warning, format!("{damaged} damaged items of this session were left out"));
        }
        if let Some(error) = unstored {
            let title = format!("this conversation is not being saved: {error}; it goes on in memory");
            self.notice(Severity::Error, title);
        }
    }

    pub(super) fn emit(&mut self, event: Event) {
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
            Mail::Cancel => self.step(Input::Cancel),
            Mail::CancelCall(_, call, responder) => self.cancel_call(&call, responder),
            Mail::Close(responder) => {
                self.closers.push(responder);
                self.end();
            }
            Mail::Delete(session, done) => {
                self.doomed.push((session, done));
                self.end();
            }
            // Who asked for it sees the sender dropped once the view is gone.
            Mail::Drop(session, done) if self.ending => self.doomed.push((session, done)),
            Mail::Drop(session, done) => self.replace(session, done),
            mail if self.ending => self.refuse(mail),
            mail if !self.moves.is_settled() => self.moves.held.push_back(mail),
            Mail::Prompt(prompt, responder) => self.prompt(prompt, responder),
            Mail::SetOption(set, responder) => self.set_option(&set, responder),
            Mail::Attach(request, responder) | Mail::Return(request, responder) => {
                self.show(request, responder);
            }
        }
    }

    fn refuse(&self, mail: Mail) {
        let session = mail.session().unwrap_or(&self.session).clone();
        if let Some(responder) = mail.into_responder() {
            responder.err(&RpcError::from(ServerError::UnknownSession(session)));
        }
    }

    fn prompt(&mut self, prompt: Prompt, responder: Responder) {
        if let Some(cause) = self.host.unresolved() {
            let error = ServerError::failed(Some(prompt.session), UNRESOLVED, cause);
            return responder.err(&RpcError::from(error));
        }
        let reply = ReplyId(self.next_reply);
        self.next_reply += 1;
        let withdrawn = Box::pin(responder.cancelled().clone().cancelled_owned());
        self.waiting.insert(reply, Waiting { responder, withdrawn, seen: false });
        let Prompt { session: handle, content, ack, key } = prompt;
        let message = self.message_id();
        let turn: TurnId = self.shared.ids.fresh(IdKind::Turn).into();
        if self.core.is_idle() {
            // Of prompts that were withdrawn before their turn.
            self.forced.clear();
        }
        let invocation = commands::parse(&content);
        let forced =
            invocation.as_ref().and_then(commands::forced).filter(|_| self.settings.routing.is_some());
        let local = invocation.is_some() && forced.is_none();
        self.forced.extend(forced.map(|forced| (turn.clone(), forced)));
        self.step(Input::Prompt(NewPrompt { reply, handle, content, ack, key, message, turn, local }));
    }

    /// Ends one call while its turn goes on.
    fn cancel_call(&self, call: &ToolCallId, responder: Option<Responder>) {
        let ends = self.calls.cancel(call);
        let Some(responder) = responder else { return };
        if ends {
            return responder.ok(&self.shared.dialect.reply(&Reply::Done));
        }
        let text =
            format!("no tool call {call} runs that could be cancelled; session/cancel ends a whole turn");
        responder.err(&RpcError::from(ServerError::invalid(text)));
    }

    fn set_option(&mut self, set: &SetOption, responder: Responder) {
        match self.options.set(&set.option, &set.value) {
            Ok(stored) => {
                self.step(Input::ShowThoughts(self.options.think()));
                self.mode.set(self.options.mode());
                if set.option == ROUTING {
                    self.desk.pin(self.options.routing(), !self.core.is_idle());
                }
                let patch = MetaPatch { options: Some(stored), ..MetaPatch::default() };
                self.queue.push_back(Out::Update(patch));
                let reply =
                    if set.bare { Reply::Done } else { Reply::OptionSet { options: self.options.list() } };
                self.reply(responder, Ok(&reply));
            }
            Err(error) => responder.err(&RpcError::from(error)),
        }
    }

    /// Looks up what is needed to show the open session again.
    pub(super) fn attach(&mut self, request: OpenSession, responder: Responder) {
        let (shared, session, cwd) = (self.shared.clone(), self.session.clone(), self.cwd.clone());
        let unsaved = self.journal.unsaved().to_vec();
        let look = async move {
            let found = past(&shared, &session, &cwd, &request).await.map(|(mut past, roots)| {
                past.turns += unsaved.iter().filter(|entry| matches!(entry.item, Item::User { .. })).count();
                past.tail.extend(unsaved);
                (past, roots)
            });
            Attached { request, responder, found }
        };
        self.attaching.push_back(look.boxed());
    }

    /// Shows the open session again, under the handle that was asked for; what runs goes on under its own.
    pub(super) fn attached(&mut self, attached: Attached) {
        let Attached { request, responder, found } = attached;
        match found {
            Ok((past, roots)) => {
                self.additional_roots = roots;
                let own = self.core.handle().clone();
                self.step(Input::Attached(request.session));
                self.say_opened(responder, &past, request.replay);
                if !self.core.is_idle() {
                    self.step(Input::Attached(own));
                }
            }
            Err(error) => responder.err(&RpcError::from(error)),
        }
    }

    /// The last step: everything is kept, nothing runs.
    pub(super) async fn depart(&mut self) {
        self.queue.clear();
        let unresolved = self.host.unresolved();
        for (session, done) in std::mem::take(&mut self.doomed) {
            let outcome = if let Some(cause) = &unresolved {
                // The history may be all that tells what is still running.
                Err(ServerError::failed(Some(session), UNRESOLVED, cause.clone()))
            } else if session == self.session {
                match self.shared.store.delete(&session).await {
                    // What could not be stored is gone with its view.
                    Ok(()) | Err(StoreError::NotFound(_)) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            } else {
                delete::drop_stored(&self.shared, &session).await
            };
            // Who asked may be gone.
            let _unclaimed = done.send(outcome);
        }
        self.lease = None;
        for closer in self.closers.drain(..) {
            closer.ok(&self.shared.dialect.reply(&Reply::Done));
        }
    }
}

/// What a client is to be shown of an open session.
async fn past(
    shared: &Shared,
    session: &SessionId,
    cwd: &Path,
    request: &OpenSession,
) -> Result<(Past, Vec<PathBuf>), ServerError> {
    same_directory(shared, cwd, session, &request.cwd).await?;
    let roots = directories(shared, &request.additional_directories).await?;
    match shared.store.window(session, open::span(request.replay)).await {
        Ok(stored) => Ok((Past::of(stored).1, roots)),
        // It was never stored, and lives in memory alone.
        Err(StoreError::NotFound(_)) => Ok((Past::default(), roots)),
        Err(error) => Err(error.into()),
    }
}
