//! What a tool of Claude Code does, in our rows and under our rules: a call that one of our own tools could have made
//! is described, shown and permitted like that one.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use session_model::{
    GrantScope, Location, Plan, PlanEntry, PlanId, PlanPriority, PlanStatus, ToolContent, ToolKind,
};

use super::line::ToolUse;
use crate::tools::text::one_line;
use crate::tools::{Approval, ApprovalAsk, CallPlan, ToolRegistry, Workspace};

/// Characters of a title after the tool's name.
const TITLE_CHARS: usize = 200;

/// A call as it is shown and asked about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sketch {
    pub(super) kind: ToolKind,
    pub(super) title: String,
    pub(super) locations: Vec<Location>,
    pub(super) preview: Vec<ToolContent>,
    /// What is asked when the program wants leave.
    pub(super) ask: ApprovalAsk,
    /// The name under which leave is kept.
    pub(super) tool: String,
    /// The arguments by that tool's names.
    pub(super) args: Map<String, Value>,
}

/// The sort of work a tool does, by its name.
pub(super) fn kind(name: &str) -> ToolKind {
    match name {
        "Read" | "NotebookRead" | "BashOutput" | "TaskOutput" | "ListMcpResources" | "ReadMcpResource" => {
            ToolKind::Read
        }
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Bash" | "KillShell" | "KillBash" | "TaskStop" => ToolKind::Execute,
        "Grep" | "Glob" | "LS" | "ToolSearch" => ToolKind::Search,
        "WebFetch" | "WebSearch" => ToolKind::Fetch,
        "Task" | "Agent" | "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => {
            ToolKind::Think
        }
        "EnterPlanMode" | "ExitPlanMode" => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

/// The title of a call whose arguments are not known yet.
pub(super) fn bare_title(name: &str) -> String {
    if name.is_empty() { "unknown tool".to_owned() } else { name.to_owned() }
}

/// Describes a call.
pub(super) async fn sketch(tools: &ToolRegistry, call: &ToolUse, workspace: &Workspace) -> Sketch {
    let twin = twin(call);
    let plan = match &twin {
        Some((name, args)) => match tools.get(name) {
            Some(tool) => tool.plan(args, workspace).await.ok(),
            None => None,
        },
        None => None,
    };
    let (tool, args) = match twin {
        // What is done is the same whoever does it, so that the same rules and grants hold.
        Some((ours, args)) => (ours.to_owned(), args),
        None => (call.name.clone(), call.input.clone()),
    };
    let Some(plan) = plan else { return plain(call, tool, args, workspace) };
    let ask = match plan.approval.clone() {
        Approval::Ask(ask) => ask,
        // It asks though we would not: its own rules want it.
        Approval::Free | Approval::Question => {
            ApprovalAsk { description: String::new(), scopes: vec![GrantScope::Tool] }
        }
    };
    let CallPlan { title, locations, preview, .. } = plan;
    let what = title.split_once(": ").map_or("", |(_, what)| what);
    let title = if what.is_empty() { bare_title(&call.name) } else { format!("{}: {what}", call.name) };
    Sketch { kind: kind(&call.name), title, locations, preview, ask, tool, args }
}

/// The call of ours that does the same.
fn twin(call: &ToolUse) -> Option<(&'static str, Map<String, Value>)> {
    let rename = |members: &[(&str, &str)]| -> Map<String, Value> {
        let member =
            |&(theirs, ours): &(&str, &str)| Some((ours.to_owned(), call.input.get(theirs)?.clone()));
        members.iter().filter_map(member).collect()
    };
    let path = ("file_path", "path");
    match call.name.as_str() {
        "Bash" => Some(("bash", rename(&[("command", "command")]))),
        "Read" => Some(("read_file", rename(&[path]))),
        "Write" => Some(("write_file", rename(&[path, ("content", "content")]))),
        "Edit" => {
            let same =
                [("old_string", "old_string"), ("new_string", "new_string"), ("replace_all", "replace_all")];
            let members: Vec<_> = std::iter::once(path).chain(same).collect();
            let members = rename(&members);
            let creates = members.get("old_string").and_then(Value::as_str) == Some("");
            if creates {
                let content = members.get("new_string").cloned().unwrap_or_else(|| json!(""));
                let args =
                    [("path".to_owned(), members.get("path")?.clone()), ("content".to_owned(), content)];
                return Some(("write_file", args.into_iter().collect()));
            }
            Some(("edit_file", members))
        }
        _ => None,
    }
}

/// A call that none of our tools could have made, or that ours would not make.
fn plain(call: &ToolUse, tool: String, args: Map<String, Value>, workspace: &Workspace) -> Sketch {
    const TELLING: [&str; 12] = [
        "command",
        "file_path",
        "notebook_path",
        "path",
        "url",
        "query",
        "pattern",
        "description",
        "prompt",
        "skill",
        "plan",
        "subject",
    ];
    let told =
        TELLING.iter().find_map(|key| call.input.get(*key)?.as_str()).filter(|text| !text.trim().is_empty());
    let title = match told {
        Some(told) => format!("{}: {}", call.name, one_line(told, TITLE_CHARS)),
        None => bare_title(&call.name),
    };
    let path = ["file_path", "notebook_path", "path"].iter().find_map(|key| call.input.get(*key)?.as_str());
    let path = path.map(Path::new).filter(|path| path.is_absolute()).map(PathBuf::from);
    let inside = path.as_ref().is_none_or(|path| {
        path.starts_with(&workspace.cwd)
            || workspace.additional_roots.iter().any(|root| path.starts_with(root))
    });
    // What cannot be judged is asked about each time.
    let always = inside && !matches!(kind(&call.name), ToolKind::Execute | ToolKind::SwitchMode);
    let description = match call.input.get("plan").and_then(Value::as_str) {
        Some(plan) => plan.to_owned(),
        None => String::new(),
    };
    Sketch {
        kind: kind(&call.name),
        title,
        locations: path.into_iter().map(|path| Location { path, line: None }).collect(),
        preview: Vec::new(),
        ask: ApprovalAsk { description, scopes: if always { vec![GrantScope::Tool] } else { Vec::new() } },
        tool,
        args,
    }
}

/// The task list that a call sets, if it sets one.
pub(super) fn plan(call: &ToolUse) -> Option<Plan> {
    if call.name != "TodoWrite" {
        return None;
    }
    let todos = call.input.get("todos")?.as_array()?;
    let entry = |todo: &Value| PlanEntry {
        content: todo["content"].as_str().unwrap_or_default().to_owned(),
        priority: match todo["priority"].as_str() {
            Some("high") => PlanPriority::High,
            Some("low") => PlanPriority::Low,
            Some(_) | None => PlanPriority::Medium,
        },
        status: match todo["status"].as_str() {
            Some("in_progress") => PlanStatus::InProgress,
            Some("completed") => PlanStatus::Completed,
            Some("cancelled") => PlanStatus::Cancelled,
            Some(_) | None => PlanStatus::Pending,
        },
    };
    Some(Plan { id: PlanId::from("claude-todos"), entries: todos.iter().map(entry).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, input: Value) -> ToolUse {
        let Value::Object(input) = input else { panic!("an object") };
        ToolUse { id: "t".to_owned(), name: name.to_owned(), input }
    }

    #[tokio::test]
    async fn a_call_looks_like_the_one_our_own_tool_would_make() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        std::fs::write(cwd.join("a.txt"), "one\ntwo\n").unwrap();
        let workspace = Workspace::local(cwd.clone(), Vec::new());
        let file = cwd.join("a.txt");
        let tools = ToolRegistry::builtin();
        let edit = call("Edit", json!({"file_path": file, "old_string": "two", "new_string": "2"}));
        let edit = sketch(&tools, &edit, &workspace).await;
        assert_eq!(
            (edit.title.as_str(), edit.kind, edit.tool.as_str()),
            ("Edit: a.txt", ToolKind::Edit, "edit_file")
        );
        assert_eq!(edit.locations, [Location { path: file.clone(), line: Some(2) }]);
        assert!(
            matches!(&edit.preview[..], [ToolContent::Change(change)] if change.after.as_deref() == Some("one\n2\n"))
        );
        assert_eq!(edit.ask.scopes, [GrantScope::Tool]);

        let new = call("Edit", json!({"file_path": cwd.join("b"), "old_string": "", "new_string": "x"}));
        let new = sketch(&tools, &new, &workspace).await;
        assert!(
            matches!(&new.preview[..], [ToolContent::Change(change)] if change.before.is_none()),
            "{new:?}"
        );

        let run = sketch(
            &tools,
            &call("Bash", json!({"command": "cargo test -q", "description": "d"})),
            &workspace,
        )
        .await;
        assert_eq!((run.title.as_str(), run.tool.as_str()), ("Bash: cargo test -q", "bash"));
        assert_eq!(run.ask.scopes, [GrantScope::CommandPrefix("cargo test".to_owned())]);

        let outside = call("Write", json!({"file_path": "/elsewhere/x", "content": ""}));
        let outside = sketch(&tools, &outside, &workspace).await;
        assert!(
            outside.ask.scopes.iter().any(|scope| matches!(scope, GrantScope::Outside(_))),
            "{outside:?}"
        );
    }

    #[tokio::test]
    async fn what_we_do_not_know_is_named_and_asked_about() {
        let workspace = Workspace::local(PathBuf::from("/w"), Vec::new());
        let rows = [
            ("WebFetch", json!({"url": "http://h", "prompt": "p"}), "WebFetch: http://h", true),
            ("KillShell", json!({"shell_id": "1"}), "KillShell", false),
            ("NotebookEdit", json!({"notebook_path": "/else/n.ipynb"}), "NotebookEdit: /else/n.ipynb", false),
            ("NotebookEdit", json!({"notebook_path": "/w/n.ipynb"}), "NotebookEdit: /w/n.ipynb", true),
            (
                "Edit",
                json!({"file_path": "/w/none", "old_string": "a", "new_string": "b"}),
                "Edit: /w/none",
                true,
            ),
            ("mcp__x__y", json!({}), "mcp__x__y", true),
        ];
        for (name, input, title, always) in rows {
            let sketch = sketch(&ToolRegistry::builtin(), &call(name, input), &workspace).await;
            assert_eq!((sketch.title.as_str(), !sketch.ask.scopes.is_empty()), (title, always), "{name}");
        }
    }

    #[test]
    fn a_task_list_is_a_plan() {
        let todos =
            json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "later"}]});
        let plan = plan(&call("TodoWrite", todos)).unwrap();
        let states: Vec<_> =
            plan.entries.iter().map(|entry| (entry.content.as_str(), entry.status)).collect();
        assert_eq!(states, [("a", PlanStatus::Completed), ("b", PlanStatus::Pending)]);
    }
}
