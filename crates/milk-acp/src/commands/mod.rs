//! Commands a prompt may begin with. One table says what is advertised and what runs.
//!
//! A command runs in place of a turn: its output is told and kept nowhere, no model hears of it. Knows nothing of
//! protocol versions; what it changes about the session it returns as [`Change`]s.

mod auto;
mod compact;
mod drop;
mod escalate;
mod export;
mod help;
mod list;
mod model;
mod new;
mod primary;
mod resume;
mod sessions;
mod skip_permissions;
mod think;
mod usage;

use agent_runtime::io::TurnIo;
use futures::future::BoxFuture;
use router::Target;
use session_model::{Command, Content, Entry, Item, SessionId, SessionUsage};

use crate::drivers::Routing;
use crate::drivers::routed::Learned;
use crate::options::Options;
use crate::session::Shared;
use crate::session::open::{Opened, Place};
use crate::session::turn::TurnPlan;
use crate::views::ViewId;

/// What a command may look at.
#[derive(Debug)]
pub(crate) struct CommandCx {
    pub(crate) shared: Shared,
    pub(crate) view: ViewId,
    /// The session that is shown.
    pub(crate) session: SessionId,
    /// Where a fresh one would begin.
    pub(crate) place: Place,
    /// Finished items that are not in the store.
    pub(crate) unsaved: Vec<Entry>,
    /// The session's settings as they are.
    pub(crate) options: Options,
    /// The second agent, where there is one.
    pub(crate) routing: Option<Routing>,
    pub(crate) show_thoughts: bool,
    pub(crate) skip_permissions: bool,
    /// What the session consumed so far.
    pub(crate) usage: SessionUsage,
    /// What a turn of its own would start from.
    pub(crate) plan: TurnPlan,
    /// For what it tells beside its words.
    pub(crate) io: TurnIo,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Said {
    /// What the user is told.
    pub(crate) text: String,
    /// What is different now.
    pub(crate) changes: Vec<Change>,
}

impl Said {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), changes: Vec::new() }
    }
}

/// What a command changes about its session.
#[derive(Debug)]
pub(crate) enum Change {
    /// Whether reasoning is shown.
    ShowThoughts(bool),
    /// Whether nothing is asked.
    SkipPermissions(bool),
    /// Whom the user wants from now on; `None` leaves it to the rules.
    Pin(Option<Target>),
    /// The escalation agent begins anew with its next turn.
    BeginAnew,
    /// Which agent answers as the primary.
    Model(String),
    /// A turn between two agents is over.
    Routed(Box<Learned>),
    /// Which session is shown.
    Show(Box<Opened>),
}

/// A command in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    word: &'static str,
    argument: String,
    /// Something else came with it.
    attached: bool,
}

/// A prompt that is to go to one agent, by `/escalate <msg>` or `/primary <msg>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forced {
    pub(crate) target: Target,
    /// Whether the escalation agent begins anew.
    pub(crate) fresh: bool,
    /// The prompt without the command.
    pub(crate) prompt: String,
}

type Run = fn(String, CommandCx) -> BoxFuture<'static, Said>;

struct Row {
    name: &'static str,
    description: &'static str,
    hint: Option<&'static str>,
    kind: Kind,
    run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Only tells something; stops anywhere.
    Plain,
    /// Changes which session is shown, wholly or not at all.
    Whole,
    /// As [`Plain`](Self::Plain), not advertised.
    Hidden,
}

/// What runs, in the order in which it is advertised.
const TABLE: &[Row] = &[
    Row {
        name: "sessions",
        description: "list the kept conversations of this folder",
        hint: Some("[all]"),
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(sessions::run(argument, cx)),
    },
    Row {
        name: "new",
        description: "go on in a fresh session; this one is kept",
        hint: Some("[name]"),
        kind: Kind::Whole,
        run: |argument, cx| Box::pin(new::run(argument, cx)),
    },
    Row {
        name: "clear",
        description: "the same as /new",
        hint: Some("[name]"),
        kind: Kind::Whole,
        run: |argument, cx| Box::pin(new::run(argument, cx)),
    },
    Row {
        name: "resume",
        description: "go on in another session of this folder",
        hint: Some("<id|name>"),
        kind: Kind::Whole,
        run: |argument, cx| Box::pin(resume::run(argument, cx)),
    },
    Row {
        name: "drop",
        description: "delete this session, or another one of this folder",
        hint: Some("[id|name]"),
        kind: Kind::Whole,
        run: |argument, cx| Box::pin(drop::run(argument, cx)),
    },
    Row {
        name: "escalate",
        description: "have the escalation agent answer, from now on or this message alone",
        hint: Some("[fresh] [message]"),
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(std::future::ready(escalate::run(&argument, &cx))),
    },
    Row {
        name: "primary",
        description: "have the primary agent answer, from now on or this message alone",
        hint: Some("[message]"),
        kind: Kind::Plain,
        run: |_, cx| Box::pin(std::future::ready(primary::run(&cx))),
    },
    Row {
        name: "auto",
        description: "let the rules decide which agent answers",
        hint: None,
        kind: Kind::Plain,
        run: |_, cx| Box::pin(std::future::ready(auto::run(&cx))),
    },
    Row {
        name: "model",
        description: "show or choose the agent that answers",
        hint: Some("[name]"),
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(std::future::ready(model::run(&argument, &cx))),
    },
    Row {
        name: "export",
        description: "print this conversation or another one, or write it to a file",
        hint: Some("[session <id>] [json] [path]"),
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(export::run(argument, cx)),
    },
    Row {
        name: "compact",
        description: "have the earlier turns summarised, so that the model has room",
        hint: Some("[instructions]"),
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(compact::run(argument, cx)),
    },
    Row {
        name: "usage",
        description: "tokens, context and cost of this conversation",
        hint: None,
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(usage::run(argument, cx)),
    },
    Row {
        name: "skip-permissions",
        description: "run tools without asking, in this conversation",
        hint: Some("[on|off]"),
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(std::future::ready(skip_permissions::run(&argument, &cx))),
    },
    Row {
        name: "think",
        description: "show or hide the model's reasoning",
        hint: Some("[on|off]"),
        kind: Kind::Plain,
        run: |argument, cx| Box::pin(std::future::ready(think::run(&argument, &cx))),
    },
    Row {
        name: "help",
        description: "list the commands",
        hint: None,
        kind: Kind::Plain,
        run: |_, cx| Box::pin(std::future::ready(help::run(&cx.options))),
    },
    Row {
        name: "list",
        description: "the earlier name of /sessions",
        hint: Some("[all]"),
        kind: Kind::Hidden,
        run: |argument, cx| Box::pin(list::run(argument, cx)),
    },
];

