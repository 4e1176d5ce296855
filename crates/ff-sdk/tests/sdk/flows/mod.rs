//! Flows and the handlers of their members, over a store in this process.

mod later;
mod scenarios;

scenarios::all!((ff_sdk::connect("memory:").await.unwrap(), ()));
