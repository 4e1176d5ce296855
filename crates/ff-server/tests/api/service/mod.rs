//! The service itself: its description, metrics, log, console, waiting and stopping.

mod activity;
mod console;
mod long_polls;
mod metrics;
mod openapi;
mod quiet;
mod stopping;
