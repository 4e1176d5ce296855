//! The HTTP server: the API, and the worker protocol, for which a worker in any language needs only HTTP.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use ff_server::Server;
//! use tokio_util::sync::CancellationToken;
//!
//! let runtime = ff_scheduler::Runtime::start(std::sync::Arc::new(ff_backend_memory::MemoryBackend::default()));
//! let server = Server::bind("127.0.0.1:0".parse()?, runtime.clone()).await?;
//! let url = format!("http://{}", server.local_addr()?);
//! let stop = CancellationToken::new();
//! let serving = tokio::spawn(server.serve(stop.clone()));
//!
//! let client = ff_sdk::connect(&url).await?.client();
//! client.submit(ff_sdk::Job::new("greet", &"world")).await?;
//!
//! stop.cancel();
//! serving.await??;
//! runtime.stop().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod access;
mod api_key;
mod budget;
mod capacity;
mod console;
mod doctor;
mod event;
mod execution;
mod flow;
mod health;
mod lane;
mod lease;
mod listener;
mod metrics;
mod openapi;
mod quota;
mod request;
mod response;
mod routing;
mod schedule;
mod signal;
mod step;
mod stream;
mod suspension;
mod trace;
mod worker;

pub use ff_api::access::Access;
pub use listener::options::{Limits, ServerOptions, TlsFiles};
pub use listener::server::{DRAIN, Server};
pub use metrics::Metrics;
pub use openapi::openapi;
pub use routing::cors::{BadOrigin, CorsOrigin};
pub use routing::route_table::ROUTES;
