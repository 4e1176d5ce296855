//! FlowFabric over HTTP: a server is a backend like any other.

mod api_key;
mod backend;
mod bulk;
mod call;
mod coalesce;
mod connection;
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

pub use backend::HttpBackend;
pub use connection::HttpConnectError;
pub(crate) use connection::HttpConnection;
pub use options::HttpOptions;
