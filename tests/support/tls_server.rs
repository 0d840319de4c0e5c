//! A model server behind TLS, with an authority of its own, that says "ok" to everything over HTTP/2 or HTTP/1.1; and a
//! proxy that leads to it. Both record what they were asked.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// The answer to everything: an answer of the Chat Completions API that says "ok".
const ANSWER: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: [DONE]\n\n",
);

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct TlsSetup {
    /// The names and addresses its certificate is for.
    pub names: Vec<String>,
    /// The year its certificate ends with.
    pub until: i32,
    /// What it speaks, best first: `h2`, `http/1.1`.
    pub protocols: Vec<&'static str>,
}

impl Default for TlsSetup {
    /// A good certificate for this machine, and both protocols.
    fn default() -> Self {
        Self { names: vec!["127.0.0.1".to_owned()], until: 4000, protocols: vec!["h2", "http/1.1"] }
    }
}

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `h2` or `http/1.1`.
    pub protocol: &'static str,
    /// Its path.
    pub path: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
}

type Requests = Arc<Mutex<Vec<Asked>>>;

/// A running server; dropping it closes its port and all connections.
#[derive(Debug)]
pub struct TlsServer {
    /// Where it is.
    pub address: SocketAddr,
    /// Its authority's certificate.
    pub authority: String,
    requests: Requests,
    _server: JoinSet<()>,
}

impl TlsServer {
    /// A server on a free loopback port.
    ///
    /// # Errors
    /// There is no port or no certificate to be had.
    pub async fn start(setup: TlsSetup) -> io::Result<Self> {
        let (config, authority) = configured(setup)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let requests = Requests::default();
        let mut server = JoinSet::new();
        server.spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), Arc::clone(&requests)));
        Ok(Self { address, authority, requests, _server: server })
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Asked> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the server goes by, and the certificate of the authority that signed its own.
fn configured(setup: TlsSetup) -> io::Result<(ServerConfig, String)> {
    let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let authority = params.self_signed(&key).map_err(io::Error::other)?.pem();
    let issuer = Issuer::new(params, key);

    let mut params = CertificateParams::new(setup.names).map_err(io::Error::other)?;
    params.not_after = rcgen::date_time_ymd(setup.until, 1, 1);
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let builder = builder.with_no_client_auth();
    let mut config =
        builder.with_single_cert(vec![certificate.der().clone()], key).map_err(io::Error::other)?;
    config.alpn_protocols = setup.protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok((config, authority))
}

async fn accept(listener: TcpListener, tls: TlsAcceptor, requests: Requests) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, requests) = (tls.clone(), Arc::clone(&requests));
        connections.spawn(async move {
            // A client that does not trust us goes away.
            let Ok(stream) = tls.accept(stream).await else { return };
            let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            if is_h2 {
                drop(serve_h2(stream, &requests).await);
            } else {
                drop(serve_h1(stream, &requests).await);
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve_h2<S: AsyncRead + AsyncWrite + Unpin>(stream: S, requests: &Requests) -> io::Result<()> {
    let mut connection = h2::server::handshake(stream).await.map_err(io::Error::other)?;
    while let Some(accepted) = connection.accept().await {
        let (request, mut respond) = accepted.map_err(io::Error::other)?;
        let headers = request.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect();
        let path = request.uri().path().to_owned();
        note(requests, Asked { protocol: "h2", path, headers });
        let response = http::Response::builder().header("content-type", "text/event-stream").body(());
        let response = response.map_err(io::Error::other)?;
        let mut body = respond.send_response(response, false).map_err(io::Error::other)?;
        body.send_data(Bytes::from_static(ANSWER.as_bytes()), true).map_err(io::Error::other)?;
    }
    Ok(())
}

async fn serve_h1<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, requests: &Requests) -> io::Result<()> {
    let (path, headers) = read_head(&mut stream).await?;
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    note(requests, Asked { protocol: "http/1.1", path, headers });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(ANSWER.as_bytes()).await?;
    stream.shutdown().await
}

/// The target and the headers of a request.
async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<(String, BTreeMap<String, String>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = text(&head);
    let mut lines = head.lines();
    let target = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    let fields = lines.filter_map(|line| line.split_once(':'));
    Ok((target, fields.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect()))
}

fn note(requests: &Requests, asked: Asked) {
    requests.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A proxy that leads to one address, whatever it is asked for.
#[derive(Debug)]
pub struct Tunnel {
    /// Where it is.
    pub url: String,
    targets: Arc<Mutex<Vec<String>>>,
    _server: JoinSet<()>,
}

impl Tunnel {
    /// A proxy on a free loopback port that leads to `address`.
    ///
    /// # Errors
    /// There is no port to be had.
    pub async fn start(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let targets = Arc::new(Mutex::new(Vec::new()));
        let mut server = JoinSet::new();
        let noted = Arc::clone(&targets);
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let noted = Arc::clone(&noted);
                connections.spawn(async move { drop(lead(stream, address, &noted).await) });
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { url, targets, _server: server })
    }

    /// What it was asked for.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn lead(mut stream: TcpStream, address: SocketAddr, targets: &Mutex<Vec<String>>) -> io::Result<()> {
    let (target, _) = read_head(&mut stream).await?;
    targets.lock().unwrap_or_else(PoisonError::into_inner).push(target);
    let mut server = TcpStream::connect(address).await?;
    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
    copy_bidirectional(&mut stream, &mut server).await.map(drop)
}
