//! Finds OpenAI-compatible servers on this machine, for someone who has configured nothing. Asks candidates for
//! their models, all at once and briefly; what does not answer like such a server is none. Knows nothing of
//! configuration.

use std::time::Duration;

use futures::future;
use reqwest::{Client, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::http::{HttpClients, TlsOptions};

/// Where local servers usually listen: name and URL.
pub const LOCAL_SERVERS: &[(&str, &str)] = &[
    ("ollama", "http://127.0.0.1:11434"),
    ("llama.cpp", "http://127.0.0.1:8080"),
    ("lmstudio", "http://127.0.0.1:1234"),
    ("vllm", "http://127.0.0.1:8000"),
];

/// How long detection may take as a whole.
pub const DETECT_TIMEOUT: Duration = Duration::from_millis(300);

/// The most bytes read of one answer.
const MAX_ANSWER: usize = 1024 * 1024;

/// A place to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What to call an agent there.
    pub name: String,
    /// Where, without a path.
    pub url: String,
}

impl Candidate {
    /// All of [`LOCAL_SERVERS`].
    #[must_use]
    pub fn local() -> Vec<Self> {
        let known = LOCAL_SERVERS.iter();
        known.map(|(name, url)| Self { name: (*name).to_owned(), url: (*url).to_owned() }).collect()
    }
}

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// The candidate's name.
    pub name: String,
    /// The candidate's URL.
    pub url: String,
    /// The models it serves, at least one; those made for something else than chat come last.
    pub models: Vec<String>,
    /// Tokens that the first model can hold as it is served, where the server says so.
    pub context_window: Option<u64>,
}

/// The candidates that are OpenAI-compatible servers with a model, in the order given, within `limit` in all.
pub async fn detect(candidates: &[Candidate], limit: Duration) -> Vec<Detected> {
    let clients = HttpClients::default();
    let until = Instant::now() + limit;
    let looks = candidates.iter().map(|candidate| look(&clients, candidate, until, limit));
    future::join_all(looks).await.into_iter().flatten().collect()
}

async fn look(
    clients: &HttpClients,
    candidate: &Candidate,
    until: Instant,
    limit: Duration,
) -> Option<Detected> {
    let base = Url::parse(&candidate.url).ok()?;
    let client = clients.client(&base, &TlsOptions::default(), limit).await.ok()?;
    let listing = timeout_at(until, get(&client, &base, "/v1/models")).await.ok()??;
    let models = models_in(&listing);
    if models.is_empty() {
        return None;
    }
    let context_window = match listed_context(&listing) {
        Some(tokens) => Some(tokens),
        None => timeout_at(until, served_context(&client, &base)).await.ok().flatten(),
    };
    Some(Detected { name: candidate.name.clone(), url: candidate.url.clone(), models, context_window })
}

