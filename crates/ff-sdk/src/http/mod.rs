//! FlowFabric over HTTP: a server is a backend like any other.

mod backend;
mod call;
mod execution;
mod flow;
mod long_poll;
mod operating;
mod options;
mod orchestration;
mod signal;
mod stream;
mod suspension;
mod tls;

pub use backend::{HttpBackend, HttpConnectError};
pub use options::HttpOptions;
