//! The model's nouns in version 2's types: content, tool calls, plans, settings, commands, states. Pure functions;
//! what is said when is not their business.

use std::num::NonZeroU32;
use std::path::Path;

use acp_wire::{Meta, Patch, v2};
use serde_json::{Value, json};
use session_model::{
    Choice, Command, Compaction, CompactionState, ConfigOption, Content, ContextUsage, FileChange, FileOp,
    Foreground, OptionCategory, OptionKind, Plan, PlanEntry, PlanPriority, PlanStatus, ResourceBody, Route,
    Severity, StopReason, TerminalExit, TerminalOwner, TerminalUpdate, TerminalView, ToolCallUpdate,
    ToolContent, ToolKind, ToolStatus, TurnFailure,
};

use super::diff::git_patch;
use super::limit::{self, Budget, Detail};

/// Content that fits one line; larger media is named instead of shown.
pub(super) fn block(content: &Content) -> v2::ContentBlock {
    if limit::size(content) > limit::MAX_BODY {
        return v2::ContentBlock::from(limit::unshown(content));
    }
    match content {
        Content::Text { text } => v2::ContentBlock::from(text.as_str()),
        Content::Image { data, mime_type, uri } => {
            v2::ContentBlock::Image(v2::ImageContent::new(data.as_str(), mime_type.as_str()).uri(uri.clone()))
        }
        Content::Audio { data, mime_type } => {
            v2::ContentBlock::Audio(v2::AudioContent::new(data.as_str(), mime_type.as_str()))
        }
        Content::Link(link) => v2::ContentBlock::ResourceLink(
            v2::ResourceLink::new(link.name.as_str(), link.uri.as_str())
                .title(link.title.clone())
                .description(link.description.clone())
                .mime_type(media_type(link.mime_type.as_ref()))
                .size(link.size.and_then(|size| u64::try_from(size).ok())),
        ),
        Content::Resource(resource) => {
            let uri = resource.uri.as_str();
            let contents: v2::EmbeddedResourceResource = match &resource.body {
                ResourceBody::Text(text) => v2::TextResourceContents::new(text.as_str(), uri)
                    .mime_type(media_type(resource.mime_type.as_ref()))
                    .into(),
                ResourceBody::Blob(blob) => v2::BlobResourceContents::new(blob.as_str(), uri)
                    .mime_type(media_type(resource.mime_type.as_ref()))
                    .into(),
            };
            v2::ContentBlock::Resource(v2::EmbeddedResource::new(contents))
        }
    }
}

fn media_type(name: Option<&String>) -> Option<v2::MediaType> {
    name.map(v2::MediaType::from)
}

fn path(path: &Path) -> v2::AbsolutePath {
    v2::AbsolutePath::from(path.to_string_lossy().into_owned())
}

/// What is absent stays as it is at the client.
fn set<T>(value: Option<T>) -> Patch<T> {
    value.map_or(Patch::Keep, Patch::Set)
}

/// All that an update says, within one line's limits.
pub(super) fn tool_call_update(update: &ToolCallUpdate, detail: Detail) -> v2::ToolCallUpdate {
    let raw = |value: &Value| match detail {
        Detail::Full => limit::cut_value(value).into_owned(),
        Detail::Bare => Value::String(limit::NOT_SHOWN.to_owned()),
    };
    let locations = update.locations.as_ref().map(|locations| {
        let word = |location: &session_model::Location| {
            v2::ToolCallLocation::new(path(&location.path)).line(location.line.and_then(NonZeroU32::new))
        };
        locations.iter().map(word).collect::<Vec<_>>()
    });
    v2::ToolCallUpdate::new(update.id.as_str())
        .name(set(update.name.clone()))
        .title(set(update.title.as_ref().map(|title| limit::cut(title, limit::MAX_TITLE).into_owned())))
        .kind(set(update.kind.map(tool_kind)))
        .status(set(update.status.map(tool_status)))
        .content(set(update.content.as_ref().map(|content| tool_contents(content, detail))))
        .locations(set(locations))
        .raw_input(set(update.raw_input.as_ref().map(raw)))
        .raw_output(set(update.raw_output.as_ref().map(raw)))
        .capabilities(capabilities(update.cancellable))
}

