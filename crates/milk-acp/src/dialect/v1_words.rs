//! The model's nouns in version 1's types: content, tool calls, plans, settings, commands. Pure functions; what is
//! said when is not their business.

use acp_wire::{Meta, Patch, v1};
use serde_json::{Value, json};
use session_model::{
    Choice, Command, Compaction, CompactionState, ConfigOption, Content, ContextUsage, FileChange, FileOp,
    OptionCategory, OptionKind, Plan, PlanEntry, PlanPriority, PlanStatus, ResourceBody, Severity,
    StopReason, TerminalOwner, TerminalView, ToolCallUpdate, ToolContent, ToolKind, ToolStatus,
};

use super::limit::{self, Budget, Detail};

/// Content that fits one line; larger media is named instead of shown.
pub(super) fn block(content: &Content) -> v1::ContentBlock {
    if limit::size(content) > limit::MAX_BODY {
        return v1::ContentBlock::from(limit::unshown(content));
    }
    match content {
        Content::Text { text } => v1::ContentBlock::from(text.as_str()),
        Content::Image { data, mime_type, uri } => {
            v1::ContentBlock::Image(v1::ImageContent::new(data.as_str(), mime_type.as_str()).uri(uri.clone()))
        }
        Content::Audio { data, mime_type } => {
            v1::ContentBlock::Audio(v1::AudioContent::new(data.as_str(), mime_type.as_str()))
        }
        Content::Link(link) => v1::ContentBlock::ResourceLink(
            v1::ResourceLink::new(link.name.as_str(), link.uri.as_str())
                .title(link.title.clone())
                .description(link.description.clone())
                .mime_type(link.mime_type.clone())
                .size(link.size),
        ),
        Content::Resource(resource) => {
            let uri = resource.uri.as_str();
            let contents: v1::EmbeddedResourceResource = match &resource.body {
                ResourceBody::Text(text) => v1::TextResourceContents::new(text.as_str(), uri)
                    .mime_type(resource.mime_type.clone())
                    .into(),
                ResourceBody::Blob(blob) => v1::BlobResourceContents::new(blob.as_str(), uri)
                    .mime_type(resource.mime_type.clone())
                    .into(),
            };
            v1::ContentBlock::Resource(v1::EmbeddedResource::new(contents))
        }
    }
}

/// The first report of a tool call.
pub(super) fn tool_call(update: &ToolCallUpdate, detail: Detail) -> v1::ToolCall {
    let title = update.title.as_deref().or(update.name.as_deref()).unwrap_or("tool call");
    let fields = tool_call_update(update, detail);
    v1::ToolCall::new(update.id.as_str(), title)
        .name(fields.name)
        .kind(fields.kind.unwrap_or(v1::ToolKind::Other))
        .status(fields.status.unwrap_or(v1::ToolCallStatus::Pending))
        .content(fields.content.unwrap_or_default())
        .locations(fields.locations.unwrap_or_default())
        .raw_input(fields.raw_input)
        .raw_output(fields.raw_output)
}

/// A later report of a tool call: all that the update says, within one line's limits.
pub(super) fn tool_call_update(update: &ToolCallUpdate, detail: Detail) -> v1::ToolCallUpdate {
    let raw = |value: &Value| match detail {
        Detail::Full => limit::cut_value(value).into_owned(),
        Detail::Bare => Value::String(limit::NOT_SHOWN.to_owned()),
    };
    let locations = update.locations.as_ref().map(|locations| {
        let word = |location: &session_model::Location| {
            v1::ToolCallLocation::new(location.path.to_string_lossy()).line(location.line)
        };
        locations.iter().map(word).collect::<Vec<_>>()
    });
    v1::ToolCallUpdate::new(update.id.as_str())
        .kind(update.kind.map(tool_kind))
        .status(update.status.map(tool_status))
        .title(update.title.as_ref().map(|title| limit::cut(title, limit::MAX_TITLE).into_owned()))
        .name(update.name.clone())
        .content(update.content.as_ref().map(|content| tool_contents(content, detail)))
        .locations(locations)
        .raw_input(update.raw_input.as_ref().map(raw))
        .raw_output(update.raw_output.as_ref().map(raw))
}

