//! One call as rules and the gate see it. Making one looks at the disk for where paths lead.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use session_model::{Location, ToolKind};

use crate::tools::command::Command;
use crate::tools::paths::real_path;
use crate::tools::{CallPlan, Tool, Workspace};

/// The tool whose calls are commands.
const SHELL_TOOL: &str = "bash";

/// What a call is about.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The tool, by name.
    pub(crate) tool: String,
    /// The sort of work.
    pub(crate) kind: ToolKind,
    /// The files it touches, absolute, each as shown and, where that differs, without links.
    pub(crate) paths: Vec<PathBuf>,
    /// The addresses it asks.
    pub(crate) urls: Vec<String>,
    /// The command it runs.
    pub(crate) command: Option<Command>,
    /// What relative patterns are relative to.
    pub(crate) origin: Origin,
}

/// The session's folders, each as given and without links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin(Vec<PathBuf>);

impl Origin {
    pub(crate) fn of(workspace: &Workspace) -> Self {
        let mut roots = Vec::new();
        for root in std::iter::once(&workspace.cwd).chain(&workspace.additional_roots) {
            roots.extend(std::iter::once(root.clone()).chain(real_path(root)));
        }
        Self(roots)
    }

    /// The path below each folder that it lies in.
    pub(crate) fn below<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.0.iter().filter_map(move |root| path.strip_prefix(root).ok())
    }
}

impl Subject {
    /// Looks at a call of `tool`, planned as `plan`.
    pub(crate) fn look(
        tool: &dyn Tool,
        args: &Map<String, Value>,
        plan: &CallPlan,
        workspace: &Workspace,
    ) -> Self {
        let spec = tool.spec();
        Self::named(&spec.schema.name, spec.kind, args, &plan.locations, workspace)
    }

    /// Looks at a call of a tool of this name and kind, which touches `locations`.
    pub(crate) fn named(
        name: &str,
        kind: ToolKind,
        args: &Map<String, Value>,
        locations: &[Location],
        workspace: &Workspace,
    ) -> Self {
        let text = args.get("command").and_then(Value::as_str).filter(|_| name == SHELL_TOOL);
        let mut paths = Vec::new();
        for location in locations {
            let real = real_path(&location.path).filter(|real| *real != location.path);
            paths.extend(std::iter::once(location.path.clone()).chain(real));
        }
        let url = args.get("url").and_then(Value::as_str).filter(|_| kind == ToolKind::Fetch);
        Self {
            tool: name.to_owned(),
            kind,
            paths,
            urls: url.map(str::to_owned).into_iter().collect(),
            command: text.map(|text| Command::look(text, workspace)),
            origin: Origin::of(workspace),
        }
    }
}
