//! FlowFabric over HTTP: a server is a backend like any other.

mod api_key;
mod backend;
mod call;
mod coalesce;
mod error;
mod event;
mod execution;
mod flow;
mod lane;
mod lease;
mod long_poll;
mod options;
mod orchestration;
mod signal;
mod step;
mod stream;
mod suspension;
mod tls;
mod worker;

pub use backend::{HttpBackend, HttpConnectError};
pub use options::HttpOptions;
