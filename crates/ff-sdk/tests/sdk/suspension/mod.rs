//! Handlers that wait, over a store in this process.

mod recording;
mod scenarios;

use scenarios::soon;

scenarios::all!((ff_sdk::connect("memory:").await.unwrap(), ()));