/// A JSON answer to `GET path`; nothing for any other.
async fn get(client: &Client, base: &Url, path: &str) -> Option<Value> {
    let mut response = client.get(base.join(path).ok()?).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_ANSWER {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

/// The ids in a list of models. One entry without an id spoils the list: this is some other API then.
pub(super) fn models_in(listing: &Value) -> Vec<String> {
    let Some(entries) = listing.get("data").and_then(Value::as_array) else { return Vec::new() };
    let ids: Option<Vec<String>> =
        entries.iter().map(|entry| entry.get("id").and_then(Value::as_str).map(str::to_owned)).collect();
    let mut ids = ids.unwrap_or_default();
    ids.sort_by_key(|id| !chats(id));
    ids
}

/// Whether a model of this name is likely made for conversation.
fn chats(id: &str) -> bool {
    let id = id.to_lowercase();
    !["embed", "rerank", "whisper", "tts", "bge-"].iter().any(|mark| id.contains(mark))
}

/// The window of the first model for chat, where the list has it. The window a model was trained with is not
/// what its server gives it, and does not count.
fn listed_context(listing: &Value) -> Option<u64> {
    context_of(listing, models_in(listing).first()?)
}

fn context_of(listing: &Value, model: &str) -> Option<u64> {
    let entries = listing.get("data")?.as_array()?;
    let entry = entries.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(model))?;
    let places =
        ["/max_model_len", "/loaded_context_length", "/meta/n_ctx", "/context_window", "/context_length"];
    places.iter().find_map(|place| entry.pointer(place)?.as_u64()).filter(|tokens| *tokens > 0)
}

/// The window as llama.cpp (`/props`) or Ollama (`/api/ps`, once a model is loaded) tell it.
async fn served_context(client: &Client, base: &Url) -> Option<u64> {
    let (props, loaded) = future::join(get(client, base, "/props"), get(client, base, "/api/ps")).await;
    let of = |answer: Option<Value>, place: &str| answer?.pointer(place)?.as_u64();
    of(props, "/default_generation_settings/n_ctx").or_else(|| of(loaded, "/models/0/context_length"))
}

/// Tokens that `model` (or, without a name, the first one) can hold as the server at `url` serves it, where the server
/// says so to somebody without a key, within `limit`.
pub async fn served_window(clients: &HttpClients, url: &str, model: &str, limit: Duration) -> Option<u64> {
    let until = Instant::now() + limit;
    let base = Url::parse(url).ok()?;
    let client = clients.client(&base, &TlsOptions::default(), limit).await.ok()?;
    let ask = async {
        let listing = get(&client, &base, "/v1/models").await?;
        let first = models_in(&listing).into_iter().next();
        let model = if model.is_empty() { first.as_deref()? } else { model };
        if let Some(tokens) = context_of(&listing, model) {
            return Some(tokens);
        }
        let (props, loaded, rest) = future::join3(
            get(&client, &base, "/props"),
            get(&client, &base, "/api/ps"),
            get(&client, &base, "/api/v0/models"),
        )
        .await;
        let props = props.and_then(|props| props.pointer("/default_generation_settings/n_ctx")?.as_u64());
        // LM Studio's own list has what its compatible one leaves out.
        let lists = || rest.as_ref().and_then(|listing| context_of(listing, model));
        props.or_else(|| running(&loaded?, model)).or_else(lists)
    };
    timeout_at(until, ask).await.ok().flatten().filter(|tokens| *tokens > 0)
}

/// The window of a model that Ollama has loaded. It leaves out the tag `latest`.
fn running(loaded: &Value, model: &str) -> Option<u64> {
    let plain = |name: &str| name.strip_suffix(":latest").unwrap_or(name).to_owned();
    let models = loaded.get("models")?.as_array()?;
    let of = models.iter().find(|entry| {
        ["name", "model"]
            .iter()
            .any(|key| entry[*key].as_str().is_some_and(|name| plain(name) == plain(model)))
    })?;
    of.get("context_length")?.as_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::mock_openai::{MockOpenAi, Reply};

    fn page(body: &Value) -> Reply {
        Reply::error(200, body)
    }

    async fn found(mocks: &[&MockOpenAi]) -> Vec<Detected> {
        let candidates: Vec<Candidate> = mocks
            .iter()
            .enumerate()
            .map(|(n, mock)| Candidate { name: format!("s{n}"), url: mock.url() })
            .collect();
        detect(&candidates, Duration::from_secs(2)).await
    }

    #[tokio::test]
    async fn servers_are_found_in_the_order_of_the_candidates() {
        let (first, second) = (MockOpenAi::start().await.unwrap(), MockOpenAi::start().await.unwrap());
        let absent = MockOpenAi::start().await.unwrap();
        absent.page("/v1/models", Reply::raw(404, "text/plain", ["no"]));
        let found = found(&[&first, &absent, &second]).await;
        let told: Vec<(&str, &str)> =
            found.iter().map(|server| (server.name.as_str(), server.models[0].as_str())).collect();
        assert_eq!(told, [("s0", "mock-model"), ("s2", "mock-model")]);
    }

    #[tokio::test]
    async fn what_merely_listens_is_no_model_server() {
        let html = "<!doctype html><html><body>My app</body></html>";
        for reply in [
            Reply::raw(200, "text/html", [html]),
            page(&json!({"data": null})),
            page(&json!({"data": []})),
            page(&json!({"data": [{"name": "user"}]})),
            page(&json!({"data": [{"id": "m"}, {"id": 3}]})),
            page(&json!([1, 2])),
            Reply::raw(302, "text/plain", [""]).header("location", "/login"),
            Reply::raw(200, "application/json", ["{\"data\":[{\"id\":\"m\"}]"]),
        ] {
            let mock = MockOpenAi::start().await.unwrap();
            mock.page("/v1/models", reply.clone());
            assert_eq!(found(&[&mock]).await, [], "{reply:?}");
        }
    }

    #[tokio::test]
    async fn a_silent_server_costs_no_more_than_the_limit() {
        let (silent, good) = (MockOpenAi::start().await.unwrap(), MockOpenAi::start().await.unwrap());
        silent.page("/v1/models", Reply::pieces::<&str>([]).held_open());
        let candidates =
            [silent, good].map(|mock| (Candidate { name: "s".to_owned(), url: mock.url() }, mock));
        let places: Vec<Candidate> = candidates.iter().map(|(place, _)| place.clone()).collect();
        assert_eq!(detect(&places, Duration::from_millis(200)).await.len(), 1);
    }

    #[tokio::test]
    async fn the_window_is_the_served_one() {
        let models = |extra: Value| {
            let mut entry = json!({"id": "m"});
            entry.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            page(&json!({"data": [entry]}))
        };
        let vllm = MockOpenAi::start().await.unwrap();
        vllm.page("/v1/models", models(json!({"max_model_len": 8192})));
        let llama = MockOpenAi::start().await.unwrap();
        llama.page("/v1/models", models(json!({"meta": {"n_ctx_train": 131_072}})));
        llama.page("/props", page(&json!({"default_generation_settings": {"n_ctx": 4096}})));
        let ollama = MockOpenAi::start().await.unwrap();
        ollama.page("/api/ps", page(&json!({"models": [{"name": "m", "context_length": 2048}]})));
        let silent = MockOpenAi::start().await.unwrap();
        let found = found(&[&vllm, &llama, &ollama, &silent]).await;
        let windows: Vec<_> = found.iter().map(|server| server.context_window).collect();
        assert_eq!(windows, [Some(8192), Some(4096), Some(2048), None]);
    }

    /// What a server has at which place, the model, and its window.
    type Row<'a> = (&'a [(&'a str, Value)], &'a str, Option<u64>);

    #[tokio::test]
    async fn a_configured_model_is_asked_for_its_own_window() {
        let loaded = json!({"models": [{"name": "other:7b", "context_length": 2048},
            {"name": "mine:latest", "model": "mine:latest", "context_length": 4096}]});
        let listed =
            json!({"data": [{"id": "a", "max_model_len": 1024}, {"id": "b", "max_model_len": 8192}]});
        let trained = json!({"data": [{"id": "mine"}]});
        let studio =
            json!({"data": [{"id": "mine", "max_context_length": 32_768, "loaded_context_length": 16_384}]});
        let rows: [Row<'_>; 6] = [
            (&[("/v1/models", listed.clone())], "b", Some(8_192)),
            (&[("/v1/models", listed)], "", Some(1_024)),
            (&[("/v1/models", trained.clone()), ("/api/ps", loaded)], "mine", Some(4_096)),
            (&[("/v1/models", trained.clone()), ("/api/v0/models", studio)], "mine", Some(16_384)),
            (
                &[
                    ("/v1/models", trained.clone()),
                    ("/props", json!({"default_generation_settings": {"n_ctx": 512}})),
                ],
                "anything",
                Some(512),
            ),
            (&[("/v1/models", trained)], "mine", None),
        ];
        for (pages, model, expected) in rows {
            let mock = MockOpenAi::start().await.unwrap();
            for (path, body) in pages {
                mock.page(path, page(body));
            }
            let limit = Duration::from_secs(2);
            let found = served_window(&HttpClients::default(), &mock.url(), model, limit).await;
            assert_eq!(found, expected, "{model} {pages:?}");
        }
    }

    #[test]
    fn models_for_chat_come_first() {
        let listing = json!({"data": [{"id": "text-embedding-nomic"}, {"id": "qwen3"}, {"id": "whisper-1"}]});
        assert_eq!(models_in(&listing), ["qwen3", "text-embedding-nomic", "whisper-1"]);
    }
}
