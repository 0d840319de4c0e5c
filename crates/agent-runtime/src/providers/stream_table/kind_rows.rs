//! What every API can say, with its one meaning.

use super::encode::Step::{Args, Call, End, Error, Half, Ping, Text, Thought};
use super::encode::{Step, Stop};

/// A name, what a model says, and what it means.
pub(super) type Kind = (&'static str, &'static [Step], &'static str);

/// Answers that the server ended.
pub(super) const ENDED: &[Kind] = &[
    ("one word", &[Text("Hi"), End(Stop::Said, None)], r#"text "Hi" | finish Stop"#),
    (
        "words and counts",
        &[Text("Hel"), Text("lo"), End(Stop::Said, Some((10, 6, 4)))],
        r#"text "Hello" | usage 10+6 4 0 | finish Stop"#,
    ),
    (
        "counts of zero",
        &[Text("a"), End(Stop::Said, Some((0, 0, 0)))],
        r#"text "a" | usage 0+0 0 0 | finish Stop"#,
    ),
    (
        "everything cached",
        &[Text("a"), End(Stop::Said, Some((0, 9, 1)))],
        r#"text "a" | usage 0+9 1 0 | finish Stop"#,
    ),
    (
        "blanks are text",
        &[Text("a"), Text(" "), Text("\n"), Text("\n b"), End(Stop::Said, None)],
        r#"text "a \n\n b" | finish Stop"#,
    ),
    (
        "line ends of all kinds within text",
        &[Text("a\r\nb\rc\u{2028}d\u{85}e"), End(Stop::Said, None)],
        "text \"a\\r\\nb\\rc\\u{2028}d\\u{85}e\" | finish Stop",
    ),
    (
        "text that looks like the stream's own",
        &[Text("a\n\ndata: [DONE]\n\n: b"), End(Stop::Said, None)],
        r#"text "a\n\ndata: [DONE]\n\n: b" | finish Stop"#,
    ),
    (
        "characters of many bytes",
        &[Text("那个🦀é"), Text("한👩‍👩‍👧z"), End(Stop::Said, None)],
        "text \"那个🦀é한👩\\u{200d}👩\\u{200d}👧z\" | finish Stop",
    ),
    (
        "quotes, slashes and zeros",
        &[Text("\"\\/\u{8}\u{c}\0\u{1f}"), End(Stop::Said, None)],
        "text \"\\\"\\\\/\\u{8}\\u{c}\\0\\u{1f}\" | finish Stop",
    ),
    (
        "halves of a character in two pieces",
        &[Text("a\u{e000}"), Text("\u{e001}b"), End(Stop::Said, None)],
        r#"text "a🦀b" | finish Stop"#,
    ),
    (
        "a half without its other",
        &[Text("a\u{e000}"), Text("b"), End(Stop::Said, None)],
        "text \"a\u{fffd}b\" | finish Stop",
    ),
    (
        "a last half without its other",
        &[Text("a\u{e000}"), End(Stop::Said, None)],
        "text \"a\u{fffd}\" | finish Stop",
    ),
    ("a second half alone", &[Text("\u{e001}b"), End(Stop::Said, None)], "text \"\u{fffd}b\" | finish Stop"),
    (
        "halves within reasoning",
        &[Thought("a\u{e000}"), Thought("\u{e001}b"), Text("c"), End(Stop::Said, None)],
        r#"thought "a🦀b" | text "c" | finish Stop"#,
    ),
    (
        "halves within arguments",
        &[Call(0, "f"), Args(0, "{\"p\":\"\u{e000}"), Args(0, "\u{e001}\"}"), End(Stop::Calls, None)],
        r#"call f {"p":"🦀"} | finish Stop"#,
    ),
    (
        "empty pieces",
        &[Text(""), Text("a"), Text(""), Text("b"), Text(""), End(Stop::Said, None)],
        r#"text "ab" | finish Stop"#,
    ),
    (
        "reasoning before text",
        &[Thought("hm "), Thought("so"), Text("Hi"), End(Stop::Said, None)],
        r#"thought "hm so" | text "Hi" | finish Stop"#,
    ),
    (
        "reasoning alone",
        &[Thought("hm"), End(Stop::Said, Some((3, 0, 2)))],
        r#"thought "hm" | usage 3+0 2 0 | finish Stop"#,
    ),
    (
        "reasoning before a call",
        &[Thought("hm"), Call(0, "f"), Args(0, "{}"), End(Stop::Calls, None)],
        r#"thought "hm" | call f {} | finish Stop"#,
    ),
    (
        "text, then reasoning, then text",
        &[Text("a"), Thought("b"), Text("c"), End(Stop::Said, None)],
        r#"text "a" | thought "b" | text "c" | finish Stop"#,
    ),
    ("nothing at all", &[End(Stop::Said, None)], "finish Stop"),
    (
        "a call at once",
        &[Call(0, "read"), Args(0, r#"{"path":"x"}"#), End(Stop::Calls, None)],
        r#"call read {"path":"x"} | finish Stop"#,
    ),
    (
        "a call in pieces",
        &[
            Call(0, "read"),
            Args(0, r#"{"pa"#),
            Args(0, r#"th": "#),
            Args(0, r#""x y"}"#),
            End(Stop::Calls, None),
        ],
        r#"call read {"path": "x y"} | finish Stop"#,
    ),
    (
        "a call in single characters",
        &[
            Call(0, "f"),
            Args(0, "{"),
            Args(0, "\""),
            Args(0, "a"),
            Args(0, "\""),
            Args(0, ":"),
            Args(0, "1"),
            Args(0, "}"),
            End(Stop::Calls, None),
        ],
        r#"call f {"a":1} | finish Stop"#,
    ),
    ("a call without arguments", &[Call(0, "f"), End(Stop::Calls, None)], "call f {} | finish Stop"),
    (
        "a call with blank arguments",
        &[Call(0, "f"), Args(0, "   "), End(Stop::Calls, None)],
        "call f {} | finish Stop",
    ),
    (
        "a call with null for arguments",
        &[Call(0, "f"), Args(0, "null"), End(Stop::Calls, None)],
        "call f {} | finish Stop",
    ),
    (
        "an empty object, then the real one",
        &[Call(0, "f"), Args(0, "{}"), Args(0, r#"{"a":1}"#), End(Stop::Calls, None)],
        r#"call f {"a":1} | finish Stop"#,
    ),
    (
        "the same object twice",
        &[Call(0, "f"), Args(0, r#"{"a":"#), Args(0, "1}"), Args(0, r#"{"a":1}"#), End(Stop::Calls, None)],
        r#"call f {"a":1} | finish Stop"#,
    ),
    (
        "two objects that differ",
        &[Call(0, "f"), Args(0, r#"{"a":1}"#), Args(0, r#"{"a":2}"#), End(Stop::Calls, None)],
        r#"call f {"a":1}{"a":2} | finish Stop"#,
    ),
    (
        "an object in a string",
        &[Call(0, "f"), Args(0, r#""{\"a\":1}""#), End(Stop::Calls, None)],
        r#"call f {"a":1} | finish Stop"#,
    ),
    (
        "one brace too many",
        &[Call(0, "f"), Args(0, r#"{{"a":1}"#), End(Stop::Calls, None)],
        r#"call f {{"a":1} | finish Stop"#,
    ),
    (
        "arguments that are no JSON",
        &[Call(0, "f"), Args(0, "{\"command\": \"cd /x"), End(Stop::Calls, None)],
        "call f {\"command\": \"cd /x | finish Stop",
    ),
    (
        "arguments that are no object",
        &[Call(0, "f"), Args(0, "[1]"), End(Stop::Calls, None)],
        "call f [1] | finish Stop",
    ),
    (
        "text before a call",
        &[Text("I look."), Call(0, "f"), Args(0, "{}"), End(Stop::Calls, None)],
        r#"text "I look." | call f {} | finish Stop"#,
    ),
    (
        "calls though it says that all is said",
        &[Call(0, "f"), Args(0, "{}"), End(Stop::Said, None)],
        "call f {} | finish Stop",
    ),
    (
        "text though it says that there are calls",
        &[Text("done"), End(Stop::Calls, None)],
        r#"text "done" | finish Stop"#,
    ),
    (
        "two calls one after the other",
        &[
            Call(0, "f"),
            Args(0, r#"{"p":1}"#),
            Call(1, "g"),
            Args(1, r#"{"q":"#),
            Args(1, "2}"),
            End(Stop::Calls, None),
        ],
        r#"call f {"p":1} | call g {"q":2} | finish Stop"#,
    ),
    (
        "two equal calls",
        &[Call(0, "f"), Args(0, r#"{"p":1}"#), Call(1, "f"), Args(1, r#"{"p":1}"#), End(Stop::Calls, None)],
        r#"call f {"p":1} | call f {"p":1} | finish Stop"#,
    ),
    (
        "five calls",
        &[
            Call(0, "f"),
            Call(1, "g"),
            Call(2, "f"),
            Call(3, "read"),
            Args(3, r#"{"path":"a"}"#),
            Call(4, "g"),
            End(Stop::Calls, None),
        ],
        r#"call f {} | call g {} | call f {} | call read {"path":"a"} | call g {} | finish Stop"#,
    ),
    (
        "the limit in text",
        &[Text("so fa"), End(Stop::Length, Some((1, 0, 9)))],
        r#"text "so fa" | usage 1+0 9 0 | finish Length"#,
    ),
    ("the limit before anything", &[End(Stop::Length, None)], "finish Length"),
    ("the limit in reasoning", &[Thought("hm"), End(Stop::Length, None)], r#"thought "hm" | finish Length"#),
    (
        "the limit in a call",
        &[Call(0, "write"), Args(0, r#"{"path":"a","content":"abc"#), End(Stop::Length, None)],
        r#"cut write {"path":"a","content":"abc | finish Length"#,
    ),
    (
        "the limit right behind an object",
        &[Call(0, "write"), Args(0, r#"{"path":"a"}"#), End(Stop::Length, None)],
        r#"cut write {"path":"a"} | finish Length"#,
    ),
    (
        "the limit before arguments",
        &[Call(0, "write"), End(Stop::Length, None)],
        "cut write {} | finish Length",
    ),
    (
        "the limit in the second call",
        &[
            Call(0, "f"),
            Args(0, r#"{"p":1}"#),
            Call(1, "write"),
            Args(1, r#"{"path":"#),
            End(Stop::Length, None),
        ],
        r#"call f {"p":1} | cut write {"path": | finish Length"#,
    ),
    ("a refusal", &[Text("No."), End(Stop::Refusal, None)], r#"text "No." | finish Refusal"#),
    ("a refusal without words", &[End(Stop::Refusal, None)], "finish Refusal"),
    (
        "pings between",
        &[Ping, Text("a"), Ping, Ping, Text("b"), Ping, End(Stop::Said, None)],
        r#"text "ab" | finish Stop"#,
    ),
    (
        "pings within a call",
        &[Call(0, "f"), Ping, Args(0, r#"{"a":"#), Ping, Args(0, "1}"), End(Stop::Calls, None)],
        r#"call f {"a":1} | finish Stop"#,
    ),
];

/// Answers that it did not end.
pub(super) const BROKEN: &[Kind] = &[
    ("text that breaks off", &[Text("half")], r#"text "half" | truncated (again)"#),
    ("an event that breaks off", &[Text("half"), Half], r#"text "half" | truncated (again)"#),
    ("reasoning that breaks off", &[Thought("hm")], r#"thought "hm" | truncated (again)"#),
    ("a call that breaks off", &[Call(0, "f"), Args(0, r#"{"a":"#)], "truncated (again)"),
    ("a whole call without an end", &[Call(0, "f"), Args(0, r#"{"a":1}"#)], "truncated (again)"),
    ("half a character that breaks off", &[Text("a\u{e000}")], "text \"a\u{fffd}\" | truncated (again)"),
    ("nothing", &[Ping], "truncated (again)"),
    ("a rate limit", &[Error("rate_limit_error", "slow down")], r#"reported "slow down" (again)"#),
    ("an overload", &[Error("overloaded_error", "busy")], r#"reported "busy" (again)"#),
    ("a wrong request", &[Error("invalid_request_error", "no such model")], r#"reported "no such model""#),
    (
        "a used-up quota",
        &[Error("rate_limit_error", "you exceeded your quota")],
        r#"reported "you exceeded your quota""#,
    ),
    (
        "an error after text",
        &[Text("so far"), Error("api_error", "gone")],
        r#"text "so far" | reported "gone" (again)"#,
    ),
    (
        "an error after a call",
        &[Call(0, "f"), Args(0, "{}"), Error("api_error", "gone")],
        r#"reported "gone" (again)"#,
    ),
];

/// Interleaved calls, which the Messages API does not have.
pub(super) const INTERLEAVED: &[Kind] = &[
    (
        "calls in turns",
        &[
            Call(0, "f"),
            Call(1, "g"),
            Args(0, r#"{"p":"#),
            Args(1, r#"{"q":"#),
            Args(0, "1}"),
            Args(1, "2}"),
            End(Stop::Calls, None),
        ],
        r#"call f {"p":1} | call g {"q":2} | finish Stop"#,
    ),
    (
        "a call that begins before the last piece of another",
        &[
            Call(0, "f"),
            Args(0, r#"{"p":1"#),
            Call(1, "g"),
            Args(0, "}"),
            Args(1, r#"{"q":2}"#),
            End(Stop::Calls, None),
        ],
        r#"call f {"p":1} | call g {"q":2} | finish Stop"#,
    ),
    (
        "text between calls",
        &[Call(0, "f"), Args(0, r#"{"p":"#), Text("and"), Args(0, "1}"), End(Stop::Calls, None)],
        r#"text "and" | call f {"p":1} | finish Stop"#,
    ),
];