fn tool_contents(content: &[ToolContent], detail: Detail) -> Vec<v1::ToolCallContent> {
    if detail == Detail::Bare {
        return vec![shown(v1::ContentBlock::from(limit::NOT_SHOWN))];
    }
    let mut budget = Budget::new();
    content.iter().flat_map(|content| tool_content(content, &mut budget)).collect()
}

fn tool_content(content: &ToolContent, budget: &mut Budget) -> Vec<v1::ToolCallContent> {
    match content {
        ToolContent::Content(Content::Text { text }) => {
            let text = limit::cut(text, limit::MAX_TEXT);
            if !budget.take(text.len()) {
                return vec![shown(v1::ContentBlock::from(limit::omitted(text.len())))];
            }
            vec![shown(v1::ContentBlock::from(text.into_owned()))]
        }
        ToolContent::Content(content) if budget.take(limit::size(content)) => vec![shown(block(content))],
        ToolContent::Content(content) => vec![shown(v1::ContentBlock::from(limit::unshown(content)))],
        ToolContent::Change(change) => change_content(change, budget),
        ToolContent::Terminal(terminal) => terminal_content(terminal, budget),
    }
}

/// The version knows the client's own terminals; what one of ours showed is text.
fn terminal_content(terminal: &TerminalView, budget: &mut Budget) -> Vec<v1::ToolCallContent> {
    let text = |text: &str, budget: &mut Budget| {
        let shown = (!text.is_empty()).then(|| ToolContent::Content(Content::text(text)));
        shown.map(|shown| tool_content(&shown, budget)).unwrap_or_default()
    };
    match terminal.owner {
        TerminalOwner::Agent => text(&terminal.shown, budget),
        TerminalOwner::Client => {
            let id = v1::TerminalId::from(terminal.id.as_str());
            let mut out = vec![v1::ToolCallContent::Terminal(v1::Terminal::new(id))];
            out.extend(text(terminal.note.as_deref().unwrap_or_default(), budget));
            out
        }
    }
}

fn shown(block: v1::ContentBlock) -> v1::ToolCallContent {
    v1::ToolCallContent::Content(v1::Content::new(block))
}

/// A change as both texts, whole. A move is said in a line, with both texts when they differ; what is no text is
/// named.
fn change_content(change: &FileChange, budget: &mut Budget) -> Vec<v1::ToolCallContent> {
    let path = change.path.to_string_lossy();
    let say = |line: String| shown(v1::ContentBlock::from(line));
    let mut out = Vec::new();
    if let FileOp::Move { from } = &change.op {
        out.push(say(format!("Moved {} to {path}", from.display())));
        if change.before == change.after {
            return out;
        }
    }
    let (old, new) = match (&change.op, &change.before, &change.after) {
        (FileOp::Add, _, Some(after)) => (None, after.as_str()),
        (FileOp::Delete, Some(before), _) => (Some(before.as_str()), ""),
        (FileOp::Modify | FileOp::Move { .. }, Some(before), Some(after)) => {
            (Some(before.as_str()), after.as_str())
        }
        (FileOp::Add | FileOp::Delete | FileOp::Modify | FileOp::Move { .. }, _, _) => {
            out.push(say(format!("[change of {path} not shown: not text]")));
            return out;
        }
    };
    let size = old.map_or(0, str::len) + new.len();
    if !budget.take(size) {
        out.push(say(limit::unshown_change(&path, size)));
        return out;
    }
    out.push(v1::ToolCallContent::Diff(v1::Diff::new(path.as_ref(), new).old_text(old.map(str::to_owned))));
    out
}

fn tool_kind(kind: ToolKind) -> v1::ToolKind {
    match kind {
        ToolKind::Read => v1::ToolKind::Read,
        ToolKind::Edit => v1::ToolKind::Edit,
        ToolKind::Delete => v1::ToolKind::Delete,
        ToolKind::Move => v1::ToolKind::Move,
        ToolKind::Search => v1::ToolKind::Search,
        ToolKind::Execute => v1::ToolKind::Execute,
        ToolKind::Think => v1::ToolKind::Think,
        ToolKind::Fetch => v1::ToolKind::Fetch,
        ToolKind::SwitchMode => v1::ToolKind::SwitchMode,
        ToolKind::Other => v1::ToolKind::Other,
    }
}

