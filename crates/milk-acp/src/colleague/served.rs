//! What another agent has us do in its place while its turn runs: its client's files and terminals.

use acp_rpc::{Responder, RpcError};
use agent_runtime::external::leave::Wish;
use agent_runtime::external::served::{Refusal, Servant, Shown, Terminals};
use agent_runtime::host::HostFeatures;
use agent_runtime::io::{Interrupted, TurnIo};
use futures::FutureExt as _;
use serde_json::Value;
use session_model::source::Ids;
use session_model::{ToolCallId, ToolCallUpdate, ToolContent};

use super::ColleagueConfig;
use super::theirs::Theirs;
use super::turn::Turn;
use crate::dialect::client::{self, Given, Wanted};
use crate::error::{NOT_FOUND, ServerError};

/// What an agent of this configuration is offered, where our own client offers `client`: as much as our own tools have.
pub(super) fn offered(config: &ColleagueConfig, client: HostFeatures) -> HostFeatures {
    let files = |has: bool| config.client_files && (has || !client.has_files());
    HostFeatures {
        read_file: files(client.read_file),
        write_file: files(client.write_file),
        terminal: config.client_terminals,
    }
}

impl Turn<'_> {
    /// Does what the agent wants, beside all else that happens.
    pub(super) fn serve(&mut self, method: &str, params: &Value, responder: Responder) {
        let (session, wanted) = match client::wanted(method, params) {
            Some(Ok(asked)) => asked,
            Some(Err(error)) => return responder.err(&RpcError::invalid_params(error)),
            None => return responder.err(&RpcError::method_not_found(method)),
        };
        if !wanted.is_among(self.offered) {
            return responder.err(&RpcError::method_not_found(method));
        }
        if session != self.session {
            return responder.err(&ServerError::UnknownSession(session.into()).into());
        }
        let (servant, terminals) = (self.servant.clone(), self.terminals.clone());
        let given = self.rows.leaves();
        let work = async move {
            let withdrawn = responder.cancelled().clone();
            let outcome = tokio::select! {
                biased;
                outcome = done(&servant, &terminals, wanted, &given) => outcome.map_err(|refusal| error(&refusal)),
                () = withdrawn.cancelled() => Err(RpcError::cancelled()),
            };
            responder.finish(&outcome.map(client::given));
        };
        self.serving.push(work.boxed());
    }
}

/// All terminals that rows may show: those we run for the agent, and its own.
type Both<'t> = (&'t Terminals, &'t mut Theirs, &'t dyn Ids);

/// Has the terminals in a row be those that our client knows.
pub(super) async fn show_terminals(
    (terminals, theirs, ids): Both<'_>,
    io: &TurnIo,
    row: &mut ToolCallUpdate,
) -> Result<(), Interrupted> {
    let Some(content) = row.content.take() else { return Ok(()) };
    let mut all = Vec::with_capacity(content.len());
    for piece in content {
        all.extend(shown((terminals, theirs, ids), io, piece, &row.id).await?);
    }
    row.content = Some(all);
    Ok(())
}

/// One thing in the row `call`; of a terminal that is not there, nothing.
pub(super) async fn shown(
    (terminals, theirs, ids): Both<'_>,
    io: &TurnIo,
    piece: ToolContent,
    call: &ToolCallId,
) -> Result<Option<ToolContent>, Interrupted> {
    let ToolContent::Terminal(view) = piece else { return Ok(Some(piece)) };
    let Some(Shown { view, opening }) =
        terminals.show(&view.id, call).or_else(|| theirs.show(&view.id, call, ids))
    else {
        return Ok(None);
    };
    if let Some(opening) = opening {
        io.emit(opening).await?;
    }
    Ok(Some(ToolContent::Terminal(view)))
}

async fn done(
    servant: &Servant,
    terminals: &Terminals,
    wanted: Wanted,
    given: &[Wish],
) -> Result<Given, Refusal> {
    Ok(match wanted {
        Wanted::ReadFile { path, excerpt } => {
            Given::Text(servant.read_text_file(&path, excerpt, given).await?)
        }
        Wanted::WriteFile { path, text } => {
            servant.write_text_file(&path, text, given).await?;
            Given::Done
        }
        Wanted::CreateTerminal(command) => Given::Terminal(terminals.create(command, given).await?),
        Wanted::Output(id) => Given::Output(terminals.output(&id).await?),
        Wanted::WaitForExit(id) => Given::Exit(terminals.wait_for_exit(&id).await?),
        Wanted::Kill(id) => {
            terminals.kill(&id).await?;
            Given::Done
        }
        Wanted::Release(id) => {
            terminals.release(&id).await?;
            Given::Done
        }
    })
}

fn error(refusal: &Refusal) -> RpcError {
    let message = refusal.to_string();
    match refusal {
        Refusal::Invalid(_) => RpcError::invalid_params(message),
        Refusal::NotFound(_) => RpcError::new(NOT_FOUND, message),
        Refusal::Interrupted => RpcError::cancelled(),
        Refusal::Denied(_) | Refusal::Failed(_) => RpcError::internal(message),
    }
}
