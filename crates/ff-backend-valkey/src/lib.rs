//! FlowFabric on Valkey or Redis: every mutation is one function, atomic on the server that has its partition.
//!
//! ```no_run
//! use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
//!
//! # async fn example() -> Result<(), ff_backend_valkey::ConnectError> {
//! let store = ValkeyBackend::connect("valkey://127.0.0.1:6379", ValkeyOptions::default()).await?;
//! # Ok(())
//! # }
//! ```

mod api_key;
mod backend;
mod budget;
mod call;
pub mod cascade;
mod connect;
mod directory;
mod engine;
mod event;
mod execution;
mod explain;
mod flow;
mod hints;
mod lane;
mod lease;
mod link;
mod newest;
mod quota;
mod schedule;
mod signal;
mod snapshot;
mod step;
mod stream;
mod suspension;
mod worker;

pub use backend::ValkeyBackend;
pub use connect::{ConnectError, Durability, StoreLocation, ValkeyOptions};
