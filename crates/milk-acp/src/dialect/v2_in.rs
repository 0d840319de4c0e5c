//! Reads what a client of version 2 sends. Knows neither what becomes of a command nor the sibling version.

use acp_rpc::{Params, RpcError};
use acp_wire::v2;
use session_model::{
    Content, EmbeddedResource, OptionInput, ResourceBody, ResourceLink, SessionId, ToolCallId,
};

use super::decode;
use crate::command::{
    Ack, ClientFeatures, Command, DeleteSession, NewSession, Notice, OpenSession, Prompt, Replay, SetOption,
};
use crate::negotiate::PromptFeatures;

/// What a connection of version 2 settled.
#[derive(Debug, Clone)]
pub struct V2 {
    /// What the client can do.
    pub(super) features: ClientFeatures,
    /// What prompts may hold.
    pub(super) prompt: PromptFeatures,
    /// When prompts that say nothing about it are answered.
    pub(super) ack: Ack,
}

impl V2 {
    pub(super) fn request(&self, method: &str, params: &Params) -> Result<Command, RpcError> {
        match method {
            "session/new" => new_session(params),
            "session/resume" => resume_session(params),
            "session/list" => {
                let request: v2::ListSessionsRequest = params.parse()?;
                let cwd = request.cwd.as_ref().map(v2::AbsolutePath::as_str);
                let cursor = request.cursor.as_ref().map(v2::SessionListCursor::as_str);
                decode::list(cwd, cursor).map(Command::ListSessions)
            }
            "session/close" => {
                let request: v2::CloseSessionRequest = params.parse()?;
                Ok(Command::CloseSession(SessionId::new(request.session_id.as_str())))
            }
            "session/delete" => delete_session(params),
            "session/prompt" => self.prompt(params),
            "session/set_config_option" => set_option(params),
            "tool_call/cancel" | "terminal/cancel" => {
                let (session, call) = cancelled_call(method, params)?;
                Ok(Command::CancelCall(session, call))
            }
            unknown => Err(RpcError::method_not_found(unknown)),
        }
    }

    fn prompt(&self, params: &Params) -> Result<Command, RpcError> {
        let request: v2::PromptRequest = params.parse()?;
        let session = decode::session(request.session_id.as_str())?;
        if request.prompt.is_empty() {
            return Err(decode::empty_prompt());
        }
        let key = request.idempotency_key.map(|key| key.as_str().to_owned());
        let ack = match key {
            Some(_) => Ack::Insertion,
            None => decode::ack(request.meta.as_ref()).unwrap_or(self.ack),
        };
        let content = request.prompt.into_iter().enumerate();
        let content = content.map(|(index, block)| self.content(index, block)).collect::<Result<_, _>>()?;
        Ok(Command::Prompt(Prompt { session, content, ack, key }))
    }

    fn content(&self, index: usize, block: v2::ContentBlock) -> Result<Content, RpcError> {
        match block {
            v2::ContentBlock::Text(text) => Ok(Content::Text { text: text.text }),
            v2::ContentBlock::ResourceLink(link) => Ok(Content::Link(ResourceLink {
                uri: link.uri,
                name: link.name,
                title: link.title,
                description: link.description,
                mime_type: link.mime_type.map(String::from),
                size: link.size.and_then(|size| i64::try_from(size).ok()),
            })),
            v2::ContentBlock::Image(image) if self.prompt.image => {
                Ok(Content::Image { data: image.data, mime_type: image.mime_type.into(), uri: image.uri })
            }
            v2::ContentBlock::Audio(audio) if self.prompt.audio => {
                Ok(Content::Audio { data: audio.data, mime_type: audio.mime_type.into() })
            }
            v2::ContentBlock::Resource(resource) if self.prompt.embedded_context => {
                Ok(Content::Resource(embedded(resource.resource)))
            }
            v2::ContentBlock::Image(_) => Err(decode::unadvertised(index, "image")),
            v2::ContentBlock::Audio(_) => Err(decode::unadvertised(index, "audio")),
            v2::ContentBlock::Resource(_) => Err(decode::unadvertised(index, "resource")),
            v2::ContentBlock::Other(other) => Err(decode::unadvertised(index, other.tag())),
        }
    }
}

pub(super) fn notification(method: &str, params: &Params) -> Option<Notice> {
    match method {
        "session/cancel" => {
            let cancel: v2::CancelSessionNotification = params.parse().ok()?;
            Some(Notice::Cancel(SessionId::new(cancel.session_id.as_str())))
        }
        "tool_call/cancel" | "terminal/cancel" => {
            let (session, call) = cancelled_call(method, params).ok()?;
            Some(Notice::CancelCall(session, call))
        }
        _ => None,
    }
}

