//! The types and rules of FlowFabric.
//!
//! Rules are pure: they take records and arguments and return a decision. They use no store, no clock and no runtime.
//! Backends run these rules or reimplement them; tests compare the two.

pub mod api_key;
pub mod backend;
pub mod budget;
pub mod change;
pub mod clock;
pub mod contracts;
mod crc16;
pub mod doctor;
pub mod due;
pub mod engine_error;
pub mod entropy;
pub mod event;
pub mod execution;
pub mod explain;
pub mod fairness;
#[cfg(test)]
mod fixture;
pub mod flow;
pub mod hint;
pub mod index;
pub mod json;
pub mod keyspace;
pub mod lane;
pub mod lease;
pub mod limits;
pub mod model;
pub mod operation;
pub mod outage;
pub mod partition;
pub mod payload;
pub mod policy;
pub mod query;
pub mod quota;
#[cfg(test)]
mod samples;
pub mod schedule;
mod schema;
pub mod signal;
pub mod singleton;
pub mod snapshot;
pub mod state;
pub mod step;
pub mod stream;
pub mod suspension;
pub mod token;
pub mod trace;
pub mod types;
pub mod view;
pub mod worker;

pub use keyspace as keys;