/// The version has no word for a cancelled call; a client would read an unknown one as pending.
fn tool_status(status: ToolStatus) -> v1::ToolCallStatus {
    match status {
        ToolStatus::Pending => v1::ToolCallStatus::Pending,
        ToolStatus::InProgress => v1::ToolCallStatus::InProgress,
        ToolStatus::Completed => v1::ToolCallStatus::Completed,
        ToolStatus::Failed | ToolStatus::Cancelled => v1::ToolCallStatus::Failed,
    }
}

/// All plans as one: the version knows no more than that.
pub(super) fn plan(plans: &[Plan]) -> v1::Plan {
    v1::Plan::new(plans.iter().flat_map(|plan| plan.entries.iter().map(plan_entry)).collect::<Vec<_>>())
}

/// A client drops an entry whose status it does not know, so the two it has no word for are said in the text.
fn plan_entry(entry: &PlanEntry) -> v1::PlanEntry {
    let priority = match entry.priority {
        PlanPriority::High => v1::PlanEntryPriority::High,
        PlanPriority::Medium => v1::PlanEntryPriority::Medium,
        PlanPriority::Low => v1::PlanEntryPriority::Low,
    };
    let word = |content: String, status| v1::PlanEntry::new(content, priority, status);
    let content = &entry.content;
    match entry.status {
        PlanStatus::Pending => word(content.clone(), v1::PlanEntryStatus::Pending),
        PlanStatus::InProgress => word(content.clone(), v1::PlanEntryStatus::InProgress),
        PlanStatus::Completed => word(content.clone(), v1::PlanEntryStatus::Completed),
        PlanStatus::Cancelled => word(format!("{content} (cancelled)"), v1::PlanEntryStatus::Completed),
        PlanStatus::Blocked => {
            let blocked = Meta::from_iter([("blocked".to_owned(), json!(true))]);
            word(format!("{content} (blocked)"), v1::PlanEntryStatus::Pending).meta(blocked)
        }
    }
}

/// The settings; a boolean is a choice of two unless the client has booleans.
pub(super) fn options(options: &[ConfigOption], booleans: bool) -> Vec<v1::SessionConfigOption> {
    options
        .iter()
        .map(|option| {
            v1::SessionConfigOption::new(
                option.id.as_str(),
                option.name.as_str(),
                option_kind(&option.kind, booleans),
            )
            .description(option.description.clone())
            .category(option.category.as_ref().map(category))
        })
        .collect()
}

fn option_kind(kind: &OptionKind, booleans: bool) -> v1::SessionConfigKind {
    match kind {
        OptionKind::Toggle { current } if booleans => {
            v1::SessionConfigKind::Boolean(v1::SessionConfigBoolean::new(*current))
        }
        OptionKind::Toggle { current } => {
            let word = |value: &str, name: &str| v1::SessionConfigSelectOption::new(value, name);
            let current = if *current { "on" } else { "off" };
            select(current, vec![word("on", "On"), word("off", "Off")])
        }
        OptionKind::Select { current, choices } => select(current, choices.iter().map(choice).collect()),
    }
}

fn select(current: &str, choices: Vec<v1::SessionConfigSelectOption>) -> v1::SessionConfigKind {
    v1::SessionConfigKind::Select(v1::SessionConfigSelect::new(current, choices))
}

fn choice(choice: &Choice) -> v1::SessionConfigSelectOption {
    v1::SessionConfigSelectOption::new(choice.value.as_str(), choice.name.as_str())
        .description(choice.description.clone())
}

fn category(category: &OptionCategory) -> v1::SessionConfigOptionCategory {
    match category {
        OptionCategory::Mode => v1::SessionConfigOptionCategory::Mode,
        OptionCategory::Model => v1::SessionConfigOptionCategory::Model,
        OptionCategory::ThoughtLevel => v1::SessionConfigOptionCategory::ThoughtLevel,
        OptionCategory::Other(name) => v1::SessionConfigOptionCategory::Other(name.clone()),
    }
}

