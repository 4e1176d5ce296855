//! The options of `ff server`: TLS, public address, CORS and limits.

use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use ff_sdk::PublicUrl;
use ff_server::{CorsOrigin, Limits, ServerOptions, TlsFiles};

use crate::args::whole;

/// Options of a server that others reach.
#[derive(Args)]
pub(crate) struct ServingFlags {
    /// TLS certificate chain of the server, as PEM; enables TLS
    #[arg(long, env = "FF_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Private key of the certificate, as PEM
    #[arg(long, env = "FF_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Public address of the server, with which approval links begin
    #[arg(long, env = "FF_PUBLIC_URL", value_name = "URL")]
    public_url: Option<PublicUrl>,

    /// Origin whose pages may read streams, such as https://app.example (repeatable)
    #[arg(long = "cors-origin", env = "FF_CORS_ORIGIN", value_name = "ORIGIN", value_delimiter = ',')]
    cors_origins: Vec<CorsOrigin>,

    /// Maximum number of requests in progress, without long polls
    #[arg(long, env = "FF_MAX_IN_FLIGHT", value_name = "COUNT", default_value_t = Limits::default().in_flight)]
    #[arg(value_parser = whole::<usize>)]
    max_in_flight: usize,

    /// Maximum number of long polls and streams
    #[arg(long, env = "FF_MAX_WAITING", value_name = "COUNT", default_value_t = Limits::default().waiting)]
    #[arg(value_parser = whole::<usize>)]
    max_waiting: usize,

    /// Maximum number of open event streams
    #[arg(long, env = "FF_MAX_STREAMS", value_name = "COUNT", default_value_t = Limits::default().streams)]
    #[arg(value_parser = whole::<usize>)]
    max_streams: usize,

    /// Maximum total bytes of request bodies in memory
    #[arg(long, env = "FF_MAX_BODY_BYTES", value_name = "BYTES", default_value_t = Limits::default().body_bytes)]
    #[arg(value_parser = whole::<usize>)]
    max_body_bytes: usize,

    /// Maximum number of open connections
    #[arg(long, env = "FF_MAX_CONNECTIONS", value_name = "COUNT", default_value_t = Limits::default().connections)]
    #[arg(value_parser = whole::<usize>)]
    max_connections: usize,

    /// Maximum number of open connections from one address
    #[arg(long, env = "FF_MAX_CONNECTIONS_PER_ADDRESS", value_name = "COUNT")]
    #[arg(default_value_t = Limits::default().connections_per_address)]
    #[arg(value_parser = whole::<usize>)]
    max_connections_per_address: usize,

    /// Maximum requests per second of a key, or of an address without a key; 0 for no limit
    #[arg(long, env = "FF_MAX_RATE", value_name = "COUNT")]
    #[arg(default_value_t = Limits::default().rate.map_or(0, NonZeroU32::get))]
    #[arg(value_parser = whole::<u32>)]
    max_rate: u32,
}

/// Parses the address to listen on: an IP address or a host name, and a port. Of a name with several addresses, the
/// first IPv4 address is used, because clients connect to 127.0.0.1 by default.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = |why: String| format!("{why}; must be HOST:PORT, as in 127.0.0.1:7070 or localhost:7070");
    let found: Vec<_> = text.to_socket_addrs().map_err(|error| wrong(error.to_string()))?.collect();
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().ok_or_else(|| wrong("the host has no address".to_owned()))
}

impl From<ServingFlags> for ServerOptions {
    fn from(flags: ServingFlags) -> Self {
        let tls = flags.tls_cert.zip(flags.tls_key).map(|(cert, key)| TlsFiles { cert, key });
        let limits = Limits {
            in_flight: flags.max_in_flight,
            waiting: flags.max_waiting,
            streams: flags.max_streams,
            body_bytes: flags.max_body_bytes,
            connections: flags.max_connections,
            connections_per_address: flags.max_connections_per_address,
            rate: NonZeroU32::new(flags.max_rate),
        };
        Self { tls, limits, public_url: flags.public_url, cors_origins: flags.cors_origins }
    }
}
