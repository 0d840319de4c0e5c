//! A summary the user asked for.

use agent_runtime::scripted::Line;
use milk_tests::rig::Rig;
use milk_tests::schema::Version;

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_asked_for_stands_for_the_earlier_turns_and_the_conversation_stays_whole() {
    for version in Version::BOTH {
        let rig = Rig::new(vec![
            vec![Line::say("first answer")],
            vec![Line::say("second answer")],
            vec![Line::say("in short: it began")],
            vec![Line::say("third answer")],
        ]);
        let (mut client, session) = rig.session(version).await;
        for prompt in
            ["/compact", "first question", "second question", "/compact mind the tests", "third question"]
        {
            let id = client.prompt(&session, prompt).await;
            client.response(&id).await.expect("answered");
        }
        let requests = rig.model.requests();
        assert_eq!(requests.len(), 4, "two turns, the summary, the third turn");
        assert!(format!("{:?}", requests[2].messages).contains("mind the tests"));
        let last = format!("{:?}", requests[3].messages);
        assert!(last.contains("in short: it began") && last.contains("second question"), "{last}");
        assert!(!last.contains("first answer"), "{last}");
        let id = client.prompt(&session, "/export").await;
        client.response(&id).await.expect("answered");
        let transcript = client.finish().await;
        assert!(transcript.contains("nothing to summarise yet"));
        let export = transcript.rsplit("/export").next().expect("what followed");
        assert!(export.contains("first question") && export.contains("third answer"), "{export}");
    }
}