/// The setting about the mode, mirrored in the version's older form.
pub(super) fn modes(options: &[ConfigOption]) -> Option<v1::SessionModeState> {
    let (current, choices) = mode(options)?;
    let available = choices.iter().map(|choice| {
        v1::SessionMode::new(choice.value.as_str(), choice.name.as_str())
            .description(choice.description.clone())
    });
    Some(v1::SessionModeState::new(current, available.collect::<Vec<_>>()))
}

/// The present mode and all modes.
pub(super) fn mode(options: &[ConfigOption]) -> Option<(&str, &[Choice])> {
    let mode = options.iter().find(|option| option.category == Some(OptionCategory::Mode))?;
    match &mode.kind {
        OptionKind::Select { current, choices } => Some((current.as_str(), choices.as_slice())),
        OptionKind::Toggle { .. } => None,
    }
}

/// The commands, without the slash, which clients add.
pub(super) fn commands(commands: &[Command]) -> Vec<v1::AvailableCommand> {
    commands
        .iter()
        .map(|command| {
            let input = command.hint.as_ref().map(|hint| {
                v1::AvailableCommandInput::from(v1::UnstructuredCommandInput::new(hint.as_str()))
            });
            v1::AvailableCommand::new(command.name.trim_start_matches('/'), command.description.as_str())
                .input(input)
        })
        .collect()
}

pub(super) fn usage(usage: &ContextUsage) -> v1::UsageUpdate {
    let cost = usage.cost.as_ref().map(|cost| v1::Cost::new(cost.amount, cost.currency.as_str()));
    v1::UsageUpdate::new(usage.used, usage.size).cost(cost)
}

/// A compaction, for a client that follows them; the whole summary fits one line.
pub(super) fn compaction(compaction: &Compaction) -> v1::CompactionUpdate {
    let update = |status| v1::CompactionUpdate::new(compaction.id.as_str(), status);
    match &compaction.state {
        CompactionState::Running => update(v1::CompactionStatus::InProgress),
        CompactionState::Done(summary) => {
            let text = limit::cut(&summary.text, limit::MAX_TEXT);
            let summary = vec![v1::ContentBlock::from(text.into_owned())];
            update(v1::CompactionStatus::Completed).summary(Patch::Set(summary))
        }
        CompactionState::Failed(why) => update(v1::CompactionStatus::Failed).error(Patch::Set(why.clone())),
        CompactionState::Cancelled => update(v1::CompactionStatus::Cancelled),
    }
}

/// What a client that does not follow compactions is told of one: how it ended, where that matters to the user.
pub(super) fn compaction_line(compaction: &Compaction) -> Option<(Severity, String)> {
    match &compaction.state {
        CompactionState::Done(summary) => {
            let (turns, plural) = (summary.turns, if summary.turns == 1 { " was" } else { "s were" });
            Some((Severity::Info, format!("The {turns} oldest turn{plural} summarised to make room.")))
        }
        CompactionState::Failed(why) => {
            Some((Severity::Warning, format!("The oldest turns could not be summarised: {why}")))
        }
        CompactionState::Running | CompactionState::Cancelled => None,
    }
}

pub(super) fn severity(severity: Severity) -> v1::NoticeSeverity {
    match severity {
        Severity::Info => v1::NoticeSeverity::Info,
        Severity::Warning => v1::NoticeSeverity::Warning,
        Severity::Error => v1::NoticeSeverity::Error,
    }
}

/// A failed turn is answered with an error, for which the version has no stop reason. Should one be worded after all,
/// it must not look like success.
pub(super) fn stop_reason(stop: StopReason) -> v1::StopReason {
    match stop {
        StopReason::EndTurn => v1::StopReason::EndTurn,
        StopReason::MaxTokens => v1::StopReason::MaxTokens,
        StopReason::MaxTurnRequests => v1::StopReason::MaxTurnRequests,
        StopReason::Refusal | StopReason::Error => v1::StopReason::Refusal,
        StopReason::Cancelled => v1::StopReason::Cancelled,
    }
}
