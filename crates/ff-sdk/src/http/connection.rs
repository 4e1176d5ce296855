//! A connection to a server: its address, and the HTTP client that reaches it.

use std::path::PathBuf;
use std::time::Duration;

use ff_api::{DoctorQuery, DoctorReport, NoQuery};
use ff_core::backend::{Answer, BoxedAnswer, Perform};
use ff_core::contracts::SubmitArgs;
use ff_core::engine_error::{Code, EngineError};
use ff_core::operation::query::{self, Query, QueryReply};
use ff_core::operation::{self, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::types::Namespace;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::HttpOptions;
use super::coalesce::Coalescer;
use super::error::root_cause;
use super::lease::HolderCall;
use super::tls::TLS;

/// Maximum time to connect. After it the server counts as unreachable.
const CONNECT: Duration = Duration::from_secs(5);

/// Time for which an idle connection is kept. It is shorter than the server's, so that no request is sent on a
/// connection that the server has closed.
const IDLE: Duration = Duration::from_secs(30);

/// A connection to a server, through which all requests are made.
#[derive(Clone, Debug)]
pub(crate) struct HttpConnection {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) partitions: PartitionConfig,
    pub(super) submissions: Coalescer<SubmitArgs>,
    pub(super) holder_calls: Coalescer<HolderCall>,
    /// The base of links: the server's public address, or the one this client connected to.
    pub(crate) public_url: String,
    /// The namespace of the API key, if the key belongs to one.
    pub(crate) own: Option<Namespace>,
}

/// Error of connecting to a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpConnectError {
    /// The URL or one of the options is invalid.
    #[error("{why}")]
    BadUrl { why: String },
    /// The server requires an API key, or does not accept the one that was sent.
    #[error("the server at {url} refuses to answer: {why}")]
    Refused { url: String, why: String },
    /// The two ends do not agree on TLS, or the server's certificate is not accepted.
    #[error("cannot connect to {url}: {why}")]
    Tls { url: String, why: String },
    /// No connection could be made.
    #[error("no server answers at {url}: {why}")]
    Unreachable { url: String, why: String },
    /// The answer is not that of a FlowFabric server.
    #[error("what answers at {url} is not a FlowFabric server: {why}")]
    NotFlowFabric { url: String, why: String },
}

impl HttpConnection {
    /// Connects, and reads the partition counts, the public URL and the namespace of the API key from the server.
    pub(super) async fn open(url: &str, options: HttpOptions) -> Result<Self, HttpConnectError> {
        let (address, ca) = address(url)?;
        let options = HttpOptions { ca: ca.or(options.ca), ..options };
        let client = client(&address, &options).map_err(|why| HttpConnectError::BadUrl { why })?;
        let public_url = address.to_string();
        let mut backend = Self {
            client,
            url: address,
            partitions: PartitionConfig::default(),
            submissions: Coalescer::default(),
            holder_calls: Coalescer::default(),
            public_url,
            own: None,
        };
        let deployment: ff_api::Deployment =
            backend.get(&["partitions"], NoQuery {}, 0).await.map_err(|error| match error {
                EngineError::Unavailable(why) if why.starts_with(TLS) => HttpConnectError::Tls { url: url.into(), why },
                // This request has no arguments, so the server can only object to plain HTTP.
                EngineError::Refused(why) if why.code == Code::InvalidInput => {
                    HttpConnectError::Tls { url: url.into(), why: format!("{TLS}{}", why.detail.unwrap_or_default()) }
                }
                EngineError::Unavailable(why) => HttpConnectError::Unreachable { url: url.into(), why },
                EngineError::Unknown(why) | EngineError::Corrupt(why) => {
                    HttpConnectError::NotFlowFabric { url: url.into(), why }
                }
                EngineError::Refused(why) if why.code == Code::NotFound => {
                    let why = "path: the server has nothing there, must be left out as in http://127.0.0.1:7070";
                    HttpConnectError::BadUrl { why: why.into() }
                }
                EngineError::Refused(why) if !matches!(why.code, Code::Unauthenticated | Code::Unauthorized) => {
                    HttpConnectError::Unreachable { url: url.into(), why: why.to_string() }
                }
                EngineError::Refused(why) => HttpConnectError::Refused { url: url.into(), why: why.to_string() },
            })?;
        backend.partitions = deployment.partitions;
        backend.own = deployment.namespace;
        if let Some(public_url) = deployment.public_url {
            backend.public_url = public_url;
        }
        Ok(backend)
    }

    /// Asks the server to check the invariants on one partition of its store.
    pub(crate) async fn examine_partition(&self, partition: u16) -> Answer<DoctorReport> {
        self.get(&["doctor"], DoctorQuery { partition: Some(partition) }, 0).await
    }

