//! What a project says about itself: its manifest and the beginning of its README.

use serde_json::Value;

use super::findings::{Entry, Findings};

/// How a manifest is read.
#[derive(Debug, Clone, Copy)]
enum Format {
    /// `name = "…"` lines.
    Toml,
    /// An object with `name` and `description`.
    Json,
    /// `module …`.
    GoMod,
    /// Known by its name alone.
    Opaque,
}

/// Files that say what a project is, and what they make it.
const MANIFESTS: &[(&str, &str, Format)] = &[
    ("Cargo.toml", "a Rust project", Format::Toml),
    ("package.json", "a JavaScript or TypeScript project", Format::Json),
    ("pyproject.toml", "a Python project", Format::Toml),
    ("go.mod", "a Go module", Format::GoMod),
    ("composer.json", "a PHP project", Format::Json),
    ("deno.json", "a Deno project", Format::Json),
    ("pom.xml", "a Java project built with Maven", Format::Opaque),
    ("build.gradle", "a project built with Gradle", Format::Opaque),
    ("build.gradle.kts", "a project built with Gradle", Format::Opaque),
    ("Gemfile", "a Ruby project", Format::Opaque),
    ("mix.exs", "an Elixir project", Format::Opaque),
    ("CMakeLists.txt", "a project built with CMake", Format::Opaque),
    ("Package.swift", "a Swift package", Format::Opaque),
    ("build.zig", "a Zig project", Format::Opaque),
    ("setup.py", "a Python project", Format::Opaque),
    ("requirements.txt", "a Python project", Format::Opaque),
    ("Makefile", "a project built with make", Format::Opaque),
];

/// The README's names, the likeliest first.
const READMES: &[&str] = &["README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md"];

/// What a project says about itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// What its manifests make it, with the manifest.
    pub(super) kinds: Vec<String>,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    /// The README's first paragraph, with the file.
    pub(super) introduction: Option<(String, String)>,
}

/// Which of the entries to read.
pub(super) fn telling_files(entries: &[Entry]) -> Vec<&'static str> {
    let is_there = |name: &str| entries.iter().any(|entry| !entry.folder && entry.name == name);
    let readme = READMES.iter().copied().find(|name| is_there(name));
    let manifests = MANIFESTS
        .iter()
        .filter(|(name, _, format)| !matches!(format, Format::Opaque) && is_there(name))
        .map(|(name, ..)| *name);
    readme.into_iter().chain(manifests).collect()
}

/// Reads the profile from what was listed and read.
pub(super) fn profile(findings: &Findings<'_>) -> Profile {
    let mut profile = Profile::default();
    for entry in findings.entries(".").iter().filter(|entry| !entry.folder) {
        let Some((name, kind, format)) = MANIFESTS.iter().find(|(name, ..)| *name == entry.name) else {
            continue;
        };
        profile.kinds.push(format!("{kind} (`{name}`)"));
        let text = findings.file(name).unwrap_or_default();
        let (title, description) = match format {
            Format::Toml => (toml_value(&text, "name"), toml_value(&text, "description")),
            Format::Json => json_values(&text),
            Format::GoMod => (go_module(&text), None),
            Format::Opaque => (None, None),
        };
        profile.name = profile.name.or(title);
        profile.description = profile.description.or(description);
    }
    profile.introduction =
        READMES.iter().find_map(|name| Some(((*name).to_owned(), introduction(&findings.file(name)?)?)));
    profile
}

/// The first value of that key in a file with `key = "value"` lines; `name` counts in the project's own table
/// only, for dependencies and targets have names too.
fn toml_value(text: &str, key: &str) -> Option<String> {
    let mut own = false;
    for line in text.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            own = matches!(
                table.trim_end_matches(']'),
                "package" | "project" | "workspace.package" | "tool.poetry"
            );
        } else if own
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == key
            && let Some(value) = value.trim().strip_prefix('"')
        {
            return value.split('"').next().map(str::to_owned).filter(|value| !value.is_empty());
        }
    }
    None
}

fn json_values(text: &str) -> (Option<String>, Option<String>) {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let member = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    (member("name"), member("description"))
}

fn go_module(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("module ")).map(|name| name.trim().to_owned())
}

/// The first paragraph that is prose: no heading, badge, quotation mark or table.
fn introduction(readme: &str) -> Option<String> {
    readme.split("\n\n").find_map(|paragraph| {
        let lines: Vec<&str> = paragraph
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#') && !is_rule(line))
            .collect();
        let first = lines.first()?;
        let prose = !first.starts_with(['!', '<', '|', '=', '-', '`'])
            && !first.starts_with("[!")
            && !first.starts_with("~~~");
        (prose && lines.iter().any(|line| line.contains(' '))).then(|| lines.join(" "))
    })
}

/// A line under a heading.
fn is_rule(line: &str) -> bool {
    line.len() > 2 && line.chars().all(|c| matches!(c, '=' | '-' | '*' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_prose_of_a_readme_is_its_introduction() {
        let rows = [
            ("# x\n\nIt does things\nwell.\n\nMore.", Some("It does things well.")),
            ("# x\nIt does things.", Some("It does things.")),
            ("x\n===\n\nIt does things.", Some("It does things.")),
            ("# x\n\n[![ci](u)](v)\n![logo](l)\n\n<p>html</p>\n\nIt does things.", Some("It does things.")),
            ("# x\n\n```\ncode here\n```", None),
            ("", None),
        ];
        for (readme, expected) in rows {
            assert_eq!(introduction(readme).as_deref(), expected, "{readme}");
        }
    }

    #[test]
    fn a_tables_own_name_counts_and_no_other() {
        let text = "[dependencies]\nname = \"no\"\n[package]\nname = \"yes\"\ndescription = \"\"";
        assert_eq!(toml_value(text, "name").as_deref(), Some("yes"));
        assert_eq!(toml_value(text, "description"), None);
        assert_eq!(toml_value("[workspace]\nmembers = []", "name"), None);
    }
}
