//! A server that is still loading its model.

use milk_tests::mock_openai::Reply;
use milk_tests::schema::Version;
use serde_json::json;

use super::{APIS, Say, Scene, Stop, answer, end, told};

fn loading() -> Reply {
    let error = json!({ "error": { "code": 503, "message": "Loading model", "type": "unavailable_error" } });
    Reply::error(503, &error)
}

const NOTICE: &str = "local: the server is loading its model; waiting for it";

#[tokio::test]
async fn a_loading_model_is_waited_for_and_the_user_sees_it() {
    for version in Version::BOTH {
        for api in APIS {
            let scene = Scene::new(api).await;
            scene.mock.script([loading(), answer(api, &[Say::Text("ok")], Stop::Whole)]);
            let (mut client, session) = scene.session(version).await;
            let id = client.prompt(&session, "hi").await;
            assert_eq!(client.update("notice").await["title"], NOTICE, "{api}");
            assert!(!client.is_answered(&id), "{api}: it is told while it waits");
            assert_eq!(scene.mock.chats().len(), 1, "{api}");
            assert_eq!(end(&mut client, &id).await, Ok("end_turn".to_owned()), "{api}");
            assert!(told(&mut client).contains(&"text ok".to_owned()), "{api}");
            client.finish().await;
        }
    }
}

#[tokio::test]
async fn a_cancel_ends_the_wait_for_a_model() {
    for version in Version::BOTH {
        let scene = Scene::new("chat_completions").await;
        scene.mock.respond(|_| loading());
        let (mut client, session) = scene.session(version).await;
        let id = client.prompt(&session, "hi").await;
        client.update("notice").await;
        client.cancel(&session).await;
        assert_eq!(end(&mut client, &id).await, Ok("cancelled".to_owned()));
        assert_eq!(scene.mock.chats().len(), 1, "at once");
        client.finish().await;
    }
}
