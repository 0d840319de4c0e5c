//! Rules as they are written.

use std::path::Path;

use super::Rule;

#[test]
fn a_rule_is_a_tool_and_perhaps_a_pattern() {
    for good in [
        "bash",
        "bash(git *)",
        "read(~/x/**)",
        "mcp_*",
        "*",
        "edit( src/** )",
        "fetch(*.example.com)",
        "bash(echo [ (x))",
    ] {
        assert!(Rule::parse(good, Some(Path::new("/home"))).is_ok(), "{good}");
    }
    for (bad, reason) in [
        ("", "it should be `tool` or `tool(pattern)`"),
        ("bash(git", "its `(` is not closed"),
        ("bash()", "its pattern is empty; leave the parentheses out to mean every call"),
        ("bash git", "it should be `tool` or `tool(pattern)`"),
        ("(x)", "it should be `tool` or `tool(pattern)`"),
        ("read(~root/x)", "only `~/` stands for a home folder"),
    ] {
        let error = Rule::parse(bad, Some(Path::new("/home"))).unwrap_err();
        assert_eq!(error.to_string(), format!("{bad:?} is no rule: {reason}"));
    }
    assert!(Rule::parse("read([)", None).is_err());
    assert!(Rule::parse("read(~/x)", None).is_err());
}
