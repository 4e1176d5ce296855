//! Connecting by URL: a file, memory, Postgres, Valkey, or a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "memory")]
use ff_backend_memory::MemoryBackend;
#[cfg(feature = "postgres")]
use ff_backend_postgres::PostgresOptions;
#[cfg(feature = "sqlite")]
use ff_backend_sqlite::{OpenError, SqliteOptions};
#[cfg(feature = "valkey")]
use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::api_key::SecretKey;
use ff_core::backend::EngineStore;
#[cfg(feature = "local")]
use ff_scheduler::{EngineOptions, Runtime};
use futures_util::future::BoxFuture;

pub use crate::store_url::Synchronous;
use crate::store_url::without_password;

use crate::FlowFabric;
#[cfg(feature = "local")]
use crate::flowfabric::Close;
#[cfg(feature = "http")]
use crate::http::{HttpBackend, HttpConnectError};

/// Connects to `sqlite:PATH`, `sqlite://PATH`, `memory:`, `postgres://HOST/DATABASE`, `valkey://HOST:PORT`,
/// `http://HOST:PORT` or `https://HOST:PORT`. `valkeys://` is Valkey over TLS, `+cluster` after the scheme name connects to
/// a cluster, and the same works with `redis`. With `https`, `?ca=FILE` names the certificates to trust. The API key for a
/// server comes from the variable `FF_API_KEY`.
///
/// For a store, this process also runs an engine; [`Connect`] can leave it out.
pub async fn connect(url: &str) -> Result<FlowFabric, ConnectError> {
    Connect::to(url).connect().await
}

/// A builder for a connection.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let ff = ff_sdk::Connect::to("memory:").without_engine().connect().await?;
/// # ff.shutdown().await;
/// # Ok::<(), ff_sdk::ConnectError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Connect {
    url: String,
    engine: bool,
    existing: bool,
    strict_durability: bool,
    through: Option<StoreWrapper>,
    key: Option<SecretKey>,
    routing_grace: Option<Duration>,
}

/// A function that wraps a store in another one.
type StoreWrapper = Arc<dyn Fn(Arc<dyn EngineStore>) -> Arc<dyn EngineStore> + Send + Sync>;

