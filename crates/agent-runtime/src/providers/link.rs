//! Sends a request until an answer begins: credentials, back-off, and doing without what a server refuses.
//! Nothing is sent again once a token has been seen. Dropping the future stops it at any point.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};
use serde_json::Value;
use session_model::source::Clock;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::auth::{Auth, Credentials, Secret};
use super::aws::{self, Signed};
use super::endpoint::{Endpoint, shown};
use super::error::{self, Failure};
use super::http::{CONNECT_TIMEOUT, HttpClients, TlsOptions, read_some, root_cause};
use super::learn;
use super::patience::{self, Wait};
use super::reader::{Answer, Reader};
use super::reading::Reading;
use super::tls_fault::tls_fault;
use crate::provider::ProviderError;

/// How long a server may be silent: before its answer begins and between any two pieces of it.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(5);

/// How often a request that failed for the moment is sent again.
pub const RETRIES: u32 = 2;

/// The most bytes read of the body of a refusal.
const MAX_REFUSAL: usize = 64 * 1024;

/// Shorter values of headers are no secrets, and replacing them would garble words.
const LEAST_SECRET: usize = 6;

/// The most bytes read of a list of models.
const MAX_LISTING: usize = 4 * 1024 * 1024;

/// What to do about signatures that are refused.
const UNSIGNED: &str = "; check `aws_key_id`, `aws_secret` and `aws_region` or `aws_refresh_cmd`, and whether the account may use the \
                        model";

/// Everything that stays the same while a request is tried.
struct Route {
    client: Client,
    endpoint: Endpoint,
    headers: HeaderMap,
}

/// A failure with what it takes to decide on the next step.
enum Refusal {
    Credentials(ProviderError),
    Status { status: u16, message: String, failure: Failure },
    Other(Failure),
}

/// Where an agent's requests go and how.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The agent's name, for errors.
    pub agent: String,
    /// The server; with or without `/v1`, a closing slash or the whole path.
    pub url: String,
    /// The path of the endpoint where it is not the API's own.
    pub path: Option<String>,
    /// Headers added to every request; they replace ours of the same name.
    pub headers: BTreeMap<String, String>,
    /// The credentials.
    pub auth: Auth,
    /// Certificates.
    pub tls: TlsOptions,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// See [`IDLE_TIMEOUT`].
    pub idle_timeout: Duration,
    /// See [`RETRIES`].
    pub retries: u32,
    /// The clients to share with other providers.
    pub clients: HttpClients,
    /// What dates signatures.
    pub clock: Option<Arc<dyn Clock>>,
}

impl ServerConfig {
    /// An agent called `agent` at `url`, everything else at its default.
    #[must_use]
    pub fn new(agent: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            url: url.into(),
            path: None,
            headers: BTreeMap::new(),
            auth: Auth::None,
            tls: TlsOptions::default(),
            connect_timeout: CONNECT_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            retries: RETRIES,
            clients: HttpClients::default(),
            clock: None,
        }
    }
}

/// What tells one API from another on the way to it.
#[derive(Debug)]
pub(super) struct Api {
    /// What its addresses end in.
    pub(super) tail: &'static str,
    /// The header that carries a credential, and what it carries.
    pub(super) credential: fn(&Secret) -> (HeaderName, String),
    /// Further headers.
    pub(super) headers: &'static [(&'static str, &'static str)],
}

/// The usual form of a credential.
pub(super) fn bearer(token: &Secret) -> (HeaderName, String) {
    (AUTHORIZATION, format!("Bearer {}", token.reveal()))
}

/// One request, to be worded as often as it takes.
pub(super) trait Question: Sync {
    /// What reads the answer.
    type Answer: Answer;

    /// The request's body, `without` the optional parts that the server refuses.
    ///
    /// # Errors
    /// It cannot be written.
    fn word(&self, without: &BTreeSet<String>) -> Result<Worded, serde_json::Error>;

    /// Whether a refusal tells how to ask differently; what it told is remembered then.
    fn learn(&self, _status: u16, _message: &str) -> bool {
        false
    }

    /// A reader for one answer.
    fn reader(&self) -> Reader<Self::Answer>;

    /// The model that is asked for, where one is.
    fn model(&self) -> Option<&str>;
}

/// The body of a request.
#[derive(Debug)]
pub(super) struct Worded {
    pub(super) json: Vec<u8>,
    /// The optional parts that it has, by name.
    pub(super) optional: Vec<String>,
}

/// The way to one agent's server, with what was learned about it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) config: ServerConfig,
    api: &'static Api,
    credentials: Credentials,
    /// The optional parts of a request that the server has refused.
    refused: Mutex<BTreeSet<String>>,
    notices: Mutex<Vec<String>>,
    /// There are notices.
    noticed: Notify,
}

