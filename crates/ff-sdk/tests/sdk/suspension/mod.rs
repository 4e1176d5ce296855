//! Handlers that wait, over a store in this process.

mod recording;
mod scenarios;

use scenarios::in_time;

scenarios::all!((ff_sdk::connect("memory:").await.unwrap(), ()));
