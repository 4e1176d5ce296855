//! The file is what the code says it is, and what people can read.

use ff_backend_sql::{Holds, TABLES};
use ff_core::backend::{ExecutionRoom, LeaseRoom, SignalRoom, SuspensionRoom};
use ff_core::contracts::{SubmitArgs, SuspendArgs};
use ff_core::types::{ExecutionId, LaneId, Namespace};

use crate::{Place, claim_on, findings, key, signal, work};

#[test]
fn the_migrations_make_the_tables_the_code_describes() {
    let place = Place::new();
    drop(place.open());
    let sqlite = place.look();
    for table in TABLES {
        let mut statement = sqlite.prepare(&format!("PRAGMA table_info({})", table.name)).unwrap();
        let column = |row: &rusqlite::Row<'_>| Ok((row.get("name")?, row.get("type")?, row.get("pk")?));
        let found: Vec<(String, String, u32)> = statement.query_map([], column).unwrap().map(Result::unwrap).collect();
        let described = table.columns.iter().zip(1..).map(|(column, place)| {
            let holds = match column.holds {
                Holds::Int => "INTEGER",
                Holds::Text => "TEXT",
                Holds::Uuid | Holds::Bytes => "BLOB",
            };
            let in_key = if place as usize <= table.key { place } else { 0 };
            (column.name.to_owned(), holds.to_owned(), in_key)
        });
        assert_eq!(found, described.collect::<Vec<_>>(), "{}", table.name);
    }
}

/// A file as the program made it that knew only executions and leases, with work in it.
async fn of_the_first_schema(place: &Place) -> ExecutionId {
    let newer = Place::new();
    let store = newer.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    store.close().await;
    drop(store);
    let application_id: i32 = newer.look().pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
    let sqlite = place.look();
    sqlite.pragma_update(None, "application_id", application_id).unwrap();
    sqlite.execute_batch(include_str!("../../migrations/0001_executions_and_leases.sql")).unwrap();
    sqlite.execute("ATTACH ?1 AS newer", [newer.path().to_str().unwrap()]).unwrap();
    for table in ["meta", "execution", "payload"] {
        sqlite.execute(&format!("INSERT INTO {table} SELECT * FROM newer.{table}"), []).unwrap();
    }
    sqlite.execute("UPDATE meta SET value = 1 WHERE key = 'schema_version'", []).unwrap();
    id
}

#[tokio::test]
async fn a_file_of_an_older_schema_is_brought_up_to_date_with_what_is_in_it() {
    let (fresh, older) = (Place::new(), Place::new());
    drop(fresh.open());
    let id = of_the_first_schema(&older).await;
    let store = older.open();
    assert_eq!(findings(&store).await, []);
    let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
    let granted = store.suspend(SuspendArgs::new(id, fence, key("a"))).await.unwrap().waitpoints.remove(0);
    store.deliver(signal(&id, &granted, "go")).await.unwrap();
    assert_eq!(findings(&store).await, []);
    store.close().await;
    let schema = |place: &Place| -> Vec<(String, Option<String>)> {
        let sqlite = place.look();
        let mut statement = sqlite.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    assert_eq!(schema(&older), schema(&fresh));
}

#[tokio::test]
async fn people_read_ids_lanes_and_times_as_they_know_them() {
    let place = Place::new();
    let store = place.open();
    let (acme, mail) = (Namespace::parse("acme").unwrap(), LaneId::parse("mail").unwrap());
    let id = store.submit(SubmitArgs { namespace: acme, lane: mail, ..work() }).await.unwrap().execution_id;
    let other = store.submit(work()).await.unwrap().execution_id;
    store.claim(claim_on(&other)).await.unwrap();
    store.close().await;
    let read = |id: &str| {
        let sql =
            "SELECT namespace, lane, state, created_at LIKE '2___-__-__ __:__:__.___' FROM executions WHERE id = ?1";
        let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        place.look().query_row::<(String, String, String, bool), _, _>(sql, [id], columns).unwrap()
    };
    assert_eq!(read(&id.to_string()), ("acme".into(), "mail".into(), "waiting".into(), true));
    assert_eq!(read(&other.to_string()), ("default".into(), "default".into(), "active".into(), true));
}
