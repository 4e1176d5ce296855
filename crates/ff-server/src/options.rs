//! What a server may be told when it starts.

use std::path::PathBuf;

/// How a server serves. The defaults are for one that is left alone.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The files by which it proves its name; it speaks plain HTTP without them.
    pub tls: Option<TlsFiles>,
    pub limits: Limits,
}

/// A certificate with what leads to it, and its key, both as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// How much a server takes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests under way at once, without those that may wait for something.
    pub in_flight: usize,
    /// Requests at once that may wait for something, and streams. They are counted apart, so that a thousand idle workers do
    /// not keep anybody else from being answered.
    pub waiting: usize,
    /// Requests of one caller in a second, and at once: of one key, or of one address where none is shown. None is no limit.
    pub rate: Option<std::num::NonZeroU32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { in_flight: 1_024, waiting: 16_384, rate: std::num::NonZeroU32::new(20_000) }
    }
}
