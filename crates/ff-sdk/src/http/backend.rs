//! A server as a backend.

use std::sync::Arc;

use ff_core::backend::{BoxedAnswer, Perform};
use ff_core::operation::query::{Query, QueryReply};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;

use super::{HttpConnectError, HttpConnection, HttpOptions};

/// A FlowFabric server as a backend, over HTTP. Connections are reused, and concurrent calls may share one request. A
/// failed call is not repeated: that is up to the caller.
#[derive(Clone)]
pub struct HttpBackend {
    pub(crate) connection: Arc<HttpConnection>,
    /// Performs operations and queries: the connection, or a wrapper of it.
    calls: Arc<dyn Perform>,
}

impl HttpBackend {
    /// Connects to `http://HOST:PORT` or `https://HOST:PORT` without an API key, and reads the partition counts of its
    /// store.
    pub async fn connect(url: &str) -> Result<Self, HttpConnectError> {
        Self::connect_with(url, HttpOptions::default()).await
    }

    /// Connects with an API key, or with a file of certificates to trust. `?ca=FILE` in the URL also names that file, and
    /// takes precedence.
    pub async fn connect_with(url: &str, options: HttpOptions) -> Result<Self, HttpConnectError> {
        let connection = Arc::new(HttpConnection::open(url, options).await?);
        Ok(Self { calls: connection.clone(), connection })
    }

    /// Wraps the performer of operations and queries, for example to measure their time.
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
