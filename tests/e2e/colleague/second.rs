//! An agent that speaks version 2 only: its changes, terminals, plans and tokens, told to clients of both versions.

use milk_tests::schema::Version;
use serde_json::{Value, json};

use super::{Scene, ended};

fn update(update: &Value) -> Value {
    json!({ "update": update })
}

fn script(steps: &Value) -> Value {
    let hello =
        json!({"protocolVersion": 2, "info": {"name": "m", "version": "1"}, "capabilities": {"session": {}}});
    json!({"hello": hello, "prompts": [steps]})
}

async fn told(version: Version, steps: &Value) -> String {
    let scene = Scene::new(&script(steps));
    let (mut client, session) = scene.rig.session(version).await;
    let prompt = client.prompt(&session, "go").await;
    assert_eq!(ended(&mut client, &prompt).await.expect("answered"), "end_turn");
    client.finish().await
}

/// All updates of a transcript.
fn updates(transcript: &str) -> Vec<Value> {
    let line = |line: &str| -> Option<Value> {
        let line: Value = serde_json::from_str(line.strip_prefix("← ")?).ok()?;
        Some(line["params"]["update"].clone()).filter(Value::is_object)
    };
    transcript.lines().filter_map(line).collect()
}

#[tokio::test]
async fn a_change_has_both_sides_for_a_client_of_version_1_and_a_patch_for_one_of_version_2() {
    let patch = "diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let row = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Edit", "kind": "edit",
        "status": "completed", "content": [{"type": "diff", "changes": [{"operation": "modify", "path": "/w/a"}],
            "patch": {"format": "git_patch", "text": patch}}]});
    for version in Version::BOTH {
        let transcript = told(version, &json!([update(&row)])).await;
        let updates = updates(&transcript);
        let shown: Vec<&Value> = updates
            .iter()
            .map(|update| &update["content"][0])
            .filter(|shown| shown["type"] == "diff")
            .collect();
        let shown = shown.first().unwrap_or_else(|| panic!("no diff: {transcript}"));
        match version {
            Version::V1 => assert_eq!(
                [&shown["path"], &shown["oldText"], &shown["newText"]],
                ["/w/a", "one\ntwo\n", "one\n2\n"]
            ),
            Version::V2 => assert_eq!(shown["patch"]["text"], patch),
        }
    }
}

#[tokio::test]
async fn its_terminals_are_shown_with_what_was_printed_before_and_after() {
    let terminal = |more: Value| {
        let mut news = json!({"sessionUpdate": "terminal_update", "terminalId": "its own"});
        super::merge(&mut news, more);
        update(&news)
    };
    let steps = json!([
        terminal(json!({"command": "make", "cwd": "/w", "output": {"data": "YmVmb3JlCg=="}})),
        update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "make", "kind": "execute",
            "status": "in_progress", "content": [{"type": "terminal", "terminalId": "its own"}]})
        ),
        update(
            &json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "its own", "data": "YWZ0ZXIK"})
        ),
        terminal(json!({"exitStatus": {"exitCode": 0}})),
        update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"})),
    ]);
    for version in Version::BOTH {
        let transcript = told(version, &steps).await;
        assert!(!transcript.contains("its own"), "its names are not ours: {transcript}");
        let expected = match version {
            Version::V1 => ["before\\n", "after\\n"],
            Version::V2 => ["YmVmb3JlCg==", "YWZ0ZXIK"],
        };
        for text in expected {
            assert!(transcript.contains(text), "{text}: {transcript}");
        }
        if version == Version::V2 {
            let exit = updates(&transcript).into_iter().find(|update| update["exitStatus"].is_object());
            assert_eq!(exit.unwrap_or_default()["exitStatus"]["exitCode"], 0);
        }
    }
}

#[tokio::test]
async fn its_plans_and_the_room_in_its_context_are_told() {
    let plan = json!({"type": "items", "planId": "p", "entries": [
        {"content": "Look", "priority": "high", "status": "completed"},
        {"content": "Leap", "priority": "low", "status": "pending"},
    ]});
    let steps = json!([
        update(&json!({"sessionUpdate": "plan_update", "plan": plan})),
        update(
            &json!({"sessionUpdate": "usage_update", "used": 1200, "size": 8000, "cost": {"amount": 0.25, "currency": "USD"}})
        ),
        update(&json!({"sessionUpdate": "plan_removed", "planId": "p"})),
    ]);
    for version in Version::BOTH {
        let transcript = told(version, &steps).await;
        let updates = updates(&transcript);
        let of =
            |kind: &str| updates.iter().filter(|update| update["sessionUpdate"] == kind).collect::<Vec<_>>();
        let plans = if version == Version::V1 { of("plan") } else { of("plan_update") };
        let first = plans.first().unwrap_or_else(|| panic!("no plan: {transcript}"));
        assert!(first.to_string().contains("Look") && first.to_string().contains("Leap"), "{first}");
        match version {
            Version::V1 => assert_eq!(plans.last().map(|plan| &plan["entries"]), Some(&json!([]))),
            Version::V2 => assert_eq!(of("plan_removed").len(), 1),
        }
        let usage = of("usage_update");
        let said = usage.iter().any(|usage| usage["used"] == 1200 && usage["size"] == 8000);
        // A client of version 1 has to say that it shows it.
        assert_eq!(said, version == Version::V2, "{transcript}");
    }
}