    /// Returns the namespace that a call is about: the named one. The default namespace stands for the namespace of the
    /// API key, if the key belongs to one.
    pub(super) fn effective_namespace(&self, named: &Namespace) -> Namespace {
        self.own.as_ref().filter(|_| named.is_default()).unwrap_or(named).clone()
    }
}

impl Perform for HttpConnection {
    fn partitions(&self) -> PartitionConfig {
        self.partitions
    }

    /// Performs an operation. Arguments that are invalid in every state of the store are refused before they are sent,
    /// with the error that the store would return.
    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        match operation.check(&self.partitions) {
            Ok(()) => {
                let handled = operation::dispatch_for_caller(self, operation);
                handled.unwrap_or_else(|name| for_engines(name))
            }
            Err(refusal) => Box::pin(async { Err(refusal.into()) }),
        }
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        match query.check(&self.partitions) {
            Ok(()) => query::dispatch_for_caller(self, query).unwrap_or_else(|name| for_engines(name)),
            Err(refusal) => Box::pin(async { Err(refusal.into()) }),
        }
    }
}

/// Refuses an operation or query that only an engine sends to its store. The server has its own engine.
fn for_engines<T: Send>(name: &'static str) -> BoxedAnswer<'static, T> {
    Box::pin(async move {
        Err(Code::Unauthorized
            .refusal()
            .because(format!("{name} is for the engine of a store, not for its callers"))
            .into())
    })
}

/// Parses the URL of a server. Returns the address, and the file of certificates to trust if the URL names one.
fn address(url: &str) -> Result<(Url, Option<PathBuf>), HttpConnectError> {
    let bad = |why: &str| HttpConnectError::BadUrl { why: why.into() };
    let form = "must be http://HOST:PORT or https://HOST:PORT";
    let mut address = Url::parse(url).map_err(|error| bad(&format!("address: {error}, {form}")))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(bad(&format!("address: {form}")));
    }
    let mut ca = None;
    for (name, value) in address.query_pairs() {
        match (&*name, ca) {
            ("ca", None) if address.scheme() == "https" => ca = Some(PathBuf::from(&*value)),
            ("ca", None) => return Err(bad("ca: needs TLS, as in https://HOST:PORT?ca=FILE")),
            _ => return Err(bad("parameters: must be ca=FILE, once, or none")),
        }
    }
    if address.fragment().is_some() {
        return Err(bad("fragment: must be left out"));
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err(bad("user: name and password must be left out; a key goes into FF_API_KEY"));
    }
    address.set_query(None);
    Ok((address, ca))
}

/// Builds the HTTP client. It uses no proxy, because a proxy would cut long polls. It follows no redirect, because a key
/// must be sent only to the server for which it was given.
fn client(address: &Url, options: &HttpOptions) -> Result<Client, String> {
    let client = Client::builder().connect_timeout(CONNECT).pool_idle_timeout(IDLE).tcp_nodelay(true).no_proxy();
    let client = client.default_headers(options.headers()?).redirect(Policy::none());
    let client = client.tls_backend_preconfigured(options.tls_for(address)?);
    client.build().map_err(|error| root_cause(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_a_server_is_taken() {
        assert!(address("http://127.0.0.1:7070").is_ok());
        assert!(address("http://127.0.0.1:7070/").is_ok());
        assert!(address("http://gateway/flowfabric").is_ok());
        assert_eq!(address("https://host").unwrap().1, None);
        let (url, ca) = address("https://host:1?ca=/etc/own%20ca.pem").unwrap();
        assert_eq!((url.as_str(), ca), ("https://host:1/", Some("/etc/own ca.pem".into())));
        let form = "must be http://HOST:PORT or https://HOST:PORT";
        for (url, why) in [
            ("127.0.0.1:7070", format!("address: relative URL without a base, {form}")),
            ("ftp://host", format!("address: {form}")),
            ("http://", format!("address: empty host, {form}")),
            ("http://host:99999", format!("address: invalid port number, {form}")),
            ("http://host?x=1", "parameters: must be ca=FILE, once, or none".into()),
            ("https://host?ca=a&ca=b", "parameters: must be ca=FILE, once, or none".into()),
            ("http://host?ca=a", "ca: needs TLS, as in https://HOST:PORT?ca=FILE".into()),
            ("http://host#x", "fragment: must be left out".into()),
            ("https://ff:secret@host", "user: name and password must be left out; a key goes into FF_API_KEY".into()),
        ] {
            assert_eq!(address(url), Err(HttpConnectError::BadUrl { why }), "{url}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_called_unreachable() {
        let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let error =
            HttpConnection::open(&format!("http://127.0.0.1:{port}"), HttpOptions::default()).await.unwrap_err();
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
        let error = HttpConnection::open(&url, HttpOptions::default()).await.unwrap_err();
        assert!(matches!(error, HttpConnectError::NotFlowFabric { .. }), "{error}");
        stranger.await.unwrap();
    }
}
