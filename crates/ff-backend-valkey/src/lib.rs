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
mod boot;
mod budget;
mod call_error;
mod calls;
pub mod cascade;
mod coalescer;
mod connect_error;
mod directory;
mod durability;
mod engine;
mod event;
mod execution;
mod explain;
mod flow;
mod hints;
mod lane;
mod lane_counter;
mod lease;
mod link;
mod newest;
mod options;
mod probe;
mod quota;
mod reconcile;
mod schedule;
mod secrets;
mod signal;
mod snapshot;
mod step;
mod stream;
mod suspension;
mod under_way;
mod url;
mod worker;

pub use backend::ValkeyBackend;
pub use connect_error::ConnectError;
pub use options::{Durability, ValkeyOptions};
pub use url::StoreLocation;
