//! A provider whose model is told no secret.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use session_model::{Content, EmbeddedResource, ResourceBody};

use super::Redactor;
use crate::provider::{
    ModelCall, ModelMessage, ModelRequest, ModelStream, Provider, ProviderError, ProviderInfo,
};

/// Hides secrets in all that is asked.
pub struct Redacting {
    inner: Arc<dyn Provider>,
    redactor: Arc<Redactor>,
}

impl Redacting {
    /// `inner`, told what `redactor` leaves.
    #[must_use]
    pub fn new(inner: Arc<dyn Provider>, redactor: Arc<Redactor>) -> Self {
        Self { inner, redactor }
    }

    fn hide(&self, text: String) -> String {
        match self.redactor.hide(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(hidden) => hidden,
        }
    }

    /// A text that is JSON stays JSON: what is hidden in it are its texts, not their spelling.
    fn hide_json(&self, text: String) -> String {
        if self.redactor.is_plain(&text) {
            return text;
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => {
                let hidden = self.redactor.hide_value(value.clone());
                if hidden == value { text } else { hidden.to_string() }
            }
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => {
                self.hide(text)
            }
        }
    }

    fn message(&self, message: ModelMessage) -> ModelMessage {
        match message {
            ModelMessage::User(content) => {
                ModelMessage::User(content.into_iter().map(|content| self.content(content)).collect())
            }
            ModelMessage::Assistant { text, calls, kept, reasoning } => ModelMessage::Assistant {
                text: self.hide(text),
                calls: calls
                    .into_iter()
                    .map(|call| ModelCall { arguments: self.hide_json(call.arguments), ..call })
                    .collect(),
                kept,
                reasoning: self.hide(reasoning),
            },
            ModelMessage::ToolResult { call_id, name, output } => {
                ModelMessage::ToolResult { call_id, name, output: self.hide_json(output) }
            }
        }
    }

    fn content(&self, content: Content) -> Content {
        match content {
            Content::Text { text } => Content::Text { text: self.hide(text) },
            Content::Resource(EmbeddedResource { body: ResourceBody::Text(text), uri, mime_type }) => {
                let body = ResourceBody::Text(self.hide(text));
                Content::Resource(EmbeddedResource { body, uri, mime_type })
            }
            Content::Resource(EmbeddedResource { body: ResourceBody::Blob(_), .. })
            | Content::Image { .. }
            | Content::Audio { .. }
            | Content::Link(_) => content,
        }
    }
}

impl std::fmt::Debug for Redacting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redacting").field("provider", &self.inner.info()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for Redacting {
    fn info(&self) -> ProviderInfo {
        self.inner.info()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ProviderError> {
        let request = ModelRequest {
            system: self.hide(request.system),
            messages: request.messages.into_iter().map(|message| self.message(message)).collect(),
            tools: request.tools,
            effort: request.effort,
        };
        self.inner.stream(request).await
    }

    fn hears(&self, mime_type: &str) -> bool {
        self.inner.hears(mime_type)
    }

    fn take_notices(&self) -> Vec<String> {
        self.inner.take_notices()
    }

    async fn noticed(&self) {
        self.inner.noticed().await;
    }
}
