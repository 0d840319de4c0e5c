//! Asks a server once: to public addresses only, within a time, reading no more than wanted, and following
//! redirections no further than the host that was allowed. Knows nothing of arguments and permissions.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url, redirect};

use super::address::{host_of, is_private_name, is_public};
use super::text::head;
use super::{ToolCx, ToolOutput, page};
use crate::providers::http::{CONNECT_TIMEOUT, root_cause};

/// How long one request may take, redirections included.
const TIME: Duration = Duration::from_mins(1);
/// Redirections followed on one host.
const MAX_HOPS: usize = 5;
/// Bytes of a page that are read to make text of it.
const MAX_PAGE: usize = 2 * 1024 * 1024;

/// A request.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<String>,
    pub(crate) max_bytes: usize,
    /// HTML as it is.
    pub(crate) raw: bool,
}

/// Asks, and words the answer.
pub(crate) async fn fetch(wanted: Wanted, cx: &ToolCx) -> ToolOutput {
    let asking = tokio::time::timeout(TIME, ask(wanted, cx));
    tokio::select! {
        biased;
        () = cx.cancel.cancelled() => ToolOutput::failed("the request was cancelled"),
        done = asking => match done {
            Ok(Ok(output)) => output,
            Ok(Err(reason)) => ToolOutput::failed(reason),
            Err(_) => ToolOutput::failed(format!("there was no whole answer within {} s", TIME.as_secs())),
        },
    }
}

async fn ask(mut wanted: Wanted, cx: &ToolCx) -> Result<ToolOutput, String> {
    let host = host_of(&wanted.url).ok_or("the address has no host")?;
    let opened = cx.opens_host(&host);
    if is_private_name(&host) && !opened {
        return Err(closed(&host));
    }
    let client = client(&host, opened)?;
    for _ in 0..=MAX_HOPS {
        let mut request =
            client.request(wanted.method.clone(), wanted.url.clone()).headers(wanted.headers.clone());
        if let Some(body) = &wanted.body {
            request = request.body(body.clone());
        }
        let response = request
            .send()
            .await
            .map_err(|error| format!("{host} could not be asked: {}", root_cause(&error)))?;
        let Some(next) = redirection(&response, &wanted.url) else { return answer(response, &wanted).await };
        let stays = host_of(&next).as_deref() == Some(host.as_str())
            && next.port_or_known_default() == wanted.url.port_or_known_default();
        let upgrades = host_of(&next).as_deref() == Some(host.as_str())
            && next.scheme() == "https"
            && next.port().is_none();
        let downgrades = wanted.url.scheme() == "https" && next.scheme() != "https";
        if !(stays || upgrades) || downgrades {
            let status = response.status();
            return Ok(ToolOutput {
                exit_code: Some(i32::from(status.as_u16())),
                ..ToolOutput::ok(format!(
                    "[{status}: the answer is at {next}, which is another place; ask that if it is right]"
                ))
            });
        }
        let keeps =
            matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        if !keeps && wanted.method != Method::HEAD {
            wanted.method = Method::GET;
            wanted.body = None;
        }
        wanted.url = next;
    }
    Err(format!("{host} redirected more than {MAX_HOPS} times"))
}

fn redirection(response: &Response, from: &Url) -> Option<Url> {
    if !response.status().is_redirection() {
        return None;
    }
    let to = response.headers().get(LOCATION)?.to_str().ok()?;
    from.join(to).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

fn closed(host: &str) -> String {
    format!("{host} is not public, and no rule of the user's names it; it was not asked")
}

/// A client for one host, so that its looking up can be watched.
fn client(host: &str, opened: bool) -> Result<Client, String> {
    // Fails when a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Client::builder()
        .user_agent(concat!("milk/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .dns_resolver(Arc::new(Guard { host: host.to_owned(), opened }));
    if opened && is_private_name(host) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| format!("no HTTP client: {}", root_cause(&error)))
}

/// Looks names up, and keeps what is not public from being reached under a public name. Checked where the connection
/// is made, a second look-up cannot answer otherwise. A proxy's own name is the operator's business.
#[derive(Debug)]
struct Guard {
    host: String,
    opened: bool,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().trim_end_matches('.').to_lowercase();
        let guarded = name == self.host && !self.opened;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if guarded && found.iter().any(|address| !is_public(address.ip())) {
                return Err(std::io::Error::other(closed(&name)).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

async fn answer(response: Response, wanted: &Wanted) -> Result<ToolOutput, String> {
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_lowercase();
    let is_page = !wanted.raw && matches!(kind.as_str(), "text/html" | "application/xhtml+xml");
    let limit = if is_page { MAX_PAGE } else { wanted.max_bytes };
    let (body, whole) = read(response, limit).await?;
    let mut text = if body.iter().take(8192).any(|byte| *byte == 0) {
        format!("[{} bytes or more of {kind}, which is no text]", body.len())
    } else if is_page {
        page::text_of(&String::from_utf8_lossy(&body))
    } else {
        String::from_utf8_lossy(&body).into_owned()
    };
    let cut = text.len() > wanted.max_bytes;
    if cut {
        text.truncate(head(&text, wanted.max_bytes).len());
    }
    if cut || !whole {
        text.push_str("\n[… the answer is longer; `max_bytes` tells more of it …]");
    }
    if text.is_empty() {
        text = format!("[{status}, with nothing in it]");
    }
    let failed = !status.is_success() && !status.is_redirection();
    Ok(ToolOutput {
        error: failed.then(|| format!("the server answered {status}")),
        exit_code: Some(i32::from(status.as_u16())),
        ..ToolOutput::ok(text)
    })
}

/// The beginning of a body, and whether that is all of it.
async fn read(response: Response, limit: usize) -> Result<(Vec<u8>, bool), String> {
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| format!("the answer broke off: {}", root_cause(&error)))?;
        let room = limit - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            return Ok((body, false));
        }
    }
    Ok((body, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_public_name_does_not_lead_to_what_is_not_public() {
        let resolve = async |host: &str, opened: bool, name: &str| {
            let guard = Guard { host: host.to_owned(), opened };
            guard.resolve(name.parse().unwrap()).await.map(|found| found.count() > 0)
        };
        // Stands for any name that its owner pointed here.
        assert!(resolve("localhost", false, "localhost").await.is_err());
        assert!(resolve("localhost", false, "LOCALHOST.").await.is_err());
        assert!(resolve("localhost", true, "localhost").await.unwrap());
        assert!(resolve("example.com", false, "localhost").await.unwrap(), "a proxy's name");
    }
}