/// Error of connecting to a store or server.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL, one of its parameters or the key in `FF_API_KEY` is invalid. The message names the part and the rule.
    /// It does not repeat the URL, which may hold a password.
    #[error("{why}")]
    BadUrl { why: String },
    #[error("there is no store at {url}")]
    NoStore { url: String },
    #[error("{url} may lose acknowledged work: {why}")]
    NotDurable { url: String, why: String },
    /// The program was built without the feature for this kind of URL.
    #[error("{url}: this program is built without ff-sdk's feature {feature:?}")]
    NotBuilt { url: String, feature: &'static str },
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] OpenError),
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] ff_backend_postgres::ConnectError),
    #[cfg(feature = "valkey")]
    #[error(transparent)]
    Valkey(#[from] ff_backend_valkey::ConnectError),
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(#[from] HttpConnectError),
}

impl ConnectError {
    /// Returns true when the URL or one of its parameters is invalid, for every kind of store or server.
    pub fn is_bad_url(&self) -> bool {
        match self {
            Self::BadUrl { .. } => true,
            #[cfg(feature = "sqlite")]
            Self::Sqlite(error) => matches!(error, OpenError::NoDirectory { .. }),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => matches!(error, ff_backend_postgres::ConnectError::BadUrl { .. }),
            #[cfg(feature = "valkey")]
            Self::Valkey(error) => matches!(error, ff_backend_valkey::ConnectError::BadUrl { .. }),
            #[cfg(feature = "http")]
            Self::Http(error) => matches!(error, HttpConnectError::BadUrl { .. }),
            _ => false,
        }
    }
}

impl Connect {
    pub fn to(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            engine: true,
            existing: false,
            strict_durability: false,
            through: None,
            key: None,
            routing_grace: None,
        }
    }

    /// Runs no engine in this process: another process fires due timers.
    pub fn without_engine(mut self) -> Self {
        self.engine = false;
        self
    }

    /// Sets how long ready work stays in its queue while no live worker meets its requirements; then the engine blocks
    /// it. The default is 5 s.
    pub fn routing_grace(mut self, grace: Duration) -> Self {
        self.routing_grace = Some(grace);
        self
    }

    /// Fails where a SQLite file, a Postgres database or a Valkey server holds no store, instead of creating one.
    pub fn existing(mut self) -> Self {
        self.existing = true;
        self
    }

    /// Refuses a store that may lose acknowledged work: a server with such settings, a file with `synchronous=normal`, or
    /// memory. Without this, such server settings are only logged as a warning. A server over HTTP checks its own store.
    pub fn strict_durability(mut self) -> Self {
        self.strict_durability = true;
        self
    }

    /// Wraps the store of this process: every call to it goes through the wrapper, for example to count calls. A server
    /// over HTTP is not wrapped.
    pub fn through(
        mut self,
        front: impl Fn(Arc<dyn EngineStore>) -> Arc<dyn EngineStore> + Send + Sync + 'static,
    ) -> Self {
        self.through = Some(Arc::new(front));
        self
    }

    /// Sends this API key to a server, instead of the one in the variable `FF_API_KEY`.
    pub fn key(mut self, key: SecretKey) -> Self {
        self.key = Some(key);
        self
    }

    pub async fn connect(self) -> Result<FlowFabric, ConnectError> {
        self.opening().await
    }

    /// Boxes the future that contains the code of all stores. It is then compiled here, and not again in every program that
    /// awaits it.
    #[inline(never)]
    fn opening(self) -> BoxFuture<'static, Result<FlowFabric, ConnectError>> {
        Box::pin(self.open())
    }

    async fn open(self) -> Result<FlowFabric, ConnectError> {
        match Target::parse(&self.url)? {
            Target::Memory if self.strict_durability => Err(self.not_durable("it keeps nothing when its process ends")),
            Target::Sqlite { synchronous: Synchronous::Normal, .. } if self.strict_durability => {
                Err(self.not_durable("synchronous is normal: set it to full"))
            }
            Target::Sqlite { path, .. } if self.existing && !path.exists() => {
                Err(ConnectError::NoStore { url: path.display().to_string() })
            }
            #[cfg(feature = "memory")]
            Target::Memory => Ok(self.assemble(Arc::new(MemoryBackend::default()), None)),
            #[cfg(feature = "sqlite")]
            Target::Sqlite { path, synchronous } => self.sqlite(path, synchronous).await,
            #[cfg(feature = "postgres")]
            Target::Postgres => self.postgres().await,
            #[cfg(feature = "valkey")]
            Target::Valkey => self.valkey().await,
            #[cfg(feature = "http")]
            Target::Http => self.http().await,
            #[allow(unreachable_patterns, reason = "a program may have all features")]
            target => Err(ConnectError::NotBuilt { url: without_password(&self.url), feature: target.feature() }),
        }
    }

    #[cfg(feature = "sqlite")]
    async fn sqlite(self, path: PathBuf, synchronous: Synchronous) -> Result<FlowFabric, ConnectError> {
        let options = SqliteOptions { durability: synchronous.into(), ..SqliteOptions::default() };
        let opened = tokio::task::spawn_blocking(move || ff_backend_sqlite::open(&path, options)).await;
        let store = Arc::new(opened.map_err(|error| bad(&format!("path: cannot be opened, {error}")))??);
        let close = closing(store.clone(), |store| Box::pin(async move { store.close().await }));
        Ok(self.assemble(store, Some(close)))
    }

    #[cfg(feature = "postgres")]
    async fn postgres(self) -> Result<FlowFabric, ConnectError> {
        let (existing, strict_durability) = (self.existing, self.strict_durability);
        let options = PostgresOptions { existing, strict_durability, ..PostgresOptions::default() };
        let store = Arc::new(ff_backend_postgres::connect(&self.url, options).await?);
        let close = closing(store.clone(), |store| Box::pin(async move { store.close().await }));
        Ok(self.assemble(store, Some(close)))
    }

    #[cfg(feature = "valkey")]
    async fn valkey(self) -> Result<FlowFabric, ConnectError> {
        let (existing, strict_durability) = (self.existing, self.strict_durability);
        let options = ValkeyOptions { existing, strict_durability, ..ValkeyOptions::default() };
        let store = ValkeyBackend::connect(&self.url, options).await?;
        Ok(self.assemble(Arc::new(store), None))
    }

    #[cfg(feature = "http")]
    async fn http(self) -> Result<FlowFabric, ConnectError> {
        let options = crate::http::HttpOptions { key: self.key.clone(), ..Default::default() };
        let options = options.or_from_environment().map_err(|why| bad(&why))?;
        Ok(FlowFabric::remote(Arc::new(HttpBackend::connect_with(&self.url, options).await?)))
    }

    #[cfg(feature = "local")]
    fn assemble(&self, store: Arc<dyn EngineStore>, close: Option<Close>) -> FlowFabric {
        let store = self.through.as_ref().map_or(store.clone(), |front| front(store));
        let usual = EngineOptions::default();
        let options = EngineOptions { routing_grace: self.routing_grace.unwrap_or(usual.routing_grace) };
        let runtime = if self.engine { Runtime::start_with(store, options) } else { Runtime::without_engine(store) };
        FlowFabric::assemble(runtime, close)
    }

    fn not_durable(&self, why: &str) -> ConnectError {
        ConnectError::NotDurable { url: self.url.clone(), why: why.to_owned() }
    }
}

