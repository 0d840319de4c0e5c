//! Things that are no ordinary files, and names that are no ordinary names.
#![cfg(target_os = "linux")]

use std::fs;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{Rig, link};

fn fifo(rig: &Rig, name: &str) {
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, rig.path(name), FileType::Fifo, mode, 0).unwrap();
}

#[tokio::test]
async fn pipes_and_devices_are_neither_waited_for_nor_changed() {
    let rig = Rig::new();
    fifo(&rig, "pipe");
    link("/dev/zero", rig.path("zero"));
    link("/dev/tty", rig.path("tty"));
    for path in ["pipe", "zero", "tty", "/dev/random", "/proc/self/mem", "/proc/self/root/dev/zero"] {
        for (tool, args) in [
            ("read_file", json!({ "path": path })),
            ("edit_file", json!({"path": path, "old_string": "a", "new_string": "b"})),
            ("write_file", json!({"path": path, "content": "x"})),
        ] {
            if path.contains("/mem") && tool != "write_file" {
                // Looks like a regular file to the system; reading it is an error of its own.
                continue;
            }
            let refused = rig.refused(tool, args).await;
            assert!(!refused.is_empty(), "{tool} {path}");
        }
    }
    rig.refused("delete_file", json!({"path": "pipe"})).await;
    rig.refused("move_file", json!({"source": "pipe", "destination": "x"})).await;
    assert!(rig.path("pipe").symlink_metadata().is_ok());
}

#[tokio::test]
async fn names_that_are_too_long_or_strange_are_errors_and_no_more() {
    let rig = Rig::new();
    let long = "n".repeat(300);
    let deep = "d/".repeat(3000);
    for path in [long.as_str(), deep.as_str(), "a\u{0}b", "file:///etc/passwd", "src/main.rs/below"] {
        rig.write("src/main.rs", "x");
        rig.refused("read_file", json!({ "path": path })).await;
        rig.refused("delete_file", json!({ "path": path })).await;
        rig.refused("move_file", json!({"source": path, "destination": "x"})).await;
    }
    for name in ["-rf", " lead", "trail ", "line\nend", "\u{202e}gpj.exe", "ü", "u\u{308}"] {
        let written = rig.ok("write_file", json!({"path": name, "content": name})).await;
        assert!(written.starts_with("created"), "{name:?}");
        assert_eq!(fs::read_to_string(rig.path(name)).unwrap(), name);
    }
    // Two spellings of one letter are two files here, and neither stands for the other.
    assert_ne!(rig.read("ü"), rig.read("u\u{308}"));
}

#[tokio::test]
async fn replacing_one_name_of_a_file_leaves_its_other_names_alone() {
    let rig = Rig::new();
    fs::write(rig.outside("kept"), "kept").unwrap();
    fs::hard_link(rig.outside("kept"), rig.path("name")).unwrap();
    rig.ok("write_file", json!({"path": "name", "content": "new"})).await;
    assert_eq!(fs::read_to_string(rig.outside("kept")).unwrap(), "kept");
    rig.ok("delete_file", json!({"path": "name"})).await;
    assert_eq!(fs::read_to_string(rig.outside("kept")).unwrap(), "kept");
}

#[tokio::test]
async fn a_root_within_a_root_is_inside_by_either_way() {
    let mut rig = Rig::new();
    rig.write("inner/deep/f", "f");
    rig.workspace.additional_roots = vec![rig.path("inner"), rig.path("inner/deep")];
    for path in ["inner/deep/f", "./inner/../inner/deep/f"] {
        let plan = rig.plan("read_file", json!({ "path": path })).await.unwrap();
        assert_eq!(super::scopes(&plan), None, "{path}");
        assert_eq!(plan.title, "read_file: inner/deep/f");
    }
}
