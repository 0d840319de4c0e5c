//! Commands and calls against rules, grants and modes, written by somebody who wants more than was allowed.
#![cfg(unix)]

mod commands;
mod files;
mod parsing;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use session_model::{Grant, GrantScope};

use super::{Rule, Rules, Subject};
use crate::driver::Permissions;
use crate::gate::{self, Verdict};
use crate::mode::Mode;
use crate::tools::{ToolRegistry, Workspace};

/// A project with a secret, a place beside it and a home.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { folder: tempfile::tempdir().unwrap() };
        for (path, text) in [
            ("project/src/main.rs", "fn main() {}"),
            ("project/.env", "KEY=1"),
            ("project/docs/a.md", "a"),
            ("project/secrets/key.pem", "k"),
            ("project/.git/config", "[core]"),
            ("beside/notes.txt", "n"),
            ("home/.ssh/id", "k"),
        ] {
            let path = ground.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink(".env", ground.path("project/harmless.txt")).unwrap();
        std::os::unix::fs::symlink("secrets", ground.path("project/s")).unwrap();
        std::os::unix::fs::symlink("../beside", ground.path("project/out")).unwrap();
        ground
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    fn workspace(&self) -> Workspace {
        Workspace::local(self.path("project"), Vec::new())
    }

    fn rule(&self, text: &str) -> Rule {
        let text = text.replace("BESIDE", &self.path("beside").display().to_string());
        Rule::parse(&text, Some(&self.path("home"))).unwrap()
    }

    /// Reads settings of one line each: `mode X`, `deny R`, `ask R`, `allow R`, `pattern P`, `grant PREFIX`,
    /// `outside PATH`, `tool NAME`.
    fn permissions(&self, settings: &[&str]) -> Permissions {
        let (mut deny, mut ask, mut allow) = (Vec::new(), Vec::new(), Vec::new());
        let mut permissions = Permissions::default();
        let mut grant = |tool: &str, scope| permissions.grants.push(Grant { tool: tool.to_owned(), scope });
        let mut mode = Mode::Default;
        let mut patterns = Vec::new();
        for setting in settings {
            let (word, text) = setting.split_once(' ').unwrap();
            match word {
                "mode" => mode = Mode::from_id(text).unwrap(),
                "deny" => deny.push(self.rule(text)),
                "ask" => ask.push(self.rule(text)),
                "allow" => allow.push(self.rule(text)),
                "pattern" => patterns.push(text.to_owned()),
                "grant" => grant("bash", GrantScope::CommandPrefix(text.to_owned())),
                "outside" => grant("bash", GrantScope::Outside(self.path(text))),
                "tool" => grant(text, GrantScope::Tool),
                _ => panic!("{setting}"),
            }
        }
        permissions.mode = mode.into();
        permissions.bash_patterns = patterns;
        permissions.rules = Rules::new(deny, ask, allow, Some(self.path("home")));
        permissions
    }

    /// What becomes of a call: `free`, `once` (asked each time), `ask` (may be answered for always) or `no`.
    fn judge(&self, tool: &str, args: &Value, settings: &[&str]) -> &'static str {
        let args: Map<String, Value> = args.as_object().unwrap().clone();
        let workspace = self.workspace();
        let tool = ToolRegistry::builtin().get(tool).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let Ok(plan) = runtime.block_on(tool.plan(&args, &workspace)) else { return "bad" };
        let call = Subject::look(&*tool, &args, &plan, &workspace);
        match gate::decide(&call, &plan.approval, &self.permissions(settings)) {
            Verdict::Allowed => "free",
            Verdict::Ask(ask) if ask.scopes.is_empty() => "once",
            Verdict::Ask(_) => "ask",
            Verdict::Denied(_) => "no",
        }
    }

    fn command(&self, text: &str, settings: &[&str]) -> &'static str {
        let text = text.replace("BESIDE", &self.path("beside").display().to_string());
        self.judge("bash", &json!({ "command": text }), settings)
    }

    fn check_commands(&self, settings: &[&str], rows: &[(&str, &str)]) {
        let wrong: Vec<_> = rows
            .iter()
            .map(|(text, expected)| (*text, *expected, self.command(text, settings)))
            .filter(|(_, expected, found)| expected != found)
            .collect();
        assert!(wrong.is_empty(), "under {settings:?}, as (command, expected, found): {wrong:#?}");
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
