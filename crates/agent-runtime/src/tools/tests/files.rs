//! `read_file` and `list_dir` on a real disk.

use std::fmt::Write as _;

use serde_json::json;
use session_model::ToolKind;

use super::Rig;
use crate::tools::Approval;

fn numbered(count: usize) -> String {
    (1..=count).fold(String::new(), |mut text, i| {
        writeln!(text, "line {i}").unwrap();
        text
    })
}

#[tokio::test]
async fn lines_come_with_their_numbers() {
    let rig = Rig::new();
    rig.write("src/a.txt", "one\ntwo\n\nfour");
    assert_eq!(rig.ok("read_file", json!({"path": "src/a.txt"})).await, "1\tone\n2\ttwo\n3\t\n4\tfour");
    let plan = rig.plan("read_file", json!({"path": "src/a.txt", "offset": "1", "limit": 2})).await.unwrap();
    assert_eq!(plan.title, "read_file: src/a.txt (lines 2-3)");
    assert_eq!(plan.approval, Approval::Free);
    assert_eq!((plan.locations[0].path.clone(), plan.locations[0].line), (rig.path("src/a.txt"), Some(2)));
    let tool = rig.tool("read_file");
    assert!(tool.spec().parallel && tool.spec().kind == ToolKind::Read);
}

#[tokio::test]
async fn a_long_file_is_shown_in_parts_that_join_up() {
    let rig = Rig::new();
    rig.write("long", numbered(1201));
    let mut read = Vec::new();
    let mut offset = 0;
    loop {
        let part = rig.ok("read_file", json!({"path": "long", "offset": offset})).await;
        read.extend(part.lines().filter(|line| !line.starts_with('[')).map(str::to_owned));
        let Some((_, next)) = part.rsplit_once("continue with offset ") else { break };
        offset = next.trim_end_matches(']').parse().unwrap();
        assert_eq!(offset % 500, 0);
    }
    assert_eq!(read.len(), 1201);
    assert_eq!(read[1200], "1201\tline 1201");
}

#[tokio::test]
async fn the_edges_of_a_file_are_named() {
    let rig = Rig::new();
    rig.write("three", "a\nb\nc\n");
    rig.write("empty", "");
    for (args, expected) in [
        (json!({"path": "three", "offset": 2}), "3\tc"),
        (json!({"path": "three", "offset": 3}), "[the file ends here]"),
        (json!({"path": "three", "offset": 9}), "[three has 3 lines; offset 9 is past its end]"),
        (json!({"path": "three", "limit": 3}), "1\ta\n2\tb\n3\tc"),
        (json!({"path": "three", "limit": 0, "offset": null}), "1\ta\n2\tb\n3\tc"),
        (
            json!({"path": "three", "limit": 2}),
            "1\ta\n2\tb\n[lines 1-2 of a file of 6 bytes; it goes on: continue with offset 2]",
        ),
        (json!({"path": "empty"}), "[the file is empty]"),
        (
            json!({"path": "three", "offset": u64::MAX, "limit": u64::MAX}),
            "[three has 3 lines; offset 9223372036854775807 is past its end]",
        ),
    ] {
        assert_eq!(rig.ok("read_file", args.clone()).await, expected, "{args}");
    }
    let refused = rig.refused("read_file", json!({"path": "three", "offset": -1})).await;
    assert!(refused.contains("`offset` must be a whole number"), "{refused}");
}

