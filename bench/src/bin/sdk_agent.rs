//! The official SDK's connection with the least agent on it: a prompt that says "N chunks" is answered with N chunks.
//! It calls no model and keeps nothing; what it costs is the SDK.

use std::sync::atomic::{AtomicU64, Ordering};

use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use agent_client_protocol::{Agent, Result, Stdio};

static SESSIONS: AtomicU64 = AtomicU64::new(0);

fn chunks(prompt: &[ContentBlock]) -> usize {
    let text = prompt.iter().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    text.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    Agent
        .v1()
        .name("sdk-agent")
        .on_receive_request(
            async move |initialize: InitializeRequest, responder, _connection| {
                responder.respond(
                    InitializeResponse::new(initialize.protocol_version)
                        .agent_capabilities(AgentCapabilities::new()),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _connection| {
                let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
                responder.respond(NewSessionResponse::new(format!("session-{number}")))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, connection| {
                for _ in 0..chunks(&prompt.prompt) {
                    let chunk = ContentChunk::new("word ".into());
                    let update = SessionUpdate::AgentMessageChunk(chunk);
                    connection
                        .send_notification(SessionNotification::new(prompt.session_id.clone(), update))?;
                }
                responder.respond(PromptResponse::new(StopReason::EndTurn))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}
