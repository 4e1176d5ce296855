//! The types and rules of FlowFabric.
//!
//! Rules are pure: they take records and arguments and return a decision. They use no store, no clock and no runtime.
//! Backends run these rules or reimplement them; tests compare the two.

pub mod api_key;
pub mod backend;
pub mod budget;
pub mod contracts;
mod crc16;
pub mod doctor;
pub mod engine_error;
pub mod event;
pub mod execution;
pub mod explain;
pub mod fairness;
pub mod flow;
pub mod json;
pub mod keyspace;
pub mod lane;
pub mod lease;
pub mod limits;
pub mod model;
pub mod operation;
pub mod partition;
pub mod payload;
pub mod policy;
pub mod quota;
pub mod rule;
pub mod schedule;
pub mod signal;
pub mod singleton;
pub mod state;
pub mod step;
pub mod stream;
pub mod suspension;
pub mod token;
pub mod trace;
pub mod types;
pub mod worker;

pub use keyspace as keys;
