//! Reads what a client of version 1 sends. Knows neither what becomes of a command nor the sibling version.

use acp_rpc::{Params, RpcError};
use acp_wire::v1;
use session_model::{Content, EmbeddedResource, OptionInput, ResourceBody, ResourceLink, SessionId};

use super::decode;
use crate::command::{
    Ack, ClientFeatures, Command, DeleteSession, NewSession, Notice, OpenSession, Prompt, Replay, SetOption,
};
use crate::negotiate::PromptFeatures;

/// What a connection of version 1 settled.
#[derive(Debug, Clone)]
pub struct V1 {
    /// What the client can do.
    pub(super) features: ClientFeatures,
    /// What prompts may hold.
    pub(super) prompt: PromptFeatures,
    /// Whether the user's own message is sent back to the client that sent it.
    pub(super) echo: bool,
}

impl V1 {
    pub(super) fn request(&self, method: &str, params: &Params) -> Result<Command, RpcError> {
        match method {
            "session/new" => new_session(params),
            "session/load" => load_session(params),
            "session/resume" => resume_session(params),
            "session/list" => {
                let request: v1::ListSessionsRequest = params.parse()?;
                decode::list(request.cwd.as_deref(), request.cursor.as_deref()).map(Command::ListSessions)
            }
            "session/close" => {
                let request: v1::CloseSessionRequest = params.parse()?;
                Ok(Command::CloseSession(SessionId::new(request.session_id.as_str())))
            }
            "session/delete" => delete_session(params),
            "session/prompt" => self.prompt(params),
            "session/set_mode" => {
                let request: v1::SetSessionModeRequest = params.parse()?;
                let session = decode::session(request.session_id.as_str())?;
                let value = OptionInput::Choice(request.mode_id.as_str().to_owned());
                Ok(Command::SetOption(SetOption { session, option: "mode".to_owned(), value, bare: true }))
            }
            "session/set_config_option" => set_option(params),
            unknown => Err(RpcError::method_not_found(unknown)),
        }
    }

    fn prompt(&self, params: &Params) -> Result<Command, RpcError> {
        let request: v1::PromptRequest = params.parse()?;
        let session = decode::session(request.session_id.as_str())?;
        if request.prompt.is_empty() {
            return Err(decode::empty_prompt());
        }
        let content = request.prompt.into_iter().enumerate();
        let content = content.map(|(index, block)| self.content(index, block)).collect::<Result<_, _>>()?;
        Ok(Command::Prompt(Prompt { session, content, ack: Ack::TurnEnd, key: None }))
    }

    fn content(&self, index: usize, block: v1::ContentBlock) -> Result<Content, RpcError> {
        match block {
            v1::ContentBlock::Text(text) => Ok(Content::Text { text: text.text }),
            v1::ContentBlock::ResourceLink(link) => Ok(Content::Link(ResourceLink {
                uri: link.uri,
                name: link.name,
                title: link.title,
                description: link.description,
                mime_type: link.mime_type,
                size: link.size,
            })),
            v1::ContentBlock::Image(image) if self.prompt.image => {
                Ok(Content::Image { data: image.data, mime_type: image.mime_type, uri: image.uri })
            }
            v1::ContentBlock::Audio(audio) if self.prompt.audio => {
                Ok(Content::Audio { data: audio.data, mime_type: audio.mime_type })
            }
            v1::ContentBlock::Resource(resource) if self.prompt.embedded_context => {
                Ok(Content::Resource(embedded(resource.resource)))
            }
            v1::ContentBlock::Image(_) => Err(decode::unadvertised(index, "image")),
            v1::ContentBlock::Audio(_) => Err(decode::unadvertised(index, "audio")),
            v1::ContentBlock::Resource(_) => Err(decode::unadvertised(index, "resource")),
        }
    }
}

