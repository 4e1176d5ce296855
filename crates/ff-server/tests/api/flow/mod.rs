//! Flows.

mod events;
mod graphs;
