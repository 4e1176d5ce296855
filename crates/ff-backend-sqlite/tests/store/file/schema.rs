//! The tables match their declarations in the code and are readable by people.

use ff_backend_sql::{ColumnType, TABLES};
use ff_core::backend::Perform;
use ff_core::contracts::SubmitArgs;
use ff_core::types::{LaneId, Namespace};
use ff_engine::Orchestration;

use crate::shared::flow::chain;
use crate::{StoreLocation, claim_on, work};

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
