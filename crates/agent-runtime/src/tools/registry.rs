//! The tools a session offers its model, by name and in order.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::Tool;
use super::{
    apply_patch::ApplyPatch,
    ask_user::AskUser,
    bash::Bash,
    delete_file::DeleteFile,
    edit_file::EditFile,
    find_files::FindFiles,
    grep::Grep,
    http::Http,
    list_dir::ListDir,
    move_file::MoveFile,
    read_file::ReadFile,
    read_many::ReadMany,
    session_context::{GetContextStats, GetSessionContext},
    write_file::WriteFile,
};
use crate::host::HostFeatures;
use crate::process::Background;
use crate::provider::ToolSchema;

/// All of them but `bash` keep nothing, so that sessions can share them; that one is each session's own.
static BUILTIN: LazyLock<ToolRegistry> = LazyLock::new(|| {
    ToolRegistry::new()
        .with(ReadFile::new())
        .with(ReadMany::new())
        .with(ListDir::new())
        .with(FindFiles::new())
        .with(Grep::new())
        .with(WriteFile::new())
        .with(EditFile::new())
        .with(ApplyPatch::new())
        .with(DeleteFile::new())
        .with(MoveFile::new())
        .with(Bash::new(Background::default()))
        .with(Http::get())
        .with(Http::request())
        .with(AskUser::new())
        .with(GetSessionContext::new())
        .with(GetContextStats::new())
});

/// An ordered set of tools. Cloning is cheap and shares them.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Arc<Vec<Arc<dyn Tool>>>,
}

impl ToolRegistry {
    /// No tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tools every session has. Make one registry per session: what `bash` leaves running in the
    /// background ends when the last clone is dropped.
    #[must_use]
    pub fn builtin() -> Self {
        Self::builtin_with(Background::default())
    }

    /// The same, with what `bash` leaves running handed to `background`.
    #[must_use]
    pub fn builtin_with(background: Background) -> Self {
        BUILTIN.clone().with(Bash::new(background))
    }

    /// These and `tool`. Names are unique: a tool of the same name is replaced, in its place.
    #[must_use]
    pub fn with(self, tool: impl Tool) -> Self {
        self.with_shared(Arc::new(tool))
    }

    /// Like [`Self::with`], for a tool that others hold too.
    #[must_use]
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Self {
        let name = tool.spec().schema.name.clone();
        let tools = Arc::make_mut(&mut self.tools);
        match tools.iter_mut().find(|known| known.spec().schema.name == name) {
            Some(known) => *known = tool,
            None => tools.push(tool),
        }
        self
    }

    /// Those that work where the client does what `features` say.
    #[must_use]
    pub fn for_host(&self, features: HostFeatures) -> Self {
        let tools = self.iter().filter(|tool| features.allow(tool.files())).cloned();
        Self { tools: Arc::new(tools.collect()) }
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.iter().find(|tool| tool.spec().schema.name == name).cloned()
    }

    /// The tool that a model means by `name`. Models decorate names as they were trained to (`functions.grep`,
    /// `default_api.grep`, `grep:0`, `Grep`), and servers leave marks on them (`grep<|channel|>commentary`).
    #[must_use]
    pub fn meant(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.get(name).or_else(|| {
            let bare = name.split("<|").next().unwrap_or_default();
            let bare =
                bare.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')'));
            let numbered = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
            let bare =
                bare.split_once(':').filter(|(_, number)| numbered(number)).map_or(bare, |(bare, _)| bare);
            let bare = bare.rsplit(['.', '/']).next().unwrap_or(bare);
            let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
            let mut alike = self.iter().filter(|tool| plain(&tool.spec().schema.name) == plain(bare));
            let first = alike.next();
            self.get(bare).or_else(|| first.filter(|_| alike.next().is_none()).cloned())
        })
    }

    /// What a model is told, in order.
    #[must_use]
    pub fn schemas(&self) -> Vec<ToolSchema> {
        self.iter().map(|tool| tool.spec().schema.clone()).collect()
    }

    /// All tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|tool| &tool.spec().schema.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_tools_are_there_in_order_with_object_schemas() {
        let schemas = ToolRegistry::builtin().schemas();
        let names: Vec<_> = schemas.iter().map(|schema| schema.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "read_file",
                "read_multiple_files",
                "list_dir",
                "find_files",
                "grep",
                "write_file",
                "edit_file",
                "apply_patch",
                "delete_file",
                "move_file",
                "bash",
                "http_get",
                "http_request",
                "ask_user",
                "get_session_context",
                "get_context_stats"
            ]
        );
        for schema in schemas {
            assert_eq!(schema.parameters["type"], "object", "{}", schema.name);
            assert!(schema.parameters["required"].is_array(), "{}", schema.name);
        }
    }

    #[test]
    fn a_name_means_its_tool_however_it_is_decorated() {
        let registry = ToolRegistry::builtin();
        for name in [
            "read_file",
            "functions.read_file",
            "default_api.read_file",
            "functions.read_file:0",
            "read_file<|channel|>commentary",
            "read_file<|constrain|>json",
            "Read_File",
            "ReadFile",
            "read-file",
            " `read_file()` ",
        ] {
            let meant = registry.meant(name).map(|tool| tool.spec().schema.name.clone());
            assert_eq!(meant.as_deref(), Some("read_file"), "{name}");
        }
        for name in ["", "read", "readfiles", "read_file2", "<|channel|>commentary", ".", "functions."] {
            assert!(registry.meant(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_later_tool_replaces_the_one_of_its_name_in_place() {
        let registry = ToolRegistry::builtin();
        let replaced = registry.clone().with(Grep::new());
        assert_eq!(replaced.iter().count(), registry.iter().count());
        assert_eq!(replaced.schemas(), registry.schemas());
        let (old, new) = (registry.get("grep").unwrap(), replaced.get("grep").unwrap());
        assert!(!Arc::ptr_eq(&old, &new));
        assert!(registry.get("nothing").is_none());
    }
}
