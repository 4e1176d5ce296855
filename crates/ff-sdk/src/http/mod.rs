//! FlowFabric over HTTP: a server is a backend like any other.

mod backend;
mod call;
mod doctor;
mod event;
mod execution;
mod flow;
mod key;
mod lane;
mod lease;
mod options;
mod orchestration;
mod signal;
mod suspension;
mod tls;
mod waits;
mod worker;

pub use backend::{HttpBackend, HttpConnectError};
pub use options::HttpOptions;
