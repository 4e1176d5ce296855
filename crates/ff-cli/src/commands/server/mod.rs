//! Commands for a deployment: serve a store, migrate it, and describe this program's settings, completions and HTTP API.

mod completions;
mod config;
mod demo;
mod dev;
mod migrate;
mod serve;

pub(crate) use completions::{Completions, OpenApi};
pub(crate) use config::Config;
pub(crate) use dev::Dev;
pub(crate) use migrate::Migrate;
pub(crate) use serve::Server;
pub(super) use serve::store;
