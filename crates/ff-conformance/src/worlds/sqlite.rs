//! The store that is a file.

use std::sync::Arc;

use ff_backend_sqlite::SqliteOptions;

use super::{few_partitions, over};
use crate::world::{Hands, World};

/// A store in a file of its own, as durable as a user's.
pub async fn sqlite() -> World {
    let hands = Arc::new(Hands::default());
    let folder = tempfile::tempdir().unwrap();
    let options =
        SqliteOptions { partitions: Some(few_partitions()), clock: hands.clone(), ..SqliteOptions::default() };
    let store = Arc::new(ff_backend_sqlite::open(&folder.path().join("flowfabric.db"), options).unwrap());
    over(store.clone(), hands, async move {
        store.close().await;
        drop(folder);
    })
}
