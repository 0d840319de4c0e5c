//! Writing the conversation out.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use session_model::{GrantScope, SessionId};

use super::{Rig, scopes};
use crate::tools::export_session::{ExportSession, Form, Transcripts};

#[derive(Debug)]
struct Kept;

#[async_trait]
impl Transcripts for Kept {
    async fn document(&self, session: &SessionId, form: Form) -> Result<String, String> {
        Ok(format!("{session} as {form:?}"))
    }
}

fn rig() -> Rig {
    let mut rig = Rig::new();
    rig.registry = rig.registry.clone().with(ExportSession::new(Arc::new(Kept)));
    rig
}

#[tokio::test]
async fn a_conversation_becomes_a_new_file_once_that_is_allowed() {
    let rig = rig();
    let plan = rig.plan("export_session", json!({})).await.unwrap();
    assert_eq!(plan.title, "export_session: milk-session.txt");
    assert_eq!(scopes(&plan), Some(&[GrantScope::Tool][..]));
    assert_eq!(rig.ok("export_session", json!({})).await, "wrote 9 bytes to milk-session.txt");
    assert_eq!(rig.read("milk-session.txt"), "s as Text");
    rig.ok("export_session", json!({"format": "json", "output_path": "new/talk.json"})).await;
    assert_eq!(rig.read("new/talk.json"), "s as Json");
    let plan = rig.plan("export_session", json!({"output_path": rig.outside("far.txt")})).await.unwrap();
    assert!(matches!(scopes(&plan), Some([GrantScope::Tool, GrantScope::Outside(_)])), "{plan:?}");
}

#[tokio::test]
async fn nothing_that_is_there_is_replaced() {
    let rig = rig();
    rig.write("kept.txt", "mine");
    rig.write("folder/a", "a");
    for (path, why) in
        [("kept.txt", "exists already"), ("folder", "exists already"), ("folder/", "exists already")]
    {
        let refused = rig.refused("export_session", json!({"output_path": path})).await;
        assert!(refused.contains(why), "{path}: {refused}");
    }
    let refused = rig.refused("export_session", json!({"format": "xml"})).await;
    assert_eq!(refused, "`format` is `text` or `json`, not `xml`");
    assert_eq!(rig.read("kept.txt"), "mine");
    // A call whose place was made between its plan and its run.
    let args = json!({"output_path": "late.txt"});
    let plan = rig.plan("export_session", args.clone()).await.unwrap();
    rig.write("late.txt", "mine");
    let cx = rig.cx().for_plan(&plan);
    let output = rig.tool("export_session").run(super::members(args), cx).await;
    assert!(output.error.unwrap().contains("exists already"));
    assert_eq!(rig.read("late.txt"), "mine");
}
