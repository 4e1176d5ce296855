//! The SDK with a store behind a server.

mod flow_handlers;
mod handlers;
mod remote;
mod step_handlers;
mod worker_log;