impl Link {
    /// Sets up; connects to nothing yet.
    pub(super) fn new(config: ServerConfig, api: &'static Api) -> Self {
        let credentials = Credentials::new(config.auth.clone());
        let (refused, notices) = (Mutex::default(), Mutex::default());
        Self { config, api, credentials, refused, notices, noticed: Notify::new() }
    }

    /// What the user should be told once. Taken, not copied.
    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns once there is something to tell while a request is under way.
    pub(super) async fn noticed(&self) {
        self.noticed.notified().await;
    }

    fn notice(&self, notice: String) {
        tracing::warn!("{notice}");
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        self.noticed.notify_one();
    }

    /// Asks until an answer begins.
    pub(super) async fn begin<Q: Question>(&self, question: &Q) -> Result<Reading<Q::Answer>, ProviderError> {
        let route = self.route().await?;
        let mut wait = Wait::new(self.config.retries);
        let mut has_new_token = false;
        loop {
            let without = self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let worded = question.word(&without);
            let Worded { json, optional } =
                worded.map_err(|cause| self.wrong(format!("the request cannot be written: {cause}")))?;
            let refusal = match self.attempt(&route, question, json).await {
                Ok(reading) => return Ok(reading),
                Err(refusal) => refusal,
            };
            let failure = match refusal {
                Refusal::Credentials(_) if !has_new_token && self.credentials.forget() => {
                    has_new_token = true;
                    continue;
                }
                Refusal::Credentials(error) => return Err(error),
                Refusal::Status { status, message, failure } => {
                    if question.learn(status, &message) {
                        continue;
                    }
                    if let Some(part) = learn::refused(status, &message, &optional) {
                        self.do_without(part, &without);
                        continue;
                    }
                    if patience::is_loading(status, &message)
                        && let Some(pause) = wait.for_loading()
                    {
                        self.say_that_it_loads(wait.is_first_of_loading());
                        sleep(pause).await;
                        continue;
                    }
                    failure
                }
                Refusal::Other(failure) => failure,
            };
            match wait.after(&failure) {
                Some(pause) => sleep(pause).await,
                None => return Err(failure.error),
            }
        }
    }

    /// Waiting long without a word would look like being stuck.
    fn say_that_it_loads(&self, is_first: bool) {
        if is_first {
            self.notice(format!("{}: the server is loading its model; waiting for it", self.config.agent));
        }
    }

    fn wrong(&self, reason: String) -> ProviderError {
        ProviderError::Misconfigured { agent: self.config.agent.clone(), reason }
    }

    /// Where requests go and models are listed.
    pub(super) fn endpoint(&self) -> Result<Endpoint, ProviderError> {
        let ServerConfig { url, path, .. } = &self.config;
        Endpoint::resolve(url, path.as_deref(), self.api.tail).map_err(|reason| self.wrong(reason))
    }

    async fn route(&self) -> Result<Route, ProviderError> {
        let config = &self.config;
        let endpoint = self.endpoint()?;
        let client = config.clients.client(&endpoint.requests, &config.tls, config.connect_timeout);
        let client = client.await.map_err(|reason| self.wrong(reason))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        for (name, value) in self.api.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        Ok(Route { client, endpoint, headers })
    }

