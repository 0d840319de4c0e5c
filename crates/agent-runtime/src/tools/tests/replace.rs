//! Text in text.

use proptest::prelude::*;

use super::super::replace::replace;

#[test]
fn line_ends_are_kept_whatever_the_model_sends() {
    for (text, old, new, expected) in [
        ("a\nb\nc\n", "b", "x", "a\nx\nc\n"),
        ("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\ny\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "a\r\nb\r\n", "a\r\nx\r\n", "a\r\nx\r\nc\r\n"),
        ("a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb", "b", "x\ny", "a\r\nx\r\ny"),
        ("b\r\n", "b", "x\ny", "x\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "a\r\nx\r\ny", "a\nx\ny\n"),
        // Mixed: untouched lines keep theirs, each replaced line its predecessor's.
        ("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nC\nd", "a\r\nB\nC\r\nd\n"),
        ("a\r\nb\nc\r\nd\n", "b\nc", "b\nx\ny\nc", "a\r\nb\nx\ny\nc\r\nd\n"),
        // Carriage returns alone.
        ("a\rb\rc\r", "b\nc", "b\nx\nc", "a\rb\rx\rc\r"),
        ("no end", "end", "end\n", "no end\n"),
        ("x\n", "x\n", "", ""),
        ("ü€a\r\n€\r\n", "€a\n€", "€b\n€", "ü€b\r\n€\r\n"),
        // Nothing but line ends to change: then to the letter.
        ("a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\n"),
    ] {
        let replaced = replace(text, old, new, false);
        assert_eq!(replaced.map(|done| done.text), Ok(expected.to_owned()), "{text:?} {old:?} {new:?}");
    }
}

#[test]
fn all_occurrences_are_replaced_when_asked_and_counted_otherwise() {
    let done = replace("a\r\nb a\r\na", "a", "xx", true).unwrap();
    assert_eq!((done.text.as_str(), done.count, done.line), ("xx\r\nb xx\r\nxx", 3, 1));
    let refused = replace("a\nb a\na", "a", "x", false).unwrap_err();
    assert!(refused.contains("occurs 3 times (lines 1, 2, 3)"), "{refused}");
    let many = "a\n".repeat(50);
    let refused = replace(&many, "a", "x", false).unwrap_err();
    assert!(refused.contains("50 times") && refused.contains("10, …"), "{refused}");
}

#[test]
fn the_line_is_that_of_the_first_difference() {
    assert_eq!(replace("1\n2\n3\n4\n", "1\n2\n3\n", "1\n2\nx\n", false).unwrap().line, 3);
    assert_eq!(replace("1\r\n2\r\n3\r\n", "2", "x", false).unwrap().line, 2);
}

#[test]
fn a_miss_says_how_near_it_was() {
    let text = "fn main() {\n    let x = 1;\n\tlet y = 2;\n}\n";
    for (old, reason) in [
        ("", "is empty"),
        ("let y  = 2;", "line 3 differs from it in white space only"),
        ("fn main() {\n  let x = 1;\n", "line 2 differs from it in white space only"),
        ("fn main() {\n    let x = 1;\n    let z = 2;\n", "but at line 3 the file has \"\\tlet y = 2;\""),
        ("2\t    let x = 1;\n3\t\tlet y = 2;", "leave out the line numbers"),
        ("nothing like it", "nor anything like its first line"),
        ("}\nmore\n", "line 4 begins like it, but at line 5 the file has \"\""),
        ("\n\n\n", "nor anything like"),
        ("\t\t\t", "nor anything like"),
    ] {
        let refused = replace(text, old, "new", false).unwrap_err();
        assert!(refused.contains(reason), "{old:?}: {refused}");
    }
    assert!(replace(text, "x", "x", false).unwrap_err().contains("the same"));
}

proptest! {
    #[test]
    fn nothing_outside_the_replaced_text_changes(
        before in "[ab\r\n€]{0,12}", old in "[cd\r\n]{0,4}", new in "[ef\n]{0,6}", after in "[ab\r\n]{0,12}",
    ) {
        let old = format!("c{old}d");
        let new = format!("e{new}f");
        let text = format!("{before}{old}{after}");
        let done = replace(&text, &old, &new, false).unwrap();
        prop_assert!(done.text.starts_with(&before) && done.text.ends_with(&after));
        let middle = &done.text[before.len()..done.text.len() - after.len()];
        prop_assert_eq!(middle.replace("\r\n", "\n").replace('\r', "\n"), new);
    }
}
