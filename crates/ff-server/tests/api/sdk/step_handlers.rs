//! Handlers with steps, with a store behind a server: the same guarantees as with a store in the process.

use crate::sdk::handlers::remote;

#[path = "../../../../ff-sdk/tests/sdk/steps/scenarios/mod.rs"]
mod scenarios;

scenarios::all!(remote().await);
