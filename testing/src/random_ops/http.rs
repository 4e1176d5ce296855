//! A store in memory behind a server, called over HTTP.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use ff_backend_memory::MemoryBackend;
use ff_core::backend::{EngineBackend, EngineStore};
use ff_random_ops::{Options, Subject, SubjectFuture};
use ff_scheduler::Runtime;
use ff_sdk::http::HttpBackend;
use ff_server::Server;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Creates a store in memory whose calls are made over HTTP. Reopening it connects a new client.
pub fn http_over_memory(options: Options) -> SubjectFuture {
    Box::pin(async move {
        let store = Arc::new(MemoryBackend::new(options.partitions, options.clock, options.entropy));
        let runtime = Runtime::without_engine(store.clone());
        let server = Server::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), runtime.clone()).await.unwrap();
        let url = format!("http://{}", server.local_addr().unwrap());
        let stop = CancellationToken::new();
        let until = stop.clone();
        let serving = tokio::spawn(async move {
            server.serve(until).await.unwrap();
            runtime.stop().await;
        });
        let client = HttpBackend::connect(&url).await.unwrap();
        Box::new(BehindServer { store, client, url, stop, serving }) as Box<dyn Subject>
    })
}

struct BehindServer {
    store: Arc<MemoryBackend>,
    client: HttpBackend,
    url: String,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

#[async_trait]
impl Subject for BehindServer {
    fn store(&self) -> Option<&dyn EngineStore> {
        Some(&*self.store)
    }

    fn calls(&self) -> Option<&dyn EngineBackend> {
        Some(&self.client)
    }

    async fn reopen(&mut self) {
        self.client = HttpBackend::connect(&self.url).await.unwrap();
    }

    async fn close(self: Box<Self>) {
        self.stop.cancel();
        self.serving.await.unwrap();
    }
}
