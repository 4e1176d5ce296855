//! Connections to the server: where it is, how it is reached, and what its errors mean.

pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod driver_error;
mod error;
pub(crate) mod pooler;
mod tls;
pub(crate) mod url;

pub use error::ConnectError;