/// Returns the function that closes a store.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn closing<S: Send + Sync + 'static>(store: Arc<S>, close: fn(Arc<S>) -> BoxFuture<'static, ()>) -> Close {
    Arc::new(move || close(store.clone()))
}

/// The store or server that a URL names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A store in memory, which is lost when the process ends.
    Memory,
    /// A store in a SQLite file.
    Sqlite { path: PathBuf, synchronous: Synchronous },
    /// A store in a Postgres database. The store parses the rest of the URL.
    Postgres,
    /// A store on Valkey or Redis. The store parses the rest of the URL.
    Valkey,
    /// A server over HTTP or HTTPS.
    Http,
}

impl Target {
    /// Returns the feature that connects to it.
    fn feature(&self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite { .. } => "sqlite",
            Self::Postgres => "postgres",
            Self::Valkey => "valkey",
            Self::Http => "http",
        }
    }

    /// Parses a URL without connecting.
    pub fn parse(url: &str) -> Result<Self, ConnectError> {
        if url.starts_with("http://") || url.starts_with("https://") {
            return Ok(Self::Http);
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Postgres);
        }
        if url.starts_with("valkey") || url.starts_with("redis") {
            return Ok(Self::Valkey);
        }
        if let Some(rest) = url.strip_prefix("memory:") {
            let is_bare = rest.is_empty() || rest == "//";
            return if is_bare { Ok(Self::Memory) } else { Err(bad("path: must be left out, as in memory:")) };
        }
        let rest = url.strip_prefix("sqlite:").ok_or_else(|| {
            bad(
                "scheme: must be that of sqlite:PATH, memory:, postgres://HOST/DATABASE, valkey://HOST:PORT or, of a server, \
                 http://HOST:PORT",
            )
        })?;
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        if path.is_empty() {
            return Err(bad("path: is missing, must name a file as in sqlite:jobs.db"));
        }
        let mut synchronous = Synchronous::Full;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            synchronous = match pair.split_once('=').unwrap_or((pair, "")) {
                ("synchronous", "full") => Synchronous::Full,
                ("synchronous", "normal") => Synchronous::Normal,
                ("synchronous", _) => return Err(bad("synchronous: must be full or normal")),
                (other, _) => {
                    return Err(bad(&format!("{other}: is no parameter, must be synchronous=full or normal")));
                }
            };
        }
        Ok(Self::Sqlite { path: Path::new(path).to_path_buf(), synchronous })
    }
}

fn bad(why: &str) -> ConnectError {
    ConnectError::BadUrl { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, synchronous: Synchronous) -> Target {
        Target::Sqlite { path: path.into(), synchronous }
    }

    #[test]
    fn a_url_says_where_to_connect() {
        let parse = |url: &str| Target::parse(url).unwrap();
        assert_eq!(parse("memory:"), Target::Memory);
        assert_eq!(parse("http://127.0.0.1:7070"), Target::Http);
        for scheme in ["valkey", "valkeys", "valkey+cluster", "redis", "rediss"] {
            assert_eq!(parse(&format!("{scheme}://127.0.0.1:6379")), Target::Valkey);
        }
        assert_eq!(parse("postgres://localhost/jobs"), Target::Postgres);
        assert_eq!(parse("postgresql://localhost/jobs"), Target::Postgres);
        assert_eq!(parse("sqlite:jobs.db"), file("jobs.db", Synchronous::Full));
        assert_eq!(parse("sqlite://jobs.db"), file("jobs.db", Synchronous::Full));
        assert_eq!(parse("sqlite:///var/jobs.db"), file("/var/jobs.db", Synchronous::Full));
        assert_eq!(parse("sqlite:a.db?synchronous=normal"), file("a.db", Synchronous::Normal));
    }

    #[test]
    fn a_bad_url_is_refused_with_its_part_and_the_allowed_values() {
        let scheme = "scheme: must be that of sqlite:PATH, memory:, postgres://HOST/DATABASE, valkey://HOST:PORT or, \
                      of a server, http://HOST:PORT";
        for (url, why) in [
            ("", scheme),
            ("jobs.db", scheme),
            ("postgres:jobs", scheme),
            ("mysql://u:hunter2@x", scheme),
            ("memory:x", "path: must be left out, as in memory:"),
            ("sqlite:", "path: is missing, must name a file as in sqlite:jobs.db"),
            ("sqlite://?synchronous=full", "path: is missing, must name a file as in sqlite:jobs.db"),
            ("sqlite:a.db?synchronous=off", "synchronous: must be full or normal"),
            ("sqlite:a.db?synchronous", "synchronous: must be full or normal"),
            ("sqlite:a.db?sync=off", "sync: is no parameter, must be synchronous=full or normal"),
        ] {
            let error = Target::parse(url).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.is_bad_url()), (why, true), "{url}");
        }
    }
}
