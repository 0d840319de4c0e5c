//! The text form of a session as a terminal shows it. The forms themselves are the store's.

use session_store::{StoredSession, export};

use crate::output::{Style, harmless};

/// A session as text, control characters taken out, set off where the style says so.
pub(crate) fn text(session: &StoredSession, style: Style) -> String {
    let mut head = false;
    let mut of_milk = false;
    let mut out = String::new();
    for line in export::text(session).lines() {
        let line = harmless(line);
        let shown = if is_rule(&line) {
            style.dim(&line)
        } else if let Some((time, role)) = line.split_once("  ·  ").filter(|_| head) {
            of_milk = role == "milk";
            format!("{}  ·  {}", style.dim(time), style.bold(role))
        } else if let Some(call) = line.strip_prefix("  ⚙ ") {
            format!("  {} {call}", style.cyan("⚙"))
        } else if let Some(result) = line.strip_prefix("  → ") {
            format!("  → {}", style.dim(result))
        } else if of_milk && (line.starts_with("Error: ") || line.starts_with('[')) {
            style.red(&line)
        } else {
            line.clone()
        };
        head = is_rule(&line);
        out.push_str(&shown);
        out.push('\n');
    }
    out
}

fn is_rule(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| c == '━')
}

#[cfg(test)]
mod tests {
    use session_model::{Content, Entry, Item, StopReason, ToolCallUpdate, ToolStatus, TurnFailure, TurnId};
    use session_store::SessionMeta;
    use time::macros::datetime;

    use super::*;

    fn session() -> StoredSession {
        let mut call = ToolCallUpdate::new("call-1".into());
        call.name = Some("grep".into());
        call.status = Some(ToolStatus::Completed);
        call.raw_input = Some(serde_json::json!({"pattern": "x"}));
        call.raw_output = Some(serde_json::json!({"output": "found\u{1b}[2J"}));
        let failure = TurnFailure { code: "provider_unreachable".into(), message: "no server".into() };
        let at = datetime!(2026-03-01 10:20:30 UTC);
        let items = [
            Item::User { id: "u".into(), content: vec![Content::text("find\rx")], key: None },
            Item::Tool { step: 0, call },
            Item::TurnEnd { stop: StopReason::Error, error: Some(failure), route: None },
        ];
        let meta = SessionMeta {
            id: "0123".into(),
            cwd: "/work".into(),
            additional_roots: vec![],
            name: None,
            title: None,
            created_at: at,
            updated_at: at,
            grants: vec![],
            options: serde_json::Map::new(),
            usage: session_model::SessionUsage::default(),
        };
        let entry = |item| Entry { turn: TurnId::from("t1"), at, item };
        StoredSession { meta, entries: items.into_iter().map(entry).collect(), damaged: 0 }
    }

    #[test]
    fn without_colours_it_is_the_stores_form_made_harmless() {
        assert_eq!(text(&session(), Style::PLAIN), harmless(&export::text(&session())));
        assert!(text(&session(), Style::PLAIN).contains("find\u{fffd}x\n"));
    }

    #[test]
    fn a_terminal_shows_who_speaks_and_what_failed() {
        let shown = text(&session(), Style::COLOURED);
        for part in [
            "\u{1b}[2m2026-03-01 10:20:30\u{1b}[0m  ·  \u{1b}[1muser\u{1b}[0m\n",
            "  \u{1b}[36m⚙\u{1b}[0m grep: {\"pattern\":\"x\"}\n",
            "  → \u{1b}[2mfound\u{fffd}[2J\u{1b}[0m\n",
            "\u{1b}[31mError: no server\u{1b}[0m\n",
        ] {
            assert!(shown.contains(part), "{shown}");
        }
    }
}
