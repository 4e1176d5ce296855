//! The file is what the code says it is, and what people can read.

use ff_backend_sql::{ColumnType, TABLES};
use ff_core::backend::Perform;
use ff_core::contracts::{CancelArgs, Filter, ListArgs, SubmitArgs, SuspendArgs};
use ff_core::types::{ExecutionId, IdempotencyKey, LaneId, Namespace, TagKey, TagValue};
use ff_engine::Orchestration;

use crate::flows::{chain, run};
use crate::{StoreLocation, claim_on, findings, key, signal, work};

#[test]
fn the_migrations_make_the_tables_the_code_describes() {
    let place = StoreLocation::new();
    drop(place.open());
    let sqlite = place.look();
    for table in TABLES {
        let mut statement = sqlite.prepare(&format!("PRAGMA table_info({})", table.name)).unwrap();
        let column = |row: &rusqlite::Row<'_>| Ok((row.get("name")?, row.get("type")?, row.get("pk")?));
        let found: Vec<(String, String, u32)> = statement.query_map([], column).unwrap().map(Result::unwrap).collect();
        let described = table.columns.iter().zip(1..).map(|(column, place)| {
            let holds = match column.holds {
                ColumnType::Int => "INTEGER",
                ColumnType::Text => "TEXT",
                ColumnType::Uuid | ColumnType::Bytes => "BLOB",
            };
            let in_key = if place as usize <= table.key { place } else { 0 };
            (column.name.to_owned(), holds.to_owned(), in_key)
        });
        assert_eq!(found, described.collect::<Vec<_>>(), "{}", table.name);
    }
}

/// What had finished and what had labels before anybody forgot or searched is forgotten and found like the rest.
#[tokio::test]
async fn what_is_there_is_found_by_its_labels_and_forgotten_in_its_time() {
    let place = StoreLocation::new();
    let (acme, store) = (Namespace::parse("acme").unwrap(), place.open());
    let tags = [(TagKey::parse("team").unwrap(), TagValue::parse("blue").unwrap())];
    let mut labelled = SubmitArgs { namespace: acme.clone(), tags: tags.clone().into(), ..work() };
    labelled.idempotency_key = IdempotencyKey::parse("once").ok();
    labelled.policy.dedup_window_ms = 30 * 24 * 3_600_000;
    let mut ids = Vec::new();
    for args in [labelled, work()] {
        ids.push(store.submit(args).await.unwrap().execution_id);
        let cancel = CancelArgs { execution_id: *ids.last().unwrap(), reason: None, requested_by: None };
        store.cancel(cancel).await.unwrap();
    }
    let flow = store.submit_flow(chain(2)).await.unwrap().flow_id;
    run(&store, &flow).await;
    store.close().await;
    drop(store);
    let undone = "
        DROP TABLE tag; DROP TABLE lane; DROP TABLE worker; DROP TABLE feed; DROP TABLE event; DROP TABLE api_key;
        DROP TABLE stream; DROP TABLE frame;
        UPDATE execution SET due_at = NULL; UPDATE flow SET due_at = NULL;
        UPDATE meta SET value = 3 WHERE key = 'schema_version'";
    place.look().execute_batch(undone).unwrap();
    let store = place.open();
    assert_eq!(findings(&store).await, []);
    let filter = Filter { tags: tags.into(), ..Filter::everything(acme) };
    let found = store.list(ListArgs { filter, after: None, limit: 9 }).await.unwrap().executions;
    assert_eq!(found.iter().map(|info| info.execution_id).collect::<Vec<_>>(), ids[..1]);
}

/// A file as the program made it that knew only the first so many steps of the schema, with work in it.
async fn of_an_older_schema(place: &StoreLocation, steps: &[&str], tables: &[&str]) -> ExecutionId {
    let newer = StoreLocation::new();
    let store = newer.open();
    let id = store.submit(work()).await.unwrap().execution_id;
    store.close().await;
    drop(store);
    let application_id: i32 = newer.look().pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
    let sqlite = place.look();
    sqlite.pragma_update(None, "application_id", application_id).unwrap();
    steps.iter().for_each(|step| sqlite.execute_batch(step).unwrap());
    sqlite.execute("ATTACH ?1 AS newer", [newer.path().to_str().unwrap()]).unwrap();
    for table in tables {
        let columns: Vec<String> = {
            let mut statement = sqlite.prepare(&format!("PRAGMA main.table_info({table})")).unwrap();
            statement.query_map([], |row| row.get("name")).unwrap().map(Result::unwrap).collect()
        };
        let columns = columns.join(", ");
        sqlite.execute(&format!("INSERT INTO {table} SELECT {columns} FROM newer.{table}"), []).unwrap();
    }
    sqlite
        .execute("UPDATE meta SET value = ?1 WHERE key = 'schema_version'", [u32::try_from(steps.len()).unwrap()])
        .unwrap();
    id
}

#[tokio::test]
async fn a_file_of_an_older_schema_is_brought_up_to_date_with_what_is_in_it() {
    let first = include_str!("../../migrations/0001_executions_and_leases.sql");
    let second = include_str!("../../migrations/0002_suspensions_and_signals.sql");
    let third = include_str!("../../migrations/0003_flows.sql");
    let fresh = StoreLocation::new();
    drop(fresh.open());
    for (steps, tables) in [
        (&[first][..], &["meta", "execution", "payload"][..]),
        (&[first, second], &["meta", "execution", "payload", "key_ring"]),
        (&[first, second, third], &["meta", "execution", "payload", "key_ring"]),
    ] {
        let older = StoreLocation::new();
        let id = of_an_older_schema(&older, steps, tables).await;
        let store = older.open();
        assert_eq!(findings(&store).await, []);
        let fence = store.claim(claim_on(&id)).await.unwrap().claimed.remove(0).task.fence;
        let granted = store.suspend(SuspendArgs::new(id, fence, key("a"))).await.unwrap().waitpoints.remove(0);
        store.deliver(signal(&id, &granted, "go")).await.unwrap();
        let flow = store.submit_flow(chain(3)).await.unwrap().flow_id;
        run(&store, &flow).await;
        assert_eq!(findings(&store).await, []);
        store.close().await;
        assert_eq!(schema(&older), schema(&fresh));
    }
}

fn schema(place: &StoreLocation) -> Vec<(String, Option<String>)> {
    let sqlite = place.look();
    let mut statement = sqlite.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[tokio::test]
async fn people_read_of_a_flow_what_it_is_and_who_is_in_it() {
    let place = StoreLocation::new();
    let store = place.open();
    let flow = store.submit_flow(chain(2)).await.unwrap().flow_id;
    store.close().await;
    let sqlite = place.look();
    let sql = "SELECT flows.kind, flows.state, nodes, node, executions.state FROM flows \
               JOIN executions ON executions.flow_id = flows.id WHERE flows.id = ?1 ORDER BY node";
    let mut statement = sqlite.prepare(sql).unwrap();
    let columns = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    let rows: Vec<(String, String, u32, String, String)> =
        statement.query_map([flow.to_string()], columns).unwrap().map(Result::unwrap).collect();
    let member = |node: &str, state: &str| ("etl".to_owned(), "open".to_owned(), 2, node.to_owned(), state.to_owned());
    assert_eq!(rows, [member("n0", "waiting"), member("n1", "waiting_children")]);
}

#[tokio::test]
async fn people_read_ids_lanes_and_times_as_they_know_them() {
    let place = StoreLocation::new();
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
