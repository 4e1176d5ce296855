//! FlowFabric over HTTP: a server is a backend like any other.

mod api_key;
mod backend;
mod call;
mod event;
mod execution;
mod flow;
mod lane;
mod long_poll;
mod options;
mod orchestration;
mod signal;
mod suspension;
mod tls;
mod worker;

pub use backend::{HttpBackend, HttpConnectError};
pub use options::HttpOptions;
