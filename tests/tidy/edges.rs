//! The dependency table of `docs/architecture.md` is law.

use std::collections::BTreeSet;

use crate::{read, root};

/// Which workspace crates each member may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("crates/acp-rpc", &[]),
    ("crates/acp-wire", &[]),
    ("crates/session-model", &[]),
    ("crates/session-store", &["session-model"]),
    ("crates/router", &["session-model"]),
    ("crates/workflow", &["session-model"]),
    ("crates/agent-runtime", &["session-model"]),
    (
        "crates/milk-acp",
        &["acp-rpc", "acp-wire", "agent-runtime", "router", "session-model", "session-store", "workflow"],
    ),
    ("bin/milk", &["acp-rpc", "agent-runtime", "milk-acp", "session-model", "session-store"]),
    ("tests", &["acp-rpc", "agent-runtime", "milk-acp", "router", "session-model", "session-store"]),
    ("examples", &["acp-rpc", "acp-wire", "milk-acp", "agent-runtime", "session-model", "session-store"]),
];

fn members() -> Vec<String> {
    let root = root();
    let crates = std::fs::read_dir(root.join("crates")).expect("crates/ is there");
    let crates = crates.map(|entry| entry.expect("crates/ can be read").file_name());
    let mut members: Vec<String> = crates.map(|name| format!("crates/{}", name.to_string_lossy())).collect();
    members.extend(["bin/milk", "tests", "examples"].map(str::to_owned));
    members.sort();
    members
}

fn package_name(manifest: &str) -> String {
    let line = manifest.lines().find(|line| line.starts_with("name = ")).expect("a package has a name");
    line.trim_start_matches("name = ").trim_matches('"').to_owned()
}

/// The workspace crates under `[dependencies]`.
fn uses(manifest: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let used = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    used.filter(|name| names.contains(*name)).map(str::to_owned).collect()
}

#[test]
fn every_member_uses_only_what_the_table_allows() {
    let members = members();
    let names: BTreeSet<String> =
        members.iter().map(|member| package_name(&read(&root().join(member).join("Cargo.toml")))).collect();
    for member in &members {
        let manifest = read(&root().join(member).join("Cargo.toml"));
        let (_, allowed) =
            ALLOWED.iter().find(|(name, _)| name == member).unwrap_or_else(|| panic!("{member} has no row"));
        for used in uses(&manifest, &names) {
            assert!(allowed.contains(&used.as_str()), "{member} must not depend on {used}");
        }
    }
}

#[test]
fn every_member_has_its_place_and_its_invariant_in_the_architecture_page() {
    let page = read(&root().join("docs/architecture.md"));
    for member in members() {
        let name = package_name(&read(&root().join(&member).join("Cargo.toml")));
        let section = page.split("\n### ").find(|section| {
            section.lines().next().is_some_and(|head| head.split(" and ").any(|one| one == name))
        });
        let section = section.unwrap_or_else(|| panic!("docs/architecture.md has no section on {name}"));
        assert!(section.contains("\nInvariant: "), "docs/architecture.md states no invariant of {name}");
    }
}

#[test]
fn the_tests_are_few_binaries() {
    let manifest = read(&root().join("tests/Cargo.toml"));
    assert!(manifest.matches("[[test]]").count() <= 3, "one binary with a module per feature");
}
