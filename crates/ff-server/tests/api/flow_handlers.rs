//! Flows and the handlers of their members, with the store behind a server: the same promises as beside it.

use crate::handlers::remote;

#[path = "../../../ff-sdk/tests/sdk/flows/scenarios/mod.rs"]
mod scenarios;

scenarios::all!(remote().await);