/// The call that is to end. A terminal of ours bears the name of the call that uses it.
fn cancelled_call(method: &str, params: &Params) -> Result<(SessionId, ToolCallId), RpcError> {
    if method == "terminal/cancel" {
        let request: v2::CancelTerminalRequest = params.parse()?;
        let session = decode::session(request.session_id.as_str())?;
        return Ok((session, ToolCallId::new(request.terminal_id.as_str())));
    }
    let request: v2::CancelToolCallRequest = params.parse()?;
    Ok((decode::session(request.session_id.as_str())?, ToolCallId::new(request.tool_call_id.as_str())))
}

fn new_session(params: &Params) -> Result<Command, RpcError> {
    let request: v2::NewSessionRequest = params.parse()?;
    Ok(Command::NewSession(NewSession {
        cwd: decode::cwd(request.cwd.as_str())?,
        additional_directories: directories(&request.additional_directories)?,
        fresh: decode::fresh(request.meta.as_ref()),
        mcp_servers: servers(&request.mcp_servers)?,
    }))
}

fn resume_session(params: &Params) -> Result<Command, RpcError> {
    let request: v2::ResumeSessionRequest = params.parse()?;
    let replay = match request.replay_from {
        None => Replay::Nothing,
        Some(v2::ReplayFrom::Start(_)) => Replay::Window,
        Some(v2::ReplayFrom::Other(other)) => {
            let kind = super::limit::head(other.tag(), 80);
            return Err(decode::invalid(format!(
                "`replayFrom` is of the unknown type {kind}; send {{\"type\":\"start\"}}, or leave it out to replay nothing"
            )));
        }
    };
    Ok(Command::OpenSession(OpenSession {
        session: decode::session(request.session_id.as_str())?,
        cwd: decode::cwd(request.cwd.as_str())?,
        additional_directories: directories(&request.additional_directories)?,
        replay,
        mcp_servers: servers(&request.mcp_servers)?,
    }))
}

/// An unambiguous beginning of an id is enough (milk's contract), so that what fits nothing is an error.
fn delete_session(params: &Params) -> Result<Command, RpcError> {
    let request: v2::DeleteSessionRequest = params.parse()?;
    let session = decode::session(request.session_id.as_str())?;
    Ok(Command::DeleteSession(DeleteSession {
        reference: session.as_str().to_owned(),
        by_prefix: true,
        missing_ok: false,
    }))
}

fn set_option(params: &Params) -> Result<Command, RpcError> {
    let request: v2::SetSessionConfigOptionRequest = params.parse()?;
    let value = match request.value {
        v2::SessionConfigOptionValue::Boolean(on) => OptionInput::Toggle(on),
        v2::SessionConfigOptionValue::Id(value) => OptionInput::Choice(value.as_str().to_owned()),
        v2::SessionConfigOptionValue::Other(other) => {
            let kind = super::limit::head(other.tag(), 80);
            return Err(decode::invalid(format!(
                "`type` {kind} is unknown; send id or boolean, as the option is"
            )));
        }
    };
    Ok(Command::SetOption(SetOption {
        session: decode::session(request.session_id.as_str())?,
        option: request.config_id.as_str().to_owned(),
        value,
        bare: false,
    }))
}

fn directories(list: &[v2::AbsolutePath]) -> Result<Vec<String>, RpcError> {
    decode::directories(list.iter().map(v2::AbsolutePath::as_str))
}

/// The servers' names. Every transport must be advertised, and none is.
fn servers(list: &[v2::McpServer]) -> Result<Vec<String>, RpcError> {
    let refuse = |(index, server): (usize, &v2::McpServer)| match server {
        v2::McpServer::Stdio(server) => decode::transport(index, &server.name, "stdio"),
        v2::McpServer::Http(server) => decode::transport(index, &server.name, "http"),
        v2::McpServer::Other(server) => {
            let name = server.fields().get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
            decode::transport(index, name, server.tag())
        }
    };
    list.iter().enumerate().next().map_or_else(|| Ok(Vec::new()), |first| Err(refuse(first)))
}

fn embedded(resource: v2::EmbeddedResourceResource) -> EmbeddedResource {
    match resource {
        v2::EmbeddedResourceResource::TextResourceContents(text) => EmbeddedResource {
            uri: text.uri,
            mime_type: text.mime_type.map(String::from),
            body: ResourceBody::Text(text.text),
        },
        v2::EmbeddedResourceResource::BlobResourceContents(blob) => EmbeddedResource {
            uri: blob.uri,
            mime_type: blob.mime_type.map(String::from),
            body: ResourceBody::Blob(blob.blob),
        },
    }
}
