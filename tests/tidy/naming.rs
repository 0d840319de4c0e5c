//! Who may name what: method names, protocol versions, wire types.

use crate::{code, read, root, rust_files, shown};

#[test]
fn acp_rpc_names_no_method() {
    for path in rust_files(&root().join("crates/acp-rpc/src")) {
        let code = code(&read(&path));
        for name in ["initialize", "session/", "$/cancel", "fs/", "terminal/"] {
            assert!(!code.contains(name), "{} names {name}", shown(&path));
        }
    }
}

#[test]
fn wire_types_stay_in_the_dialect() {
    for dir in ["crates/milk-acp/src", "bin/milk/src"] {
        for path in rust_files(&root().join(dir)) {
            let inside = shown(&path).replace('\\', "/").contains("/dialect/");
            assert!(inside || !code(&read(&path)).contains("acp_wire"), "{} names acp_wire", shown(&path));
        }
    }
}

#[test]
fn the_versions_do_not_name_each_other() {
    let check = |dir: &str, own: &str, other: &str| {
        for path in rust_files(&root().join(dir)) {
            let place = shown(&path).replace('\\', "/");
            if place.contains(&format!("/{own}/")) || place.contains(&format!("/{own}_")) {
                let code = code(&read(&path));
                for name in [format!("{other}::"), format!("{other}_"), format!("::{other}")] {
                    assert!(!code.contains(&name), "{place} names {name}");
                }
            }
        }
    };
    for dir in ["crates/acp-wire/src", "crates/milk-acp/src/dialect"] {
        check(dir, "v1", "v2");
        check(dir, "v2", "v1");
    }
}

#[test]
fn only_the_dialect_tells_the_versions_apart() {
    for path in rust_files(&root().join("crates/milk-acp/src")) {
        let place = shown(&path).replace('\\', "/");
        if place.contains("/dialect/") {
            continue;
        }
        let code = code(&read(&path));
        assert!(!code.contains("Dialect::V"), "{place} tells the versions apart");
    }
}

#[test]
fn no_file_names_a_machine() {
    let dirs = ["crates", "bin", "tests", "examples", "docs"];
    for path in dirs.iter().flat_map(|dir| rust_files(&root().join(dir))) {
        let text = read(&path);
        for name in [concat!("/wo", "rk/"), concat!("/home/", "runner")] {
            assert!(!text.contains(name), "{} names {name}", shown(&path));
        }
    }
}
