//! The listener and its connections, from the socket to HTTP.

pub(crate) mod connections;
pub(crate) mod options;
pub(crate) mod server;
pub(crate) mod tls;
pub(crate) mod transport;