#[tokio::test]
async fn odd_bytes_are_shown_and_named() {
    let rig = Rig::new();
    rig.write("crlf", "\u{feff}a\r\nb\r\n");
    rig.write("cr", "a\rb\rc");
    rig.write("latin", b"caf\xe9\n");
    rig.write("wide", "x".repeat(5000) + "\nnext\n");
    rig.write("umlauts", "ü".repeat(3000));
    assert_eq!(
        rig.ok("read_file", json!({"path": "crlf"})).await,
        "1\ta\n2\tb\n[lines end in CRLF; edit_file keeps that by itself]"
    );
    assert_eq!(rig.ok("read_file", json!({"path": "cr"})).await, "1\ta\n2\tb\n3\tc");
    let latin = rig.ok("read_file", json!({"path": "latin"})).await;
    assert_eq!(latin, "1\tcaf\u{fffd}\n[some bytes are no UTF-8 and are shown as \u{fffd}]");
    let wide = rig.ok("read_file", json!({"path": "wide"})).await;
    assert!(wide.contains("x[… 904 more bytes in this line]\n2\tnext\n"), "{wide}");
    let umlauts = rig.ok("read_file", json!({"path": "umlauts"})).await;
    assert!(!umlauts.contains('\u{fffd}'), "a cut is no damage");
}

