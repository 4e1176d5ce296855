//! The options of a server.

use std::path::PathBuf;

use ff_api::PublicUrl;

use crate::cors::CorsOrigin;

/// How a server serves. The defaults are for one that is left alone.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The files by which it proves its name; it speaks plain HTTP without them.
    pub tls: Option<TlsFiles>,
    pub limits: Limits,
    /// The address outsiders reach it by. Without one, links begin with the address the caller used.
    pub public_url: Option<PublicUrl>,
    /// Origins whose pages may read streams. Without any, browsers let pages of other origins read nothing.
    pub cors_origins: Vec<CorsOrigin>,
}

/// A certificate with its chain, and its key, both as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// How much a server takes on. Where the store has keys, one key, or one address that shows none, gets at most half of each, so
/// that no single caller keeps out all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests under way at once, without those that may wait for something.
    pub in_flight: usize,
    /// Requests at once that may wait for something, and streams. They are counted apart, so that a thousand idle
    /// workers do not keep other callers from being answered.
    pub waiting: usize,
    /// Streams of events open at once.
    pub streams: usize,
    /// Bytes of the bodies of all requests that are arriving or being answered.
    pub body_bytes: usize,
    /// Open connections. Past it, a connection without a valid key is closed for a new one.
    pub connections: usize,
    /// Open connections from one address.
    pub connections_per_address: usize,
    /// Requests of one caller in a second, and at once: of one key, or of one address where none is shown. None is no limit.
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
