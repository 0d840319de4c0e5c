//! What `initialize` settles in each version: what we tell the client we can do, and what we take from what it says it
//! can. Only what works is advertised. Reading forgives: whatever is malformed counts as not said.

use acp_rpc::{Params, RpcError};
use acp_wire::{Meta, ProtocolVersion, v1, v2};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Dialect, NOTIFICATIONS, Negotiated, V1, V2, decode, result};
use crate::command::{Ack, ClientFeatures};
use crate::negotiate::ServerInfo;

/// The members of `initialize`'s parameters that matter, unread: none can make it fail.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    #[serde(borrow)]
    client_capabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// Reads one member; `None` when it is absent or malformed.
fn read<'a, T: Deserialize<'a>>(member: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(member?.get()).ok()
}

/// Version 1.
pub(crate) fn v1(params: &Params, server: &ServerInfo) -> Result<Negotiated, RpcError> {
    let said: Said<'_> = params.parse()?;
    let client: v1::ClientCapabilities = read(said.client_capabilities).unwrap_or_default();
    let features = v1_features(&client);
    let session = v1::SessionCapabilities::new()
        .list(v1::SessionListCapabilities::new())
        .delete(v1::SessionDeleteCapabilities::new())
        .resume(v1::SessionResumeCapabilities::new())
        .close(v1::SessionCloseCapabilities::new())
        .additional_directories(v1::SessionAdditionalDirectoriesCapabilities::new());
    let prompt = v1::PromptCapabilities::new()
        .image(server.prompt.image)
        .audio(server.prompt.audio)
        .embedded_context(server.prompt.embedded_context);
    let agent = v1::AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(prompt)
        .session_capabilities(session)
        .meta(milk(json!({"notifications": NOTIFICATIONS})));
    let info =
        v1::Implementation::new(server.name.as_str(), server.version.as_str()).title(server.title.clone());
    let response =
        v1::InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(agent).agent_info(info);
    let dialect = Dialect::V1(V1 { features, prompt: server.prompt, echo: server.echo_user_message });
    Ok(Negotiated { dialect, result: result(&response) })
}

/// `usage_update` and `session_info_update` came late, and some deployed clients break on a kind of update they do not
/// know. Whoever sends one of the capability groups that came later still knows them.
fn v1_features(client: &v1::ClientCapabilities) -> ClientFeatures {
    let session = client.session.as_ref();
    let elicitation = client.elicitation.as_ref();
    let booleans = session.and_then(|session| session.config_options.as_ref()?.boolean.as_ref());
    ClientFeatures {
        boolean_options: booleans.is_some(),
        notices: session.is_some_and(|session| session.notices.is_some()),
        compaction: session.is_some_and(|session| session.compaction.is_some()),
        elicit_form: elicitation.is_some_and(|elicitation| elicitation.form.is_some()),
        elicit_url: elicitation.is_some_and(|elicitation| elicitation.url.is_some()),
        read_file: client.fs.read_text_file,
        write_file: client.fs.write_text_file,
        terminal: client.terminal,
        usage: session.is_some()
            || elicitation.is_some()
            || client.plan.is_some()
            || client.subagents.is_some(),
    }
}

/// Version 2. milk's contract lets a client send its capabilities under version 1's name; the version's own goes first.
pub(crate) fn v2(params: &Params, server: &ServerInfo) -> Result<Negotiated, RpcError> {
    let said: Said<'_> = params.parse()?;
    let client: v2::ClientCapabilities =
        read(said.capabilities.or(said.client_capabilities)).unwrap_or_default();
    let meta: Option<Map<String, Value>> = read(said.meta);
    let ack = decode::ack(meta.as_ref()).unwrap_or(server.default_ack);
    let prompt = server.prompt;
    let prompts = (prompt.image || prompt.audio || prompt.embedded_context).then(|| {
        v2::PromptCapabilities::new()
            .image(prompt.image.then(v2::PromptImageCapabilities::new))
            .audio(prompt.audio.then(v2::PromptAudioCapabilities::new))
            .embedded_context(prompt.embedded_context.then(v2::PromptEmbeddedContextCapabilities::new))
    });
    let session = v2::SessionCapabilities::new()
        .prompt(prompts)
        .delete(v2::SessionDeleteCapabilities::new())
        .additional_directories(v2::SessionAdditionalDirectoriesCapabilities::new());
    let supported = [Ack::TurnEnd, Ack::Insertion].map(decode::ack_word);
    let acks = json!({"default": decode::ack_word(ack), "supported": supported});
    let agent = v2::AgentCapabilities::new()
        .session(session)
        .meta(milk(json!({"notifications": NOTIFICATIONS, "promptAck": acks})));
    let info =
        v2::Implementation::new(server.name.as_str(), server.version.as_str()).title(server.title.clone());
    let response = v2::InitializeResponse::new(ProtocolVersion::V2, info).capabilities(agent);
    let dialect = Dialect::V2(V2 { features: v2_features(&client), prompt, ack });
    Ok(Negotiated { dialect, result: result(&response) })
}

/// Settings, notices and usage are part of the version; files and terminals of the client are not.
fn v2_features(client: &v2::ClientCapabilities) -> ClientFeatures {
    let elicitation = client.elicitation.as_ref();
    ClientFeatures {
        boolean_options: true,
        notices: true,
        compaction: true,
        elicit_form: elicitation.is_some_and(|elicitation| elicitation.form.is_some()),
        elicit_url: elicitation.is_some_and(|elicitation| elicitation.url.is_some()),
        read_file: false,
        write_file: false,
        terminal: false,
        usage: true,
    }
}

fn milk(members: Value) -> Meta {
    Meta::from_iter([("milk".to_owned(), members)])
}
