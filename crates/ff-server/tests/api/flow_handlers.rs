//! Flows and the handlers of their members, with the store behind a server: the same promises as beside it.

use crate::handlers::remote;

#[path = "../../../ff-sdk/tests/sdk/flows/scenarios/mod.rs"]
mod scenarios;

/// Every scenario at a server of its own.
macro_rules! over_http {
    ($($name:ident)*) => {$(
        #[tokio::test]
        async fn $name() {
            let (ff, _server) = remote().await;
            scenarios::$name(ff).await;
        }
    )*};
}
scenarios::all!(over_http);
