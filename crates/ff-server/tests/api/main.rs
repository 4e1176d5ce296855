//! The HTTP API as a client sees it: a real server on a real socket over a store in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod document;
mod event;
mod execution;
mod flow;
mod input;
mod keyed;
mod log;
mod reader;
mod sdk;
mod service;
mod stream;
mod suspension;
mod worker;
mod world;
