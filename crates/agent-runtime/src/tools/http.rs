//! `http_get` and `http_request`: ask a server of the internet. Machines that are not public are not reached, by
//! whatever name or redirection, unless a rule names them; see [`super::fetch`] for how.

use std::fmt::Write as _;

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Map, Value, json};
use session_model::{GrantScope, ToolKind};

use super::address::host_of;
use super::fetch::{self, Wanted};
use super::support::{spec, title};
use super::text::is_deceptive;
use super::{Approval, ApprovalAsk, Args, CallPlan, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};

/// Bytes of an answer that are told, unless more or less is wanted.
const DEFAULT_BYTES: u64 = 8192;
/// The most that can be wanted.
const MAX_BYTES: u64 = 64 * 1024;
/// Bytes of a body that is sent.
const MAX_BODY: usize = 1024 * 1024;
/// Characters of a body that a question shows.
const SHOWN_BODY: usize = 2000;

/// Headers that belong to the connection and not to the request.
const REFUSED_HEADERS: [&str; 10] = [
    "host",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "content-length",
    "expect",
    "accept-encoding",
];

/// The tools.
#[derive(Debug)]
pub(crate) struct Http {
    spec: ToolSpec,
    any_method: bool,
}

impl Http {
    /// `http_get`.
    pub(crate) fn get() -> Self {
        let about = "Fetches an http or https address by GET. A page of HTML is told as text. Redirections to another \
                     host are told and not followed.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "description": "The address."},
                "max_bytes": max_bytes_schema(),
                "raw": {"type": "boolean", "description": "HTML as it is, not as text."}
            },
            "required": ["url"]
        });
        Self { spec: spec("http_get", ToolKind::Fetch, true, about, parameters), any_method: false }
    }

    /// `http_request`.
    pub(crate) fn request() -> Self {
        let about = "Sends an HTTP request and returns the answer. A page of HTML is told as text. Redirections to \
                     another host are told and not followed.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "method": {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "description": "GET when absent."},
                "url": {"type": "string", "description": "The address."},
                "headers": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Further headers."},
                "body": {"type": "string", "description": "What is sent."},
                "max_bytes": max_bytes_schema(),
                "raw": {"type": "boolean", "description": "HTML as it is, not as text."}
            },
            "required": ["url"]
        });
        Self { spec: spec("http_request", ToolKind::Fetch, false, about, parameters), any_method: true }
    }

    fn wanted(&self, args: &Map<String, Value>) -> Result<Wanted, String> {
        let members = args;
        let args = Args::new(args);
        let url = url_of(&args.string("url")?)?;
        let bytes = args.optional_count("max_bytes")?.filter(|bytes| *bytes > 0).unwrap_or(DEFAULT_BYTES);
        let mut wanted = Wanted {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
            max_bytes: usize::try_from(bytes.min(MAX_BYTES)).unwrap_or(usize::MAX),
            raw: args.flag("raw", false)?,
        };
        if !self.any_method {
            return Ok(wanted);
        }
        if let Some(method) = args.optional_string("method")? {
            wanted.method = method_of(&method)?;
        }
        wanted.headers = headers_of(members.get("headers"))?;
        wanted.body = args.optional_string("body")?.filter(|body| !body.is_empty());
        if wanted.body.as_ref().is_some_and(|body| body.len() > MAX_BODY) {
            return Err(format!("`body` is longer than {MAX_BODY} bytes"));
        }
        Ok(wanted)
    }
}

fn max_bytes_schema() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": MAX_BYTES,
        "description": "How much of the answer is told; 8192 when absent, at most 65536."
    })
}

fn url_of(text: &str) -> Result<Url, String> {
    let text = text.trim();
    if text.chars().any(is_deceptive) {
        return Err("`url` contains invisible or control characters".to_owned());
    }
    let url = Url::parse(text).map_err(|error| format!("`url` is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`url` has the scheme {}; only http and https are asked", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("`url` has a user name in it; send it as a header".to_owned());
    }
    host_of(&url).ok_or("`url` has no host")?;
    Ok(url)
}

fn method_of(text: &str) -> Result<Method, String> {
    const KNOWN: [Method; 7] = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    let known = KNOWN.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text.trim()));
    known
        .ok_or_else(|| format!("`method` must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, not {text}"))
}

fn headers_of(given: Option<&Value>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let members = match given {
        None | Some(Value::Null) => return Ok(headers),
        Some(Value::Object(members)) => members.clone(),
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|_| "`headers` must be an object".to_owned())?
        }
        Some(_) => return Err("`headers` must be an object".to_owned()),
    };
    for (name, value) in &members {
        let header =
            HeaderName::try_from(name.trim()).map_err(|_| format!("{name:?} is no header's name"))?;
        if REFUSED_HEADERS.contains(&header.as_str()) || header.as_str().starts_with("proxy-") {
            return Err(format!("the header {name} is not for requests to set"));
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value =
            HeaderValue::try_from(text.trim()).map_err(|_| format!("the header {name} has a bad value"))?;
        headers.insert(header, value);
    }
    Ok(headers)
}

#[async_trait]
impl Tool for Http {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn plan(&self, args: &Map<String, Value>, _workspace: &Workspace) -> Result<CallPlan, String> {
        let wanted = self.wanted(args)?;
        let host = host_of(&wanted.url).unwrap_or_default();
        let name = &self.spec.schema.name;
        let line = if self.any_method {
            format!("{} {}", wanted.method, wanted.url)
        } else {
            wanted.url.to_string()
        };
        let mut description = format!("asks {host}: {line}");
        for (header, value) in &wanted.headers {
            // Writing to a string cannot fail.
            let _ = write!(description, "\n{header}: {}", String::from_utf8_lossy(value.as_bytes()));
        }
        if let Some(body) = &wanted.body {
            let _ = write!(description, "\nsends: {}", super::text::head(body, SHOWN_BODY));
        }
        // What is sent may be anything, so that only looking is for always.
        let looks = wanted.method.is_safe() && wanted.body.is_none() && wanted.headers.is_empty();
        let scopes = if looks { vec![GrantScope::Host(host)] } else { Vec::new() };
        Ok(CallPlan {
            title: title(name, &line),
            locations: Vec::new(),
            approval: Approval::Ask(ApprovalAsk { description, scopes }),
            preview: Vec::new(),
        })
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        match self.wanted(&args) {
            Ok(wanted) => fetch::fetch(wanted, &cx).await,
            Err(reason) => ToolOutput::failed(reason),
        }
    }
}