#[tokio::test]
async fn what_is_no_text_is_refused_with_a_way_on() {
    let rig = Rig::new();
    rig.write("binary", b"\x7fELF\0\0\0");
    rig.write("utf16", b"\xff\xfea\0b\0");
    rig.write("dir/file", "");
    for (path, reason) in [
        ("binary", "binary file (7 bytes)"),
        ("utf16", "UTF-16"),
        ("dir", "list_dir lists it"),
        (".", "list_dir lists it"),
        ("none", "does not exist"),
        ("dir/file/x", "is a file"),
    ] {
        let refused = rig.refused("read_file", json!({"path": path})).await;
        assert!(refused.contains(reason), "{path}: {refused}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_is_refused_and_not_waited_for() {
    let rig = Rig::new();
    rig.ok("bash", json!({"command": "mkfifo pipe"})).await;
    for (tool, args) in [
        ("read_file", json!({"path": "pipe"})),
        ("edit_file", json!({"path": "pipe", "old_string": "a", "new_string": "b"})),
        ("write_file", json!({"path": "pipe", "content": "x"})),
    ] {
        let refused = rig.refused(tool, args).await;
        assert!(refused.contains("not a regular file"), "{tool}: {refused}");
    }
    let found = rig.ok("grep", json!({"pattern": "x"})).await;
    assert!(found.starts_with("[no match"), "{found}");
}

#[tokio::test]
async fn a_huge_file_is_shown_in_bounds_and_its_end_is_reached() {
    let rig = Rig::new();
    let file = std::fs::File::create(rig.path("huge")).unwrap();
    let mut file = std::io::BufWriter::new(file);
    for i in 0..400_000 {
        std::io::Write::write_all(&mut file, format!("{i:0>99}\n").as_bytes()).unwrap();
    }
    drop(file);
    let start = rig.ok("read_file", json!({"path": "huge", "limit": 100_000})).await;
    assert!(start.len() < 66_000, "{}", start.len());
    assert!(start.contains("continue with offset "), "the cut is named");
    let end = rig.ok("read_file", json!({"path": "huge", "offset": 399_999})).await;
    assert!(end.starts_with("400000\t000") && end.ends_with("399999"), "{end}");
}

#[tokio::test]
async fn a_cancelled_read_ends() {
    let rig = Rig::new();
    rig.write("a", "x");
    rig.cancel.cancel();
    let refused = rig.refused("read_file", json!({"path": "a"})).await;
    assert!(refused.contains("cancelled"), "{refused}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_is_listed_by_name_with_kinds_and_sizes() {
    let rig = Rig::new();
    rig.write("b.txt", "12345");
    rig.write("a/x", "");
    rig.write(".hidden", "");
    rig.write("new\nline", "");
    super::link("b.txt", rig.path("c"));
    let listed = "file\t0\t.hidden\ndir\t-\ta/\nfile\t5\tb.txt\nlink\t-\tc -> b.txt\nfile\t0\tnew ⏎ line";
    assert_eq!(rig.ok("list_dir", json!({})).await, listed);
    assert_eq!(rig.ok("list_dir", json!({"path": "a"})).await, "file\t0\tx");
    std::fs::create_dir(rig.path("e")).unwrap();
    assert_eq!(rig.ok("list_dir", json!({"path": "e/"})).await, "[the folder is empty]");
    let refused = rig.refused("list_dir", json!({"path": "b.txt"})).await;
    assert!(refused.contains("read_file reads it"), "{refused}");
    let refused = rig.refused("list_dir", json!({"path": "none"})).await;
    assert!(refused.contains("does not exist"), "{refused}");
    assert_eq!(rig.plan("list_dir", json!({})).await.unwrap().title, "list_dir: .");
}

#[tokio::test]
async fn a_large_folder_is_bounded() {
    let rig = Rig::new();
    for i in 0..1100 {
        rig.write(&format!("f{i:04}"), "");
    }
    let listed = rig.ok("list_dir", json!({})).await;
    assert_eq!(listed.lines().count(), 1001);
    assert!(listed.ends_with("[the first 1000 of 1100 entries by name; grep with `glob` finds others]"));
    assert!(listed.contains("\tf0999\n") && !listed.contains("f1000"));
}

#[tokio::test]
async fn several_files_come_in_one_answer_and_a_bad_one_costs_only_its_part() {
    let rig = Rig::new();
    rig.write("a", "one\ntwo\n");
    rig.write("b", b"\0binary");
    rig.write("src/c", "three");
    let paths = json!({"paths": ["a", "b", "a", "none", "src/c"], "limit": 1});
    let told = rig.ok("read_multiple_files", paths.clone()).await;
    insta::assert_snapshot!(told, @"
    === a ===
    1	one
    [lines 1-1 of a file of 8 bytes; it goes on: continue with offset 1]

    === b ===
    [not read: b is a binary file (7 bytes); `file`, `strings` or `xxd` in bash show what it holds]

    === none ===
    [not read: none does not exist; list_dir and grep show what does]

    === src/c ===
    1	three
    ");
    let plan = rig.plan("read_multiple_files", paths).await.unwrap();
    assert_eq!(plan.title, "read_multiple_files: a, b, none, src/c");
    assert_eq!((plan.locations.len(), plan.approval), (4, Approval::Free));
    let refused = rig.refused("read_multiple_files", json!({"paths": ["none"]})).await;
    assert!(refused.contains("none does not exist"), "{refused}");
    let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
    for (paths, expected) in [(json!([]), "`paths` is empty"), (json!(many), "21 files are too many")] {
        let refused = rig.refused("read_multiple_files", json!({"paths": paths})).await;
        assert!(refused.contains(expected), "{refused}");
    }
}

#[tokio::test]
async fn several_long_files_share_the_room_of_one_answer() {
    let rig = Rig::new();
    let names: Vec<String> = (0..8).map(|n| format!("long{n}")).collect();
    let text = format!("{}\n", "x".repeat(99)).repeat(400);
    for name in &names {
        rig.write(name, &text);
    }
    let told = rig.ok("read_multiple_files", json!({"paths": names})).await;
    assert!(told.len() < 64 * 1024 + 8 * 300, "{}", told.len());
    assert_eq!(told.matches("it goes on: continue with offset").count(), 8);
}

#[tokio::test]
async fn each_file_outside_is_asked_about() {
    let rig = Rig::new();
    let (one, two) = (rig.outside("one"), rig.outside("two"));
    std::fs::write(&one, "secret").unwrap();
    std::fs::write(&two, "secret").unwrap();
    rig.write("inside", "open");
    let paths = json!({"paths": [one, "inside", two]});
    let plan = rig.plan("read_multiple_files", paths).await.unwrap();
    let Approval::Ask(ask) = &plan.approval else { panic!("{plan:?}") };
    assert_eq!(ask.description.lines().count(), 2);
    assert_eq!(ask.scopes.len(), 1, "one folder");
    // Without that leave nothing of them is told.
    let cx = rig.cx();
    let args = super::members(json!({"paths": [one]}));
    let output = rig.tool("read_multiple_files").run(args, cx).await;
    assert!(output.error.unwrap().contains("not the place that was allowed"));
}
