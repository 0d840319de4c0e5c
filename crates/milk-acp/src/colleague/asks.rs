//! Another agent's questions for leave: settled by our rules where they have the answer, else put to the user with the
//! agent's own options. "Always" is ours: it holds in this session, and the agent is told "once".

use acp_rpc::Responder;
use agent_runtime::external::leave::{self, Always, Leave, Wish};
use agent_runtime::gate::Denial;
use agent_runtime::io::TurnIo;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use session_model::{Answer, Ask, AskOption, AskOptionKind, Grant, OptionId, PermissionAsk, ToolStatus};

use super::served::show_terminals;
use super::turn::Turn;
use super::wish::wish;
use crate::dialect::client;

/// The id of an "always" that the agent did not offer.
const ALWAYS: &str = "milk_allow_always";

/// What came of a question.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// What "always" gave.
    pub(super) grants: Vec<Grant>,
    /// The call that leave was given for, by the agent's id, and what for.
    pub(super) leave: Option<(String, Wish)>,
    /// Why nobody could be asked.
    pub(super) cause: Option<String>,
}

pub(super) type Asking = BoxFuture<'static, Settled>;

/// The options that are shown, and what one of them means to the agent.
struct Offer {
    shown: Vec<AskOption>,
    ours: Option<Ours>,
}

/// The "always" of ours.
struct Ours {
    id: OptionId,
    grants: Vec<Grant>,
    /// What the agent is told instead.
    once: OptionId,
}

impl Turn<'_> {
    /// Asks for leave on its behalf, unless our rules have the answer.
    pub(super) async fn ask_leave(
        &mut self,
        mut ask: PermissionAsk,
        responder: Responder,
    ) -> Result<(), agent_runtime::io::Interrupted> {
        let theirs = ask.tool_call.id.as_str().to_owned();
        let known = self.rows.knows(&ask.tool_call.id);
        let whole = self.rows.note(&ask.tool_call, self.ids);
        ask.tool_call.id = whole.id.clone();
        let terminals = (&self.terminals, &mut self.theirs, self.ids);
        show_terminals(terminals, self.io, &mut ask.tool_call).await?;
        if known {
            // It may have gone further meanwhile.
            ask.tool_call.status = None;
        } else {
            let mut row = ask.tool_call.clone();
            row.title.get_or_insert_with(|| ask.title.clone());
            row.status = Some(ToolStatus::Pending);
            self.io.emit(session_model::Event::ToolCall(row)).await?;
        }
        let mut whole = whole;
        whole.title.get_or_insert_with(|| ask.title.clone());
        let wish = wish(&whole);
        let (servant, permissions) = (self.servant.clone(), self.servant.permissions());
        let judged = leave::judge(wish.clone(), servant.workspace(), &permissions);
        let (remark, always) = match self.io.or_cancelled(judged).await? {
            Leave::Given => match option(&ask.options, AskOptionKind::AllowOnce) {
                Some(once) => {
                    self.rows.give_leave(&theirs, wish);
                    responder.ok(&client::outcome(&Answer::Selected(once)));
                    return Ok(());
                }
                // What the agent takes for "always" is more than was given.
                None => (String::new(), Always::Theirs),
            },
            Leave::Refused(denial) => return self.refuse(&ask, &denial, responder).await,
            Leave::Asked { remark, always } => (remark, always),
        };
        if !remark.is_empty() {
            let said = ask.description.take().map(|said| said + "\n").unwrap_or_default();
            ask.description = Some(said + &remark);
        }
        let Offer { shown, ours } = offer(&ask.options, always);
        ask.options = shown;
        self.asking.push(put(self.io.clone(), ask, ours, (theirs, wish), responder).boxed());
        Ok(())
    }

    /// Refuses without asking, and says why to the user; the agent itself is told no more than that.
    async fn refuse(
        &mut self,
        ask: &PermissionAsk,
        denial: &Denial,
        responder: Responder,
    ) -> Result<(), agent_runtime::io::Interrupted> {
        let no = option(&ask.options, AskOptionKind::RejectOnce);
        responder.ok(&client::outcome(&no.map_or(Answer::Cancelled, Answer::Selected)));
        let title = format!("{}: “{}” was refused: {}", self.config.name, ask.title, denial.for_user());
        self.warn(title).await
    }
}

fn option(options: &[AskOption], kind: AskOptionKind) -> Option<OptionId> {
    options.iter().find(|option| option.kind == kind).map(|option| option.id.clone())
}

