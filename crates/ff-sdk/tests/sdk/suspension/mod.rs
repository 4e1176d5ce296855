//! Handlers that wait, over a store in this process.

mod scenarios;

scenarios::all!((ff_sdk::connect("memory:").await.unwrap(), ()));
