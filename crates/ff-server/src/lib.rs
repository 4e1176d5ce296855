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

mod activity;
mod api_key;
mod approval;
mod audit;
mod bearer;
mod body;
mod budget;
mod call;
mod callers;
mod capacity;
mod connections;
mod console;
mod cors;
mod decision;
mod doctor;
mod event;
mod execution;
mod flow;
mod guard;
mod guarded_body;
mod health;
mod keyring;
mod lane;
mod lease;
mod links;
mod loopback_guard;
mod metrics;
mod openapi;
mod options;
mod page;
mod params;
mod path;
mod pool;
mod problem;
mod quota;
mod rate;
mod route_table;
mod routes;
mod schedule;
mod sealer;
mod secret;
mod server;
mod session;
mod signal;
mod state;
mod step;
mod stream;
mod suspension;
mod tenant;
mod tls;
mod trace;
mod transport;
mod worker;

pub use cors::{BadOrigin, CorsOrigin};
pub use ff_api::access::Access;
pub use metrics::Metrics;
pub use openapi::openapi;
pub use options::{Limits, ServerOptions, TlsFiles};
pub use route_table::ROUTES;
pub use server::{DRAIN, Server};
