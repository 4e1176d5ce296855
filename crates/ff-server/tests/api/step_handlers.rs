//! Handlers with steps, with the store behind a server: the same promises as beside it.

use crate::handlers::remote;

#[path = "../../../ff-sdk/tests/sdk/steps/scenarios/mod.rs"]
mod scenarios;

scenarios::all!(remote().await);
