//! Real servers for tests. Each has a free port and a temporary folder, and ends when it is dropped.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test uses what it needs; libraries pass all of it on"
)]

mod cluster;
mod ports;
mod process;

pub use cluster::{Cluster, lone_primary};
pub use ports::free_port;
pub use process::{Flavour, Process};
