//! Inspecting a server without the store.

use std::collections::BTreeMap;

use redis::{Client, cmd};

use crate::support::Process;

/// The contents of a server: the number of libraries, and every key with its bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerContents {
    pub(crate) libraries: usize,
    pub(crate) keys: BTreeMap<String, Vec<u8>>,
}

/// Returns the contents of a server. The address may begin with a password and an `@`.
pub(crate) async fn held(address: &str) -> ServerContents {
    let client = Client::open(format!("redis://{address}")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let libraries: Vec<redis::Value> = cmd("FUNCTION").arg("LIST").query_async(&mut connection).await.unwrap();
    let names: Vec<String> = cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    let mut keys = BTreeMap::new();
    for name in names {
        let bytes = cmd("DUMP").arg(&name).query_async(&mut connection).await.unwrap();
        keys.insert(name, bytes);
    }
    ServerContents { libraries: libraries.len(), keys }
}

/// Returns the number of connections that listen for hints.
pub(crate) fn listeners(server: &Process) -> usize {
    let counts = server.ask(&["PUBSUB", "NUMSUB", "ff:hints"]);
    counts.rsplit(':').next().and_then(|count| count.parse().ok()).unwrap()
}
