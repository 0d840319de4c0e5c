//! Where an agent's configured `url` and path lead. Documentation of servers gives base URLs with and
//! without `/v1`, with a closing slash, or the whole address; all of them mean the same here.

use reqwest::Url;

const MODELS: &str = "/models";
const DEFAULT_VERSION: &str = "/v1";

/// The addresses of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Takes requests.
    pub(super) requests: Url,
    /// Lists models.
    pub(super) models: Url,
}

impl Endpoint {
    /// Resolves the configured values for an API whose address ends in `tail` (`/chat/completions`).
    ///
    /// # Errors
    /// What is wrong with them, for the user.
    pub(super) fn resolve(url: &str, path: Option<&str>, tail: &str) -> Result<Self, String> {
        let url = url.trim();
        if url.is_empty() {
            return Err("no `url` is set".to_owned());
        }
        let spelled = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let base = Url::parse(&spelled).map_err(|cause| format!("`url` is not usable: {cause}"))?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return Err(format!("`url` must be http:// or https://, not {}://", base.scheme()));
        }
        let requests = match path.map(str::trim).filter(|path| !path.is_empty()) {
            Some(path) => with_path(&base, path),
            None => with_default_path(base, tail),
        };
        let mut models = requests.clone();
        let path = requests.path();
        let stem = path.strip_suffix(tail).unwrap_or(DEFAULT_VERSION);
        models.set_path(&format!("{stem}{MODELS}"));
        Ok(Self { requests, models })
    }
}

fn with_default_path(mut url: Url, tail: &str) -> Url {
    let path = url.path().trim_end_matches('/').to_owned();
    let has_version = path.split('/').any(is_version);
    let rest = match (path.ends_with(tail), has_version) {
        (true, _) => String::new(),
        (false, true) => tail.to_owned(),
        (false, false) => format!("{DEFAULT_VERSION}{tail}"),
    };
    url.set_path(&format!("{path}{rest}"));
    url
}

/// Appends `path`, which may carry a query, without repeating a segment that both have.
fn with_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let path = path.trim_matches('/');
    let stem = base.path().trim_end_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    let repeats = is_version(first) && stem.rsplit('/').next() == Some(first);
    let path = if repeats { path[first.len()..].trim_start_matches('/') } else { path };
    url.set_path(&format!("{stem}/{path}"));
    if query.is_some() {
        url.set_query(query);
    }
    url
}

/// `v1`, `v4`, `v1beta` and the like.
fn is_version(segment: &str) -> bool {
    let mut bytes = segment.bytes();
    bytes.next() == Some(b'v') && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
}

/// `url` without what may be secret: credentials and query.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs without a host, which `Endpoint` refuses.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = "/chat/completions";

    #[test]
    fn documented_spellings_lead_to_one_path() {
        let table = [
            ("http://h:1234", None, "http://h:1234/v1/chat/completions"),
            ("http://h/", None, "http://h/v1/chat/completions"),
            ("http://h/v1", None, "http://h/v1/chat/completions"),
            ("http://h/v1/", None, "http://h/v1/chat/completions"),
            ("http://h/v1//", None, "http://h/v1/chat/completions"),
            (" localhost:8080 ", None, "http://localhost:8080/v1/chat/completions"),
            ("http://h/api/v1", None, "http://h/api/v1/chat/completions"),
            ("http://h/v1/chat/completions?x=1", None, "http://h/v1/chat/completions?x=1"),
            ("https://openrouter.ai/api", None, "https://openrouter.ai/api/v1/chat/completions"),
            ("https://api.groq.com/openai", None, "https://api.groq.com/openai/v1/chat/completions"),
            ("https://h/api/paas/v4", None, "https://h/api/paas/v4/chat/completions"),
            ("https://h/v1beta/openai/", None, "https://h/v1beta/openai/chat/completions"),
            ("https://h", Some("/chat/completions"), "https://h/chat/completions"),
            ("https://h/v1", Some("/v1/chat/completions"), "https://h/v1/chat/completions"),
            ("https://h/v1/", Some("chat/completions"), "https://h/v1/chat/completions"),
            (
                "https://h/a",
                Some("/chat/completions?api-version=1"),
                "https://h/a/chat/completions?api-version=1",
            ),
            ("https://h", Some(""), "https://h/v1/chat/completions"),
        ];
        for (url, path, expected) in table {
            let endpoint = Endpoint::resolve(url, path, CHAT).unwrap();
            assert_eq!(endpoint.requests.as_str(), expected, "{url} {path:?}");
        }
    }

    #[test]
    fn models_are_beside_the_chat() {
        let models = |url, path| Endpoint::resolve(url, path, CHAT).unwrap().models.to_string();
        assert_eq!(models("http://h", None), "http://h/v1/models");
        assert_eq!(models("https://h/api/v1", None), "https://h/api/v1/models");
        assert_eq!(models("https://h", Some("/chat/completions")), "https://h/models");
        assert_eq!(models("https://h", Some("/odd")), "https://h/v1/models");
    }

    #[test]
    fn unusable_urls_say_why() {
        for (url, reason) in [("", "no `url`"), ("ftp://h", "must be http"), ("http://", "not usable")] {
            let error = Endpoint::resolve(url, None, CHAT).unwrap_err();
            assert!(error.contains(reason), "{url}: {error}");
        }
    }

    #[test]
    fn shown_urls_hold_no_secrets() {
        let url = Url::parse("https://user:pw@h/v1?key=k#f").unwrap();
        assert_eq!(shown(&url), "https://h/v1");
    }
}
