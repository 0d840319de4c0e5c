//! HTTP clients for model APIs: made when first needed and shared by everything that has the same settings.
//! Knows nothing of what is sent.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Certificate, Client, Response, Url, redirect};
use tokio::time::{Instant, timeout_at};

/// How long a connection may take to be established.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an idle connection is kept; shorter than what servers usually allow.
const POOL_IDLE: Duration = Duration::from_secs(45);

/// How long the body of a refusal or a list may take.
const BODY_PATIENCE: Duration = Duration::from_secs(10);

/// What to make of a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsOptions {
    /// Take any certificate.
    pub skip_verify: bool,
    /// A PEM file of certificates to trust besides the system's.
    pub ca_cert: Option<PathBuf>,
}

/// The clients in use. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct HttpClients(Arc<Mutex<Vec<(Settings, Client)>>>);

/// What tells clients apart.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Settings {
    is_loopback: bool,
    tls: Option<TlsOptions>,
    connect_timeout: Duration,
}

impl HttpClients {
    /// A client for `url`. Loopback addresses are never reached through a proxy; redirects are not followed, for
    /// they would turn a request into another one or carry credentials elsewhere.
    ///
    /// # Errors
    /// What is wrong with the certificates, for the user.
    pub async fn client(
        &self,
        url: &Url,
        tls: &TlsOptions,
        connect_timeout: Duration,
    ) -> Result<Client, String> {
        let settings = Settings {
            is_loopback: is_loopback(url),
            tls: (url.scheme() == "https").then(|| tls.clone()),
            connect_timeout,
        };
        if let Some(client) = self.find(&settings) {
            return Ok(client);
        }
        let client = if settings.tls.is_some() {
            // Reads certificate files.
            let settings = settings.clone();
            let built = tokio::task::spawn_blocking(move || build(&settings)).await;
            built.map_err(|_| "the TLS set-up failed".to_owned())??
        } else {
            build(&settings)?
        };
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push((settings, client.clone()));
        Ok(client)
    }

    fn find(&self, settings: &Settings) -> Option<Client> {
        let clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.iter().find(|(held, _)| held == settings).map(|(_, client)| client.clone())
    }
}

fn build(settings: &Settings) -> Result<Client, String> {
    // Fails when a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Client::builder()
        .user_agent(concat!("milk/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(POOL_IDLE);
    if settings.is_loopback {
        builder = builder.no_proxy();
    }
    builder = match &settings.tls {
        // Spares reading the system's certificates for a connection that has none.
        None => builder.tls_certs_only([]),
        Some(tls) if tls.skip_verify => builder.tls_danger_accept_invalid_certs(true),
        Some(TlsOptions { ca_cert: Some(path), .. }) => builder.tls_certs_merge(certificates(path)?),
        Some(TlsOptions { ca_cert: None, .. }) => builder,
    };
    builder.build().map_err(|cause| format!("no HTTP client: {}", root_cause(&cause)))
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let shown = path.display();
    let pem =
        std::fs::read(path).map_err(|cause| format!("`tls_ca_cert` {shown} cannot be read: {cause}"))?;
    let certificates = Certificate::from_pem_bundle(&pem)
        .map_err(|cause| format!("`tls_ca_cert` {shown} is no PEM file: {}", root_cause(&cause)))?;
    if certificates.is_empty() {
        return Err(format!("`tls_ca_cert` {shown} holds no certificate"));
    }
    Ok(certificates)
}

/// Whether `url` leads to this machine.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_name = host == "localhost" || host.ends_with(".localhost");
    is_name || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// At most `most` bytes of a body, as far as it comes in time: a server that does not finish its refusal has
/// refused all the same.
pub(super) async fn read_some(mut response: Response, most: usize) -> Vec<u8> {
    let mut body = Vec::new();
    let until = Instant::now() + BODY_PATIENCE;
    while body.len() < most
        && let Ok(Ok(Some(bytes))) = timeout_at(until, response.chunk()).await
    {
        body.extend_from_slice(&bytes[..bytes.len().min(most - body.len())]);
    }
    body
}

/// The innermost cause of an error: what the system or the TLS library said.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_by_address_and_name() {
        let table = [
            ("http://localhost:1", true),
            ("http://127.0.0.1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:8", true),
            ("http://box.localhost", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example.com", false),
        ];
        for (url, expected) in table {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[tokio::test]
    async fn equal_settings_share_a_client_made_on_demand() {
        let clients = HttpClients::default();
        let tls = TlsOptions::default();
        for url in ["http://127.0.0.1:1", "http://localhost:2", "http://10.0.0.1"] {
            clients.client(&Url::parse(url).unwrap(), &tls, CONNECT_TIMEOUT).await.unwrap();
        }
        assert_eq!(clients.0.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn a_missing_certificate_file_is_named() {
        let tls = TlsOptions { ca_cert: Some("/no/such.pem".into()), ..TlsOptions::default() };
        let url = Url::parse("https://127.0.0.1:1").unwrap();
        let error = HttpClients::default().client(&url, &tls, CONNECT_TIMEOUT).await.unwrap_err();
        assert!(error.contains("/no/such.pem"), "{error}");
    }
}
