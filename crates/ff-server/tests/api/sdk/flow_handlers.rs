//! Flows and the handlers of their members with a store behind a server: the same guarantees as with a store in the process.

use crate::sdk::handlers::remote;

#[path = "../../../../ff-sdk/tests/sdk/flows/scenarios/mod.rs"]
mod scenarios;

scenarios::all!(remote().await);