/// What the client may do with a call; it is told once it can no longer.
fn capabilities(cancellable: Option<bool>) -> Patch<v2::ToolCallCapabilities> {
    match cancellable {
        None => Patch::Keep,
        Some(false) => Patch::Clear,
        Some(true) => {
            let cancel = v2::ToolCallCancelCapabilities::new();
            Patch::Set(v2::ToolCallCapabilities::new().cancel(cancel))
        }
    }
}

/// A terminal of ours. The client may end its command while it runs.
pub(super) fn terminal(update: &TerminalUpdate) -> v2::TerminalUpdate {
    let exit = |exit: &TerminalExit| {
        v2::TerminalExitStatus::new().exit_code(exit.code.map(i64::from)).signal(exit.signal.clone())
    };
    let capabilities = match (&update.command, &update.exit) {
        (_, Some(_)) => Patch::Clear,
        (Some(_), None) => {
            let cancel = v2::TerminalCancelCapabilities::new();
            Patch::Set(v2::TerminalCapabilities::new().cancel(cancel))
        }
        (None, None) => Patch::Keep,
    };
    v2::TerminalUpdate::new(update.id.as_str())
        .command(set(update.command.clone()))
        .cwd(set(update.cwd.as_deref().map(path)))
        .exit_status(set(update.exit.as_ref().map(exit)))
        .capabilities(capabilities)
}

fn tool_contents(content: &[ToolContent], detail: Detail) -> Vec<v2::ToolCallContent> {
    if detail == Detail::Bare {
        return vec![shown(v2::ContentBlock::from(limit::NOT_SHOWN))];
    }
    let mut budget = Budget::new();
    content.iter().flat_map(|content| tool_content(content, &mut budget)).collect()
}

/// The parts of a row's content; a terminal's note stands beside it.
pub(super) fn tool_content(content: &ToolContent, budget: &mut Budget) -> Vec<v2::ToolCallContent> {
    let text = |text: &str, budget: &mut Budget| {
        let text = limit::cut(text, limit::MAX_TEXT);
        if budget.take(text.len()) {
            shown(v2::ContentBlock::from(text.into_owned()))
        } else {
            shown(v2::ContentBlock::from(limit::omitted(text.len())))
        }
    };
    let piece = match content {
        ToolContent::Content(Content::Text { text: words }) => text(words, budget),
        ToolContent::Content(content) if budget.take(limit::size(content)) => shown(block(content)),
        ToolContent::Content(content) => shown(v2::ContentBlock::from(limit::unshown(content))),
        ToolContent::Change(change) => v2::ToolCallContent::Diff(diff(change, budget)),
        ToolContent::Terminal(TerminalView { id, owner: TerminalOwner::Agent, note, .. }) => {
            let terminal = v2::ToolCallContent::Terminal(v2::Terminal::new(id.as_str()));
            let note = note.as_deref().map(|note| text(note, budget));
            return std::iter::once(terminal).chain(note).collect();
        }
        // The version knows no terminals of the client.
        ToolContent::Terminal(TerminalView { shown, .. }) => text(shown, budget),
    };
    vec![piece]
}

/// Content in a tool call's row.
pub(super) fn shown(block: v2::ContentBlock) -> v2::ToolCallContent {
    v2::ToolCallContent::Content(v2::Content::new(block))
}

/// A change with its patch, which is left out when it is no text or too long; what changed is said all the same.
pub(super) fn diff(change: &FileChange, budget: &mut Budget) -> v2::Diff {
    let at = || v2::DiffPathChange::new(path(&change.path));
    let operation = match &change.op {
        FileOp::Add => v2::DiffChangeOperation::Add(at()),
        FileOp::Delete => v2::DiffChangeOperation::Delete(at()),
        FileOp::Modify => v2::DiffChangeOperation::Modify(at()),
        FileOp::Move { from } => {
            v2::DiffChangeOperation::Move(v2::DiffPathPairChange::new(path(from), path(&change.path)))
        }
    };
    let patch = git_patch(change);
    let unread = change.before.is_none() && change.after.is_none();
    let file_type = match (&change.op, &patch) {
        (FileOp::Move { .. }, Some(_)) if unread => None,
        (_, Some(_)) => Some(v2::DiffFileType::Text),
        (_, None) => Some(v2::DiffFileType::Binary),
    };
    let patch = patch
        .filter(|patch| budget.take(patch.len()))
        .map(|patch| v2::DiffPatch::new(v2::DiffPatchFormat::GitPatch, patch));
    v2::Diff::new(vec![v2::DiffChange::new(operation).file_type(file_type)]).patch(patch)
}

