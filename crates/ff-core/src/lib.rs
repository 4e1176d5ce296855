//! The words and rules of FlowFabric.
//!
//! Everything here is pure: records and arguments in, a decision out. No store, no clock, no runtime. Backends run these
//! rules or mirror them; tests hold the two against each other.

mod crc16;
pub mod engine_error;
pub mod keys;
pub mod limits;
pub mod partition;
pub mod state;
pub mod types;
