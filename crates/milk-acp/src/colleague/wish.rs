//! What another agent's call is about, made out from what it told of it: for the rules, which know our own tools.
//!
//! Pure.

use std::path::PathBuf;

use agent_runtime::external::leave::Wish;
use agent_runtime::tools::shell::quoted;
use serde_json::Value;
use session_model::{FileOp, ToolCallUpdate, ToolContent, ToolKind};

/// How agents name the files that a call touches.
const PATHS: [&str; 12] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "absolute_path",
    "abs_path",
    "notebook_path",
    "source",
    "source_path",
    "destination",
    "destination_path",
    "new_path",
];

/// The shells whose argument after this option is a command.
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];

/// What a call wants leave for; `call` is all that was told of it.
pub(super) fn wish(call: &ToolCallUpdate) -> Wish {
    let kind = call.kind.unwrap_or(ToolKind::Other);
    let input = call.raw_input.as_ref().unwrap_or(&Value::Null);
    let told = command(input);
    let guessed = call.title.as_deref().map(plain);
    let certain = told.is_some() || kind != ToolKind::Execute;
    Wish {
        name: name(call, kind),
        kind,
        command: told.or(guessed).filter(|_| kind == ToolKind::Execute),
        paths: Some(paths(call, input)).filter(|paths| !paths.is_empty()).unwrap_or_else(|| at_home(kind)),
        url: input["url"].as_str().map(str::to_owned),
        certain,
    }
}

/// Where it works when it names nothing: a search in the session's folder.
fn at_home(kind: ToolKind) -> Vec<PathBuf> {
    if kind == ToolKind::Search { vec![PathBuf::from(".")] } else { Vec::new() }
}

/// Its name; of a tool of no known sort also a title that is one.
fn name(call: &ToolCallUpdate, kind: ToolKind) -> Option<String> {
    let is_name = |text: &&str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
    };
    let title = call.title.as_deref().filter(|_| kind == ToolKind::Other);
    [call.name.as_deref(), title].into_iter().flatten().find(is_name).map(str::to_owned)
}

/// A command as text or as words.
fn command(input: &Value) -> Option<String> {
    let given = ["command", "cmd"].into_iter().map(|name| &input[name]).find(|value| !value.is_null())?;
    if let Some(text) = given.as_str() {
        let more = words(&input["args"]).unwrap_or_default();
        let more: String = more.iter().flat_map(|word| [" ".to_owned(), quoted(word)]).collect();
        return Some(format!("{text}{more}"));
    }
    let words = words(given)?;
    match &words[..] {
        [] => None,
        [shell, option, text] if is_shell(shell) && option.starts_with('-') && option.ends_with('c') => {
            Some((*text).to_owned())
        }
        words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

fn words(list: &Value) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Value::as_str).collect()
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    SHELLS.contains(&name)
}

/// A title that is the command, without marks around it.
fn plain(title: &str) -> String {
    title.trim().trim_matches('`').to_owned()
}

/// The files it touches, each once.
fn paths(call: &ToolCallUpdate, input: &Value) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut add = |path: PathBuf| {
        if !path.as_os_str().is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    };
    for location in call.locations.iter().flatten() {
        add(location.path.clone());
    }
    for shown in call.content.iter().flatten() {
        if let ToolContent::Change(change) = shown {
            add(change.path.clone());
            if let FileOp::Move { from } = &change.op {
                add(from.clone());
            }
        }
    }
    for path in PATHS.iter().filter_map(|name| input[*name].as_str()) {
        add(PathBuf::from(path));
    }
    paths
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use session_model::{Location, ToolCallId};

    use super::*;

    fn call(kind: ToolKind, title: &str, input: Value) -> ToolCallUpdate {
        let mut call = ToolCallUpdate::new(ToolCallId::from("t"));
        (call.kind, call.title, call.raw_input) = (Some(kind), Some(title.to_owned()), Some(input));
        call
    }

    #[test]
    fn a_command_is_found_in_the_ways_in_which_agents_say_it() {
        let rows = [
            (json!({"command": "ls -l"}), "List", Some("ls -l"), true),
            (json!({"command": ["bash", "-lc", "ls && rm x"]}), "Run", Some("ls && rm x"), true),
            (json!({"command": ["git", "commit", "-m", "a b"]}), "Run", Some("git commit -m 'a b'"), true),
            (json!({"command": "git", "args": ["log", "$x"]}), "Run", Some("git log '$x'"), true),
            (json!({"cmd": "ls"}), "Run", Some("ls"), true),
            (json!({}), "`npm test`", Some("npm test"), false),
        ];
        for (input, title, expected, certain) in rows {
            let wish = wish(&call(ToolKind::Execute, title, input.clone()));
            assert_eq!((wish.command.as_deref(), wish.certain), (expected, certain), "{input}");
        }
        assert_eq!(wish(&call(ToolKind::Edit, "Edit", json!({"command": "create"}))).command, None);
    }

    #[test]
    fn files_are_found_in_places_changes_and_arguments() {
        let mut edit = call(ToolKind::Move, "Edit", json!({"file_path": "/w/c", "path": "/w/a"}));
        edit.locations = Some(vec![Location { path: PathBuf::from("/w/a"), line: None }]);
        let op = FileOp::Move { from: PathBuf::from("/w/old") };
        let change = session_model::FileChange { path: PathBuf::from("/w/b"), op, before: None, after: None };
        edit.content = Some(vec![ToolContent::Change(change)]);
        let expected: Vec<PathBuf> = ["/w/a", "/w/b", "/w/old", "/w/c"].map(PathBuf::from).to_vec();
        assert_eq!(wish(&edit).paths, expected);
    }

    #[test]
    fn a_title_of_one_word_names_a_tool_of_no_known_sort() {
        let of = |kind, title: &str| wish(&call(kind, title, Value::Null)).name;
        assert_eq!(of(ToolKind::Other, "mcp__github__search").as_deref(), Some("mcp__github__search"));
        assert_eq!(of(ToolKind::Other, "Search the issues"), None);
        assert_eq!(of(ToolKind::Edit, "Edit"), None);
    }
}
