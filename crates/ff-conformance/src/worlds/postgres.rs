//! The store on Postgres, in a schema that is emptied for every world. Creating a schema takes as long as many promises.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use ff_backend_postgres::PostgresOptions;
use tokio_postgres::NoTls;

use super::postgres_server::Postgres;
use super::{behind_a_server, few_partitions, over};
use crate::world::{TestClock, World};

/// Schemas of worlds that have ended, with the ports of their servers.
static FREE: Mutex<Vec<(u16, String)>> = Mutex::new(Vec::new());

/// Creates a world on a Postgres server, in its own schema.
pub async fn on_postgres(server: &Postgres) -> World {
    let (port, schema) = (server.port, schema(server).await);
    let clock = Arc::new(TestClock::default());
    let options = PostgresOptions {
        partitions: Some(few_partitions()),
        clock: Some(clock.clone()),
        ..PostgresOptions::default()
    };
    let store = Arc::new(ff_backend_postgres::connect(&server.url(&schema), options).await.unwrap());
    over(store.clone(), clock, async move {
        store.close().await;
        FREE.lock().unwrap().push((port, schema));
    })
}

/// Creates a world behind a server, over a store on a Postgres server.
pub async fn http_over_postgres(server: &Postgres) -> World {
    behind_a_server(on_postgres(server).await).await
}

/// Returns an empty schema: a free one, or a new name.
async fn schema(server: &Postgres) -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let free = {
        let mut free = FREE.lock().unwrap();
        let place = free.iter().position(|(port, _)| *port == server.port);
        place.map(|place| free.swap_remove(place).1)
    };
    let Some(schema) = free else { return format!("world_{}", MADE.fetch_add(1, Ordering::Relaxed)) };
    empty(server, &schema).await;
    schema
}

/// Empties every table except `meta`, which has the version of the schema, and `clock`, which is set to zero. Opening the store
/// creates the rest.
async fn empty(server: &Postgres, schema: &str) {
    let address = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port);
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    let emptied = format!(
        "DO $$ DECLARE name text; BEGIN
            FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' AND tablename NOT IN ('meta', 'clock')
            LOOP EXECUTE format('DELETE FROM {schema}.%I', name); END LOOP;
            UPDATE {schema}.clock SET at = 0;
        END $$"
    );
    client.batch_execute(&emptied).await.unwrap();
}
