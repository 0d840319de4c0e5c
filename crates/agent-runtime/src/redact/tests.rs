//! What is hidden, what is not, and what comes back.

use serde_json::json;

use super::Redactor;

fn hidden(text: &str) -> String {
    Redactor::new("n0").hide(text).into_owned()
}

/// A key as its issuer would make it, put together here so that no tool takes the test for a leak.
fn key(begin: &str, length: usize) -> String {
    let body: String = "a1B2c3D4e5F6g7H8".chars().cycle().take(length).collect();
    format!("{begin}{body}")
}

#[test]
fn keys_of_well_known_shapes_are_hidden_wherever_they_stand() {
    for (kind, secret) in [
        ("aws-key", format!("AKIA{}", "ABCDEFGH234567AB")),
        ("github-token", key("ghp_", 36)),
        ("github-token", key("github_pat_", 70)),
        ("gitlab-token", key("glpat-", 20)),
        ("slack-token", key("xoxb-", 24)),
        ("api-key", key("sk-", 40)),
        ("api-key", key("sk-ant-api03-", 40)),
        ("google-key", key("AIza", 35)),
        ("stripe-key", key("sk_live_", 24)),
        ("npm-token", key("npm_", 36)),
        ("huggingface-token", key("hf_", 34)),
        ("telegram-token", format!("{}:AA{}", "123456789", key("", 33))),
        ("jwt", format!("{}.{}.{}", key("eyJ", 20), key("eyJ", 30), key("", 20))),
    ] {
        let mark = format!("[redacted:{kind}:n0-1]");
        let around = [
            ("", ""),
            ("KEY=", "\n"),
            ("\"", "\","),
            ("1\tx: ", " # y"),
            ("Bearer ", ""),
            ("Schlüssel für ä", "。"),
        ];
        for (before, after) in around {
            assert_eq!(hidden(&format!("{before}{secret}{after}")), format!("{before}{mark}{after}"));
        }
    }
    assert_eq!(
        hidden("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"),
        "AWS_SECRET_ACCESS_KEY=[redacted:aws-secret:n0-1]\n"
    );
    assert_eq!(hidden("postgres://app:hunter2!@db/x"), "postgres://app:[redacted:password:n0-1]@db/x");
}

#[test]
fn what_is_no_key_stays() {
    for text in [
        "sk-learn and sk-some-very-long-class-name-without-digits",
        "https://docs.rs/regex?x=1#y",
        "http://user:$PASSWORD@host http://user:<pw>@host",
        "ghp_short AKIA AIza hf_x eyJ.eyJ.x",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "d41d8cd98f00b204e9800998ecf8427e",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        "",
    ] {
        assert_eq!(hidden(text), text);
    }
}

#[test]
fn a_private_key_is_hidden_line_by_line() {
    let line = "MIIEpAIBAAKCAQEA1234567890abcdef";
    for kind in ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        let text = format!("1\t-----BEGIN {kind}-----\n2\t{line}\n3\t{line}x\n4\t-----END {kind}-----\n");
        assert_eq!(
            hidden(&text),
            format!(
                "1\t-----BEGIN {kind}-----\n2\t[redacted:private-key:n0-1]\n3\t[redacted:private-key:n0-2]\n4\t-----END {kind}-----\n"
            )
        );
    }
}

#[test]
fn configured_values_are_hidden_too_and_the_same_secret_keeps_its_mark() {
    let redactor = Redactor::new("n0");
    redactor.know(["correct horse".to_owned(), "correct horse battery".to_owned(), "short".to_owned()]);
    assert_eq!(
        redactor.hide("a correct horse battery, a correct horse, short, correct horse battery"),
        "a [redacted:configured:n0-1], a [redacted:configured:n0-2], short, [redacted:configured:n0-1]"
    );
    let twice = redactor.hide("correct horse").into_owned();
    assert_eq!(redactor.hide(&twice), twice, "a mark is no secret");
}

#[test]
fn marks_come_back_where_files_are_written_and_changed_marks_are_refused() {
    let redactor = Redactor::new("n0");
    let secret = key("ghp_", 36);
    let mark = redactor.hide(&secret).into_owned();
    let args = json!({"path": "a", "content": format!("x {mark} y"), "n": 1, "list": [mark]});
    assert_eq!(
        redactor.restore(args).unwrap(),
        json!({"path": "a", "content": format!("x {secret} y"), "n": 1, "list": [secret]})
    );
    for wrong in ["[redacted:github-token:n0-2]", "[redacted:github-token:n0-1", "x:n0-1]"] {
        assert!(
            redactor.restore(json!({ "content": wrong })).unwrap_err().contains("was changed"),
            "{wrong}"
        );
    }
    // Text that looks like a mark of somebody else's is text.
    let other = json!({"content": "[redacted:github-token:zz-1] [redacted:n0]"});
    assert_eq!(redactor.restore(other.clone()).unwrap(), other);
}

#[test]
fn json_stays_as_it_is_written_unless_it_holds_a_secret() {
    let redactor = Redactor::new("n");
    let plain = "{ \"b\":1,\n\"a\" : \"text\" }".to_owned();
    assert_eq!(redactor.hide_json(plain.clone()), plain);
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890abcdef\n-----END PRIVATE KEY-----";
    let hidden = redactor.hide_json(serde_json::json!({"b": {"c": [key]}, "a": 2}).to_string());
    assert!(
        !hidden.contains("MIIEpA") && hidden.starts_with("{\n  \"b\": {\n    \"c\": [\n      \""),
        "{hidden}"
    );
    assert!(!redactor.hide_json(format!("no JSON: {key}")).contains("MIIEpA"));
}

#[test]
fn json_is_passed_over_only_where_nothing_can_hide_in_it() {
    let redactor = Redactor::new("n");
    redactor.know(["correct horse".to_owned()]);
    for plain in [r#"{"output":"a\nb \"c\" d"}"#, "{}", r#"{"path":"src/a.rs"}"#] {
        assert!(redactor.is_plain(plain), "{plain}");
    }
    for other in [
        r#"{"output":"correct horse"}"#.to_owned(),
        r#"{"output":"c\u006frrect horse"}"#.to_owned(),
        r#"{"url":"postgres:\/\/app:hunter2!@db"}"#.to_owned(),
        format!(r#"{{"output":"{}"}}"#, key("ghp_", 36)),
        r#"{"output":"-----BEGIN RSA PRIVATE KEY-----"}"#.to_owned(),
    ] {
        assert!(!redactor.is_plain(&other), "{other}");
    }
    redactor.know(["with \"quotes\"".to_owned()]);
    assert!(!redactor.is_plain("{}"), "its spelling in JSON is another");
}
