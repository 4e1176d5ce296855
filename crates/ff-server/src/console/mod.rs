//! The console: its files, and the data that only its pages ask for.

pub(crate) mod activity;
pub(crate) mod files;