fn tool_kind(kind: ToolKind) -> v2::ToolKind {
    match kind {
        ToolKind::Read => v2::ToolKind::Read,
        ToolKind::Edit => v2::ToolKind::Edit,
        ToolKind::Delete => v2::ToolKind::Delete,
        ToolKind::Move => v2::ToolKind::Move,
        ToolKind::Search => v2::ToolKind::Search,
        ToolKind::Execute => v2::ToolKind::Execute,
        ToolKind::Think => v2::ToolKind::Think,
        ToolKind::Fetch => v2::ToolKind::Fetch,
        ToolKind::SwitchMode => v2::ToolKind::SwitchMode,
        ToolKind::Other => v2::ToolKind::Other,
    }
}

fn tool_status(status: ToolStatus) -> v2::ToolCallStatus {
    match status {
        ToolStatus::Pending => v2::ToolCallStatus::Pending,
        ToolStatus::InProgress => v2::ToolCallStatus::InProgress,
        ToolStatus::Completed => v2::ToolCallStatus::Completed,
        ToolStatus::Failed => v2::ToolCallStatus::Failed,
        ToolStatus::Cancelled => v2::ToolCallStatus::Cancelled,
    }
}

pub(super) fn plan(plan: &Plan) -> v2::PlanUpdate {
    let entries: Vec<_> = plan.entries.iter().map(plan_entry).collect();
    v2::PlanUpdate::new(v2::PlanUpdateContent::Items(v2::PlanItems::new(plan.id.as_str(), entries)))
}

/// The version has no word for a blocked entry: it is pending, and the text and a member of ours say the rest.
fn plan_entry(entry: &PlanEntry) -> v2::PlanEntry {
    let priority = match entry.priority {
        PlanPriority::High => v2::PlanEntryPriority::High,
        PlanPriority::Medium => v2::PlanEntryPriority::Medium,
        PlanPriority::Low => v2::PlanEntryPriority::Low,
    };
    let status = match entry.status {
        PlanStatus::Pending => v2::PlanEntryStatus::Pending,
        PlanStatus::InProgress => v2::PlanEntryStatus::InProgress,
        PlanStatus::Completed => v2::PlanEntryStatus::Completed,
        PlanStatus::Cancelled => v2::PlanEntryStatus::Cancelled,
        PlanStatus::Blocked => {
            let content = format!("{} (blocked)", entry.content);
            let blocked = Meta::from_iter([("blocked".to_owned(), json!(true))]);
            return v2::PlanEntry::new(content, priority, v2::PlanEntryStatus::Pending).meta(blocked);
        }
    };
    v2::PlanEntry::new(entry.content.as_str(), priority, status)
}

pub(super) fn options(options: &[ConfigOption]) -> Vec<v2::SessionConfigOption> {
    options
        .iter()
        .map(|option| {
            v2::SessionConfigOption::new(option.id.as_str(), option.name.as_str(), option_kind(&option.kind))
                .description(option.description.clone())
                .category(option.category.as_ref().map(category))
        })
        .collect()
}

fn option_kind(kind: &OptionKind) -> v2::SessionConfigKind {
    match kind {
        OptionKind::Toggle { current } => {
            v2::SessionConfigKind::Boolean(v2::SessionConfigBoolean::new(*current))
        }
        OptionKind::Select { current, choices } => {
            let choices: Vec<_> = choices.iter().map(choice).collect();
            v2::SessionConfigKind::Select(v2::SessionConfigSelect::new(current.as_str(), choices))
        }
    }
}

fn choice(choice: &Choice) -> v2::SessionConfigSelectOption {
    v2::SessionConfigSelectOption::new(choice.value.as_str(), choice.name.as_str())
        .description(choice.description.clone())
}

