//! A server as a backend.

use std::sync::Arc;

use ff_core::backend::{BoxedAnswer, Perform};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::query::{Query, QueryReply};

use super::{HttpConnectError, HttpConnection, HttpOptions};

/// A FlowFabric server, asked over HTTP. Connections are kept and shared, and calls made at the same time may travel in one request;
/// nothing is retried behind the caller's back.
#[derive(Clone)]
pub struct HttpBackend {
    pub(crate) connection: Arc<HttpConnection>,
    /// Performs operations and queries: the connection, or a wrapper of it.
    calls: Arc<dyn Perform>,
}

impl HttpBackend {
    /// Connects to `http://HOST:PORT` or `https://HOST:PORT` without a key, and asks how many partitions its store has.
    pub async fn connect(url: &str) -> Result<Self, HttpConnectError> {
        Self::connect_with(url, HttpOptions::default()).await
    }

    /// Connects with a key, or by certificates of one's own; `?ca=FILE` in the address says the same.
    pub async fn connect_with(url: &str, options: HttpOptions) -> Result<Self, HttpConnectError> {
        let connection = Arc::new(HttpConnection::open(url, options).await?);
        Ok(Self { calls: connection.clone(), connection })
    }

    /// Wraps the operations and queries, with a stopwatch for example.
    pub fn through(mut self, wrap: impl FnOnce(Arc<dyn Perform>) -> Arc<dyn Perform>) -> Self {
        self.calls = wrap(self.calls);
        self
    }
}

impl Perform for HttpBackend {
    fn partitions(&self) -> PartitionConfig {
        self.calls.partitions()
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        self.calls.perform(operation)
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        self.calls.query(query)
    }
}
