//! Events.

mod cursors;
mod streams;