fn category(category: &OptionCategory) -> v2::SessionConfigOptionCategory {
    match category {
        OptionCategory::Mode => v2::SessionConfigOptionCategory::Mode,
        OptionCategory::Model => v2::SessionConfigOptionCategory::Model,
        OptionCategory::ThoughtLevel => v2::SessionConfigOptionCategory::ThoughtLevel,
        OptionCategory::Other(name) => v2::SessionConfigOptionCategory::Other(name.clone()),
    }
}

/// The commands; the version forbids the slash in a name.
pub(super) fn commands(commands: &[Command]) -> Vec<v2::AvailableCommand> {
    commands
        .iter()
        .map(|command| {
            let hint = command.hint.as_deref();
            let input = hint.map(|hint| v2::AvailableCommandInput::Text(v2::TextCommandInput::new(hint)));
            let name = command.name.trim_start_matches('/');
            v2::AvailableCommand::Command(v2::Command::new(name, command.description.as_str()).input(input))
        })
        .collect()
}

pub(super) fn usage(usage: &ContextUsage) -> v2::UsageUpdate {
    let cost = usage.cost.as_ref().map(|cost| v2::Cost::new(cost.amount, cost.currency.as_str()));
    v2::UsageUpdate::new(usage.used, usage.size).cost(set(cost))
}

/// A compaction; the whole summary fits one line.
pub(super) fn compaction(compaction: &Compaction) -> v2::CompactionUpdate {
    let update = |status| v2::CompactionUpdate::new(compaction.id.as_str()).status(Patch::Set(status));
    match &compaction.state {
        CompactionState::Running => update(v2::CompactionStatus::InProgress),
        CompactionState::Done(summary) => {
            let text = limit::cut(&summary.text, limit::MAX_TEXT);
            let summary = vec![v2::ContentBlock::from(text.into_owned())];
            update(v2::CompactionStatus::Completed).summary(Patch::Set(summary))
        }
        CompactionState::Failed(why) => update(v2::CompactionStatus::Failed).error(Patch::Set(why.clone())),
        CompactionState::Cancelled => update(v2::CompactionStatus::Cancelled),
    }
}

pub(super) fn severity(severity: Severity) -> v2::NoticeSeverity {
    match severity {
        Severity::Info => v2::NoticeSeverity::Info,
        Severity::Warning => v2::NoticeSeverity::Warning,
        Severity::Error => v2::NoticeSeverity::Error,
    }
}

pub(super) fn state(foreground: &Foreground) -> v2::StateUpdate {
    match foreground {
        Foreground::Running => v2::StateUpdate::Running(v2::RunningStateUpdate::new()),
        Foreground::RequiresAction => v2::StateUpdate::RequiresAction(v2::RequiresActionStateUpdate::new()),
        Foreground::Idle { stop, error, route } => v2::StateUpdate::Idle(
            v2::IdleStateUpdate::new()
                .stop_reason(stop.map(|stop| stop_reason(stop, error.as_ref())))
                .meta(route.as_ref().map(route_meta)),
        ),
    }
}

fn stop_reason(stop: StopReason, error: Option<&TurnFailure>) -> v2::StopReason {
    match stop {
        StopReason::EndTurn => v2::StopReason::EndTurn,
        StopReason::MaxTokens => v2::StopReason::MaxTokens,
        StopReason::MaxTurnRequests => v2::StopReason::MaxTurnRequests,
        StopReason::Refusal => v2::StopReason::Refusal,
        StopReason::Cancelled => v2::StopReason::Cancelled,
        StopReason::Error => v2::StopReason::Error(v2::ErrorStopReason::new().error(error.map(failure))),
    }
}

/// The same error that a prompt held to the turn's end is answered with.
fn failure(failure: &TurnFailure) -> v2::Error {
    v2::Error::new(v2::ErrorCode::InternalError, failure.message.as_str())
        .data(json!({"runtimeCode": failure.code, "error": failure.message}))
}

fn route_meta(route: &Route) -> Meta {
    let decision = json!({"agent": route.agent, "target": route.target, "reason": route.reason});
    Meta::from_iter([("milk/route".to_owned(), decision)])
}
