//! The HTTP API as a client sees it: a real server on a real socket over a store in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod abuse;
mod access;
mod activity;
mod approvals;
mod bad_input;
mod bodies;
mod claims;
mod cors;
mod document;
mod event_cursors;
mod event_streams;
mod flow_bodies;
mod flow_events;
mod flow_handlers;
mod flows;
mod handlers;
mod ids;
mod keyed;
mod limits;
mod limits_at_once;
mod listing;
mod log;
mod long_polls;
mod metrics;
mod openapi;
mod operator_bodies;
mod output;
mod payloads;
mod quiet;
mod remote;
mod secrets;
mod sessions;
mod signals;
mod step_handlers;
mod steps;
mod stopping;
mod stream_tokens;
mod submissions;
mod suspensions;
mod tenants;
mod traces;
mod worker_batch;
mod worker_log;
mod world;
