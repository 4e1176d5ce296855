//! A server as a backend: where it is, and how it is reached.

use std::error::Error;
use std::time::Duration;

use ff_core::backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use reqwest::{Client, Url};

/// How long to try before a server counts as unreachable.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an idle connection is kept: less than the server keeps it, so that no request is sent into a closed one.
const IDLE: Duration = Duration::from_secs(30);

/// A FlowFabric server, asked over HTTP. Connections are kept and shared; nothing is retried behind the caller's back.
#[derive(Clone, Debug)]
pub struct HttpBackend {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) partitions: PartitionConfig,
}

/// Why no connection to a server could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpConnectError {
    /// The text names no server.
    #[error("{url:?} is not the address of a server: {why}")]
    BadUrl { url: String, why: String },
    /// The server is to be reached in a way this build has not got.
    #[error("{url:?} asks for TLS, which this build does not speak: use http://")]
    Tls { url: String },
    /// Nobody is there.
    #[error("no server answers at {url}: {why}")]
    Unreachable { url: String, why: String },
    /// Somebody is there who does not speak as a FlowFabric server does.
    #[error("what answers at {url} is not a FlowFabric server: {why}")]
    NotFlowFabric { url: String, why: String },
}

impl HttpBackend {
    /// Connects to `http://HOST:PORT` and asks how many partitions its store has.
    pub async fn connect(url: &str) -> Result<Self, HttpConnectError> {
        let address = address(url)?;
        let client = client().map_err(|error| HttpConnectError::BadUrl { url: url.into(), why: root_cause(&error) })?;
        let mut backend = Self { client, url: address, partitions: PartitionConfig::default() };
        backend.partitions = backend.get(&["partitions"], &[], 0).await.map_err(|error| match error {
            EngineError::Unavailable(why) => HttpConnectError::Unreachable { url: url.into(), why },
            EngineError::Unknown(why) | EngineError::Corrupt(why) => {
                HttpConnectError::NotFlowFabric { url: url.into(), why }
            }
            EngineError::Refused(why) => HttpConnectError::NotFlowFabric { url: url.into(), why: why.to_string() },
        })?;
        Ok(backend)
    }
}

impl EngineBackend for HttpBackend {
    fn partitions(&self) -> PartitionConfig {
        self.partitions
    }
}

fn address(url: &str) -> Result<Url, HttpConnectError> {
    let bad = |why: String| HttpConnectError::BadUrl { url: url.into(), why };
    let address = Url::parse(url).map_err(|error| bad(error.to_string()))?;
    match address.scheme() {
        "http" => {}
        "https" => return Err(HttpConnectError::Tls { url: url.into() }),
        other => return Err(bad(format!("it begins with {other}:, expected http://HOST:PORT"))),
    }
    if address.query().is_some() || address.fragment().is_some() {
        return Err(bad("expected http://HOST:PORT and nothing behind it".into()));
    }
    Ok(address)
}

/// No proxy: a server is reached directly, and a proxy would cut its long polls.
fn client() -> reqwest::Result<Client> {
    Client::builder().connect_timeout(CONNECT).pool_idle_timeout(IDLE).tcp_nodelay(true).no_proxy().build()
}

/// What is at the bottom of an error, in its own words.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_a_server_is_taken() {
        assert!(address("http://127.0.0.1:7070").is_ok());
        assert!(address("http://127.0.0.1:7070/").is_ok());
        assert!(address("http://gateway/flowfabric").is_ok());
        assert!(matches!(address("https://host"), Err(HttpConnectError::Tls { .. })));
        for url in ["127.0.0.1:7070", "ftp://host", "http://", "http://host?x=1", "http://host#x", "http://host:99999"]
        {
            assert!(matches!(address(url), Err(HttpConnectError::BadUrl { .. })), "{url}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_called_unreachable() {
        let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let error = HttpBackend::connect(&format!("http://127.0.0.1:{port}")).await.unwrap_err();
        assert!(matches!(error, HttpConnectError::Unreachable { .. }), "{error}");
        assert!(error.to_string().lines().count() == 1, "{error}");
    }

    #[tokio::test]
    async fn a_server_of_something_else_is_called_that() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stranger = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await.unwrap();
        });
        let error = HttpBackend::connect(&url).await.unwrap_err();
        assert!(matches!(error, HttpConnectError::NotFlowFabric { .. }), "{error}");
        stranger.await.unwrap();
    }
}
