//! FlowFabric over HTTP: a server is a backend like any other.

mod backend;
mod call;
mod doctor;
mod execution;
mod flow;
mod lease;
mod signal;
mod suspension;
mod waits;
pub mod wire;

pub use backend::{HttpBackend, HttpConnectError};
