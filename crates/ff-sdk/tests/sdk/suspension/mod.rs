//! Handlers that wait, over a store in this process.

mod scenarios;

/// Every scenario on a store of its own.
macro_rules! on_a_store {
    ($($name:ident)*) => {$(
        #[tokio::test]
        async fn $name() {
            scenarios::$name(ff_sdk::connect("memory:").await.unwrap()).await;
        }
    )*};
}
scenarios::all!(on_a_store);