/// Commands of milk's terminal interface; typed here, they are answered and never reach the model.
const ELSEWHERE: &[&str] = &[
    "panel",
    "colorize",
    "paste",
    "attach",
    "mcp",
    "reload",
    "permissions",
    "bash",
    "open",
    "forget",
    "history",
    "otel",
    "server",
    "exit",
    "quit",
];

/// The commands as a client is told of them.
pub(crate) fn advertised(options: &Options) -> Vec<Command> {
    let told = |entry: &Row| Command {
        name: entry.name.to_owned(),
        description: entry.description.to_owned(),
        hint: entry.hint.map(str::to_owned),
    };
    offered(options).map(told).collect()
}

/// The commands that have something to steer here.
fn offered(options: &Options) -> impl Iterator<Item = &'static Row> {
    let (two, models) = (options.has_routing(), !options.models().is_empty());
    TABLE.iter().filter(move |entry| match entry.name {
        "escalate" | "primary" | "auto" => two,
        "model" => models,
        _ => entry.kind != Kind::Hidden,
    })
}

/// The command a prompt begins with, if it begins with one. Only leading text counts, and only its first word.
pub(crate) fn parse(prompt: &[Content]) -> Option<Invocation> {
    let leading = prompt.iter().take_while(|content| content.as_text().is_some());
    let text: String = leading.clone().filter_map(Content::as_text).collect();
    let text = text.trim();
    let (word, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let word = word.strip_prefix('/')?;
    let known = TABLE.iter().map(|entry| entry.name).chain(ELSEWHERE.iter().copied());
    let word = known.into_iter().find(|known| *known == word)?;
    let attached = leading.count() < prompt.len();
    Some(Invocation { word, argument: argument.trim().to_owned(), attached })
}

/// The turn that a command asks for, when it asks for one.
pub(crate) fn forced(invocation: &Invocation) -> Option<Forced> {
    let Invocation { word, argument, attached } = invocation;
    let (target, fresh, prompt) = match *word {
        "escalate" => {
            let (fresh, prompt) = escalate::fresh(argument);
            (Target::Escalation, fresh, prompt)
        }
        "primary" => (Target::Primary, false, argument.as_str()),
        _ => return None,
    };
    (!prompt.is_empty() && !attached).then(|| Forced { target, fresh, prompt: prompt.to_owned() })
}

/// Takes the command off a prompt that was sent to one agent: what remains is what the agent is asked.
pub(crate) fn strip(content: &mut Vec<Content>) {
    if let Some(forced) = parse(content).as_ref().and_then(forced) {
        *content = vec![Content::text(forced.prompt)];
    }
}

/// The same for all prompts of `entries`.
pub(crate) fn stripped(entries: &[Entry]) -> Vec<Entry> {
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        if let Item::User { content, .. } = &mut entry.item {
            strip(content);
        }
    }
    entries
}

impl Invocation {
    /// Whether it must not be left half done.
    pub(crate) fn is_whole(&self) -> bool {
        TABLE.iter().any(|entry| entry.name == self.word && entry.kind == Kind::Whole)
    }
}

/// Runs it.
pub(crate) async fn run(invocation: Invocation, cx: CommandCx) -> Said {
    let Invocation { word, argument, attached } = invocation;
    let Some(entry) = TABLE.iter().find(|entry| entry.name == word) else {
        return Said::text(format!(
            "/{word} is only available in the milk terminal interface. {}",
            help::run(&cx.options).text
        ));
    };
    if attached {
        return Said::text(format!("/{word} takes no attachments; send it alone."));
    }
    (entry.run)(argument, cx).await
}

/// What is said where there is nothing to route.
fn no_second() -> Said {
    Said::text("there is only one agent; name a second one as `escalation_agent` in the configuration")
}

/// What was asked of a switch.
enum Switch {
    Show,
    Set(bool),
    Unclear,
}

/// Reads `on`, `off` or nothing.
fn switch(argument: &str) -> Switch {
    match argument {
        "" => Switch::Show,
        "on" => Switch::Set(true),
        "off" => Switch::Set(false),
        _ => Switch::Unclear,
    }
}

#[cfg(test)]
mod tests;
