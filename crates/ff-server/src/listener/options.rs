//! The options of a server.

use std::path::PathBuf;

use ff_api::PublicUrl;

use crate::routing::cors::CorsOrigin;

/// Options of a server. The defaults work without any configuration.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Files for TLS; without them the server speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    pub limits: Limits,
    /// The public address of the server. Without it, links begin with the address that the caller used.
    pub public_url: Option<PublicUrl>,
    /// Origins whose pages may read streams. If there are none, browsers let pages of other origins read nothing.
    pub cors_origins: Vec<CorsOrigin>,
}

/// A certificate chain and its private key, both as PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// Limits of a server. If the store has API keys, one caller (a key, or an address without a key) gets at most half of each
/// pool, so that no single caller keeps out all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of running requests, except those that may wait for something.
    pub in_flight: usize,
    /// Maximum number of requests that may wait for something, including streams. They have a separate limit, so that a
    /// thousand idle workers do not block other callers.
    pub waiting: usize,
    /// Maximum number of open event streams.
    pub streams: usize,
    /// Maximum number of body bytes of all requests that are arriving or being answered.
    pub body_bytes: usize,
    /// Maximum number of open connections. At the limit, a new connection closes one without a valid key.
    pub connections: usize,
    /// Maximum number of open connections from one address.
    pub connections_per_address: usize,
    /// Maximum number of requests of one caller (a key, or an address without a key), per second and in a burst. `None` means
    /// no limit.
    pub rate: Option<std::num::NonZeroU32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 1_024,
            waiting: 16_384,
            streams: 2_048,
            body_bytes: 256 * 1024 * 1024,
            connections: 18_000,
            connections_per_address: 9_000,
            rate: std::num::NonZeroU32::new(20_000),
        }
    }
}