pub(super) fn notification(method: &str, params: &Params) -> Option<Notice> {
    match method {
        "session/cancel" => {
            let cancel: v1::CancelNotification = params.parse().ok()?;
            Some(Notice::Cancel(SessionId::new(cancel.session_id.as_str())))
        }
        _ => None,
    }
}

fn new_session(params: &Params) -> Result<Command, RpcError> {
    let request: v1::NewSessionRequest = params.parse()?;
    Ok(Command::NewSession(NewSession {
        cwd: decode::cwd(&request.cwd)?,
        additional_directories: directories(&request.additional_directories)?,
        fresh: decode::fresh(request.meta.as_ref()),
        mcp_servers: servers(&request.mcp_servers)?,
    }))
}

fn load_session(params: &Params) -> Result<Command, RpcError> {
    let request: v1::LoadSessionRequest = params.parse()?;
    Ok(Command::OpenSession(OpenSession {
        session: decode::session(request.session_id.as_str())?,
        cwd: decode::cwd(&request.cwd)?,
        additional_directories: directories(&request.additional_directories)?,
        replay: Replay::Everything,
        mcp_servers: servers(&request.mcp_servers)?,
    }))
}

fn resume_session(params: &Params) -> Result<Command, RpcError> {
    let request: v1::ResumeSessionRequest = params.parse()?;
    Ok(Command::OpenSession(OpenSession {
        session: decode::session(request.session_id.as_str())?,
        cwd: decode::cwd(&request.cwd)?,
        additional_directories: directories(&request.additional_directories)?,
        replay: Replay::Nothing,
        mcp_servers: servers(&request.mcp_servers)?,
    }))
}

/// Only exact ids: deleting what is not there succeeds, so that a beginning that fits nothing would hide a slip.
fn delete_session(params: &Params) -> Result<Command, RpcError> {
    let request: v1::DeleteSessionRequest = params.parse()?;
    let session = decode::session(request.session_id.as_str())?;
    Ok(Command::DeleteSession(DeleteSession {
        reference: session.as_str().to_owned(),
        by_prefix: false,
        missing_ok: true,
    }))
}

fn set_option(params: &Params) -> Result<Command, RpcError> {
    let request: v1::SetSessionConfigOptionRequest = params.parse()?;
    let value = match request.value {
        v1::SessionConfigOptionValue::Boolean(on) => OptionInput::Toggle(on),
        v1::SessionConfigOptionValue::ValueId(value) => OptionInput::Choice(value.as_str().to_owned()),
    };
    Ok(Command::SetOption(SetOption {
        session: decode::session(request.session_id.as_str())?,
        option: request.config_id.as_str().to_owned(),
        value,
        bare: false,
    }))
}

fn directories(list: &[String]) -> Result<Vec<String>, RpcError> {
    decode::directories(list.iter().map(String::as_str))
}

/// The servers' names. The transport over a child's standard streams is part of the version's baseline and always
/// accepted; the others must be advertised.
fn servers(list: &[v1::McpServer]) -> Result<Vec<String>, RpcError> {
    list.iter()
        .enumerate()
        .map(|(index, server)| match server {
            v1::McpServer::Stdio(server) => Ok(server.name.clone()),
            v1::McpServer::Http(server) => Err(decode::transport(index, &server.name, "http")),
            v1::McpServer::Sse(server) => Err(decode::transport(index, &server.name, "sse")),
        })
        .collect()
}

fn embedded(resource: v1::EmbeddedResourceResource) -> EmbeddedResource {
    match resource {
        v1::EmbeddedResourceResource::TextResourceContents(text) => {
            EmbeddedResource { uri: text.uri, mime_type: text.mime_type, body: ResourceBody::Text(text.text) }
        }
        v1::EmbeddedResourceResource::BlobResourceContents(blob) => {
            EmbeddedResource { uri: blob.uri, mime_type: blob.mime_type, body: ResourceBody::Blob(blob.blob) }
        }
    }
}
