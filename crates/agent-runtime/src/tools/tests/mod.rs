//! The built-in tools against real folders and a real shell.

mod bash;
mod edit;
mod export;
mod files;
mod find;
mod grep;
mod http;
mod moving;
mod odd_files;
mod patch;
mod paths;
mod replace;
mod shell;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use session_model::{FileChange, GrantScope, SessionId, ToolCallId, ToolContent, TurnId};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::driver::Permissions;
use crate::rules::Rules;

use super::{Approval, CallPlan, Tool, ToolCx, ToolOutput, ToolRegistry, Workspace};

/// A folder with a session in `project`, and a neighbour `other` outside of it.
struct Rig {
    top: TempDir,
    workspace: Workspace,
    registry: ToolRegistry,
    cancel: CancellationToken,
    rules: Rules,
}

impl Rig {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let cwd = top.path().canonicalize().unwrap().join("project");
        fs::create_dir(&cwd).unwrap();
        fs::create_dir(top.path().join("other")).unwrap();
        let workspace = Workspace::local(cwd, Vec::new());
        Self {
            top,
            workspace,
            registry: ToolRegistry::builtin(),
            cancel: CancellationToken::new(),
            rules: Rules::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.workspace.cwd.join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join("other").join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn tool(&self, name: &str) -> std::sync::Arc<dyn Tool> {
        self.registry.get(name).unwrap()
    }

    fn cx(&self) -> ToolCx {
        ToolCx::new(self.workspace.clone(), ToolCallId::from("call"), self.cancel.clone(), None).in_turn(
            SessionId::from("s"),
            TurnId::from("t"),
            Permissions { rules: self.rules.clone(), ..Permissions::default() },
        )
    }

    async fn plan(&self, tool: &str, args: Value) -> Result<CallPlan, String> {
        self.tool(tool).plan(&members(args), &self.workspace).await
    }

    /// Plans and, as if everything were allowed, runs.
    async fn call(&self, tool: &str, args: Value) -> ToolOutput {
        match self.plan(tool, args.clone()).await {
            Ok(plan) => self.tool(tool).run(members(args), self.cx().for_plan(&plan)).await,
            Err(reason) => ToolOutput::failed(reason),
        }
    }

    /// Calls and expects success.
    async fn ok(&self, tool: &str, args: Value) -> String {
        let output = self.call(tool, args).await;
        assert_eq!(output.error, None, "{output:?}");
        output.output
    }

    /// Calls and expects failure.
    async fn refused(&self, tool: &str, args: Value) -> String {
        let output = self.call(tool, args).await;
        output.error.unwrap_or_else(|| panic!("not refused: {}", output.output))
    }
}

fn members(args: Value) -> Map<String, Value> {
    let Value::Object(members) = args else { panic!("an object") };
    members
}

fn scopes(plan: &CallPlan) -> Option<&[GrantScope]> {
    match &plan.approval {
        Approval::Free | Approval::Question => None,
        Approval::Ask(ask) => Some(&ask.scopes),
    }
}

fn change(content: &[ToolContent]) -> &FileChange {
    let changes = content.iter().find_map(|piece| match piece {
        ToolContent::Change(change) => Some(change),
        ToolContent::Content(_) | ToolContent::Terminal(_) => None,
    });
    changes.expect("a change is shown")
}

fn text(content: &[ToolContent]) -> String {
    let pieces = content.iter().filter_map(|piece| match piece.clone().lasting() {
        ToolContent::Content(content) => content.as_text().map(str::to_owned),
        ToolContent::Change(_) | ToolContent::Terminal(_) => None,
    });
    pieces.collect()
}

#[cfg(unix)]
fn link(target: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(target, at).unwrap();
}