/// The agent's own options, with our "always" in place of its.
fn offer(options: &[AskOption], always: Always) -> Offer {
    let unchanged = || Offer { shown: options.to_vec(), ours: None };
    let Some(once) = option(options, AskOptionKind::AllowOnce) else { return unchanged() };
    let (label, grants) = match always {
        Always::Theirs => return unchanged(),
        Always::Never => {
            let shown = options.iter().filter(|option| option.kind != AskOptionKind::AllowAlways);
            return Offer { shown: shown.cloned().collect(), ours: None };
        }
        Always::Grants { label, grants } => (label, grants),
    };
    let id = option(options, AskOptionKind::AllowAlways).unwrap_or_else(|| OptionId::from(ALWAYS));
    let ours = AskOption { id: id.clone(), name: label, kind: AskOptionKind::AllowAlways };
    let (mut shown, no): (Vec<_>, Vec<_>) =
        options.iter().filter(|option| option.kind != AskOptionKind::AllowAlways).cloned().partition(
            |option| match option.kind {
                AskOptionKind::AllowOnce | AskOptionKind::AllowAlways => true,
                AskOptionKind::RejectOnce | AskOptionKind::RejectAlways => false,
            },
        );
    shown.push(ours);
    shown.extend(no);
    Offer { shown, ours: Some(Ours { id, grants, once }) }
}

/// Puts the question, and answers the agent.
async fn put(
    io: TurnIo,
    ask: PermissionAsk,
    ours: Option<Ours>,
    leave: (String, Wish),
    responder: Responder,
) -> Settled {
    let options = ask.options.clone();
    let withdrawn = responder.cancelled().clone();
    let answer = tokio::select! {
        biased;
        answer = io.ask(Ask::Permission(Box::new(ask))) => answer.unwrap_or(Answer::Cancelled),
        () = withdrawn.cancelled() => Answer::Cancelled,
    };
    let Answer::Selected(chosen) = &answer else {
        responder.ok(&client::outcome(&answer));
        let cause = match answer {
            Answer::Unanswerable(cause) => Some(cause),
            Answer::Selected(_) | Answer::Form(_) | Answer::Declined | Answer::Cancelled => None,
        };
        return Settled { cause, ..Settled::default() };
    };
    let kind = options.iter().find(|option| option.id == *chosen).map(|option| option.kind);
    let mut settled = Settled::default();
    match kind {
        Some(AskOptionKind::AllowOnce | AskOptionKind::AllowAlways) => settled.leave = Some(leave),
        Some(AskOptionKind::RejectOnce | AskOptionKind::RejectAlways) => {}
        None => {
            // What was not offered is no answer.
            responder.ok(&client::outcome(&Answer::Cancelled));
            let cause = format!("the client chose `{chosen}`, which was not offered");
            return Settled { cause: Some(cause), ..settled };
        }
    }
    let told = match ours.filter(|ours| ours.id == *chosen) {
        Some(ours) => {
            settled.grants = ours.grants;
            Answer::Selected(ours.once)
        }
        None => answer,
    };
    responder.ok(&client::outcome(&told));
    settled
}

#[cfg(test)]
mod tests {
    use session_model::GrantScope;

    use super::*;

    fn options(kinds: &[(&str, AskOptionKind)]) -> Vec<AskOption> {
        let made = |(id, kind): &(&str, AskOptionKind)| AskOption {
            id: OptionId::from(*id),
            name: (*id).to_owned(),
            kind: *kind,
        };
        kinds.iter().map(made).collect()
    }

    fn shown(offer: &Offer) -> Vec<(&str, &str)> {
        offer.shown.iter().map(|option| (option.id.as_str(), option.name.as_str())).collect()
    }

    #[test]
    fn the_agents_options_stay_and_always_is_ours() {
        use AskOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let grants = vec![Grant { tool: "bash".to_owned(), scope: GrantScope::Tool }];
        let granting = || Always::Grants { label: "Always x".to_owned(), grants: grants.clone() };
        let full = options(&[
            ("a", AllowAlways),
            ("b", AllowAlways),
            ("y", AllowOnce),
            ("n", RejectOnce),
            ("never", RejectAlways),
        ]);
        let made = offer(&full, granting());
        assert_eq!(shown(&made), [("y", "y"), ("a", "Always x"), ("n", "n"), ("never", "never")]);
        let ours = made.ours.unwrap();
        assert_eq!((ours.id.as_str(), ours.once.as_str(), ours.grants), ("a", "y", grants.clone()));
        let short = options(&[("y", AllowOnce), ("n", RejectOnce)]);
        assert_eq!(shown(&offer(&short, granting())), [("y", "y"), (ALWAYS, "Always x"), ("n", "n")]);
        assert_eq!(shown(&offer(&full, Always::Never)), [("y", "y"), ("n", "n"), ("never", "never")]);
        assert_eq!(offer(&full, Always::Theirs).shown, full);
        let odd = options(&[("a", AllowAlways), ("n", RejectOnce)]);
        assert_eq!(offer(&odd, Always::Never).shown, odd, "without a once there is nothing to tell instead");
    }
}