    /// The headers of one attempt: ours, the credential, the configured ones.
    async fn headers(&self, route: &Route) -> Result<HeaderMap, ProviderError> {
        let mut headers = route.headers.clone();
        if let Some(token) = self.credentials.token().await.map_err(|reason| self.wrong(reason))? {
            let (name, value) = (self.api.credential)(&token);
            let value = HeaderValue::from_str(&value);
            let mut value =
                value.map_err(|_| self.wrong("the key holds characters no header can".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        for (name, value) in &self.config.headers {
            let unusable = || self.wrong(format!("the header `{name}` is not usable"));
            let key = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| unusable())?;
            let mut value = HeaderValue::from_str(value.trim()).map_err(|_| unusable())?;
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        Ok(headers)
    }

    /// Signs a request, where that is how it is done.
    async fn sign(&self, url: &Url, body: &[u8], headers: &mut HeaderMap) -> Result<(), ProviderError> {
        let keys = self.credentials.keys().await.map_err(|reason| self.wrong(reason))?;
        let Some((auth, keys)) = keys else { return Ok(()) };
        let no_clock = || self.wrong("there is no clock to date signatures by".to_owned());
        let at = self.config.clock.as_ref().ok_or_else(no_clock)?.now();
        let signed = Signed { url, body, at };
        aws::sign(auth, &keys, signed, headers).map_err(|reason| self.wrong(reason))
    }

    /// A JSON answer to `GET url` with the agent's credentials; nothing for any other.
    pub(super) async fn get(&self, url: &Url) -> Option<Value> {
        let route = self.route().await.ok()?;
        let headers = self.headers(&route).await.ok()?;
        let response = route.client.get(url.clone()).headers(headers).send().await.ok()?;
        let is_success = response.status().is_success();
        let body = read_some(response, MAX_LISTING).await;
        if is_success { serde_json::from_slice(&body).ok() } else { None }
    }

    /// Whether the server has refused this optional part.
    pub(super) fn refuses(&self, part: &str) -> bool {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).contains(part)
    }

    async fn attempt<Q: Question>(
        &self,
        route: &Route,
        question: &Q,
        json: Vec<u8>,
    ) -> Result<Reading<Q::Answer>, Refusal> {
        let lasting = |error| Refusal::Other(Failure::lasting(error));
        let mut headers = self.headers(route).await.map_err(lasting)?;
        self.sign(&route.endpoint.requests, &json, &mut headers).await.map_err(lasting)?;
        let sent = route.client.post(route.endpoint.requests.clone()).headers(headers).body(json).send();
        let response = match timeout(self.config.idle_timeout, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(cause)) => {
                return Err(Refusal::Other(self.unsent(&cause, &route.endpoint.requests, question.model())));
            }
            Err(_) => return Err(Refusal::Other(Failure::lasting(self.timed_out()))),
        };
        if !response.status().is_success() {
            return Err(self.refusal(response, &route.endpoint.requests, question.model()).await);
        }
        let (agent, idle) = (&self.config.agent, self.config.idle_timeout);
        let mut reading = Reading::new(response, question.reader(), agent, idle);
        reading.begin().await.map_err(Refusal::Other)?;
        Ok(reading)
    }

    fn unsent(&self, cause: &reqwest::Error, url: &Url, model: Option<&str>) -> Failure {
        let agent = self.config.agent.clone();
        if let Some(reason) = tls_fault(cause) {
            return Failure::lasting(ProviderError::Untrusted { agent, url: shown(url), reason });
        }
        if !cause.is_connect() && !cause.is_builder() {
            return error::truncated(&agent, &root_cause(cause));
        }
        let reason = if cause.is_timeout() {
            format!("no connection within {} s", self.config.connect_timeout.as_secs())
        } else {
            root_cause(cause)
        };
        let reason = match model {
            Some(model) => format!("{reason} (for the model {model})"),
            None => reason,
        };
        Failure::lasting(ProviderError::Unreachable { agent, url: shown(url), reason })
    }

    fn timed_out(&self) -> ProviderError {
        let seconds = self.config.idle_timeout.as_secs();
        ProviderError::TimedOut { agent: self.config.agent.clone(), seconds }
    }

    async fn refusal(&self, response: Response, url: &Url, model: Option<&str>) -> Refusal {
        let status = response.status().as_u16();
        let agent = self.config.agent.clone();
        let headers = response.headers().clone();
        let location = headers.get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = read_some(response, MAX_REFUSAL).await;
        if matches!(status, 401 | 403) && self.credentials.signs() {
            // Also whoever may not use this model is told so by this status.
            let message = format!("{}{UNSIGNED}", error::message_of(&body));
            return Refusal::Credentials(ProviderError::Status { agent, status, message });
        }
        if matches!(status, 401 | 403) {
            return Refusal::Credentials(ProviderError::Unauthorized { agent, url: shown(url), status });
        }
        let mut message = self.without_credential(error::message_of(&body)).await;
        if (300..400).contains(&status)
            && let Some(to) = location
        {
            let to = url.join(&to).map_or(to, |to| shown(&to));
            message = format!("it redirects to {to}; set the agent's `url` to where the API is");
        }
        let retry_after = patience::retry_after(&headers, &message);
        // A quota that comes back in a moment is a rate limit by another name.
        let is_transient = error::is_transient(status, &message) || (status == 429 && retry_after.is_some());
        let remedy = error::remedy(status, &message);
        let place = if status == 404 || status >= 500 { place(url, model) } else { String::new() };
        let told = format!("{message}{place}{remedy}");
        let error = ProviderError::Status { agent, status, message: told };
        Refusal::Status { status, message, failure: Failure { error, is_transient, retry_after } }
    }

    /// Servers repeat keys in their refusals.
    async fn without_credential(&self, message: String) -> String {
        // It was at hand for the request.
        let token = self.credentials.token().await.ok().flatten();
        let headers = self.config.headers.values().map(|value| value.trim());
        let secrets = token.iter().map(Secret::reveal).chain(headers);
        secrets
            .filter(|secret| secret.len() >= LEAST_SECRET)
            .fold(message, |message, secret| message.replace(secret, "***"))
    }

    /// Remembers that the server refuses `part`, and tells the user once.
    fn do_without(&self, part: &str, known: &BTreeSet<String>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(part) || !refused.insert(part.to_owned()) {
            return;
        }
        let agent = &self.config.agent;
        self.notice(format!("{agent}: the server does not support `{part}`; going on without it"));
    }
}

/// Where a model was asked, for failures that are about the place or the model.
fn place(url: &Url, model: Option<&str>) -> String {
    let model = model.map(|model| format!("model {model} ")).unwrap_or_default();
    format!(" ({model}at {})", shown(url))
}
