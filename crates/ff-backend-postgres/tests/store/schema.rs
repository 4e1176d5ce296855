//! The tables match their declarations in the code and are readable by people.

use std::collections::BTreeMap;

use ff_backend_sql::{ColumnType, TABLES};
use ff_core::backend::Perform;
use ff_core::contracts::SubmitArgs;
use ff_core::types::{LaneId, Namespace};
use ff_engine::Orchestration;

use crate::shared::flow::chain;
use crate::{StoreLocation, claim_on, work};

#[tokio::test]
async fn the_migrations_make_the_tables_the_code_describes() {
    let place = StoreLocation::new();
    drop(place.open().await);
    let client = place.look().await;
    for table in TABLES {
        let columns = "
            SELECT column_name::text, data_type::text, collation_name::text FROM information_schema.columns
            WHERE table_schema = 'flowfabric' AND table_name = $1 ORDER BY ordinal_position";
        let found = client.query(columns, &[&table.name]).await.unwrap();
        let names: Vec<String> = found.iter().map(|row| row.get(0)).collect();
        assert_eq!(names, table.columns.iter().map(|column| column.name).collect::<Vec<_>>(), "{}", table.name);
        for (column, row) in table.columns.iter().zip(found) {
            let (holds, collation): (String, Option<String>) = (row.get(1), row.get(2));
            let expected: &[&str] = match column.holds {
                ColumnType::Int => &["bigint", "integer", "smallint"],
                ColumnType::Text => &["text"],
                ColumnType::Uuid => &["uuid"],
                ColumnType::Bytes => &["bytea"],
            };
            assert!(expected.contains(&holds.as_str()), "{}.{} is {holds}", table.name, column.name);
            let byte_by_byte = (column.holds == ColumnType::Text).then_some("C");
            assert_eq!(collation.as_deref(), byte_by_byte, "{}.{}", table.name, column.name);
        }
        let key = "
            SELECT a.attname::text FROM pg_index i
            CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k(attnum, nth)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
            WHERE i.indrelid = $1::text::regclass AND i.indisunique ORDER BY k.nth";
        let key: Vec<String> = client.query(key, &[&table.name]).await.unwrap().iter().map(|row| row.get(0)).collect();
        assert_eq!(key, table.key_columns().iter().map(|column| column.name).collect::<Vec<_>>(), "{}", table.name);
    }
}

#[tokio::test]
async fn people_read_ids_lanes_and_times_as_they_know_them() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let (acme, mail) = (Namespace::parse("acme").unwrap(), LaneId::parse("mail").unwrap());
    let id = store.submit(SubmitArgs { namespace: acme, lane: mail, ..work() }).await.unwrap().execution_id;
    let other = store.submit(work()).await.unwrap().execution_id;
    store.claim(claim_on(&other)).await.unwrap();
    let sql = "
        SELECT id, namespace || ' ' || lane || ' ' || state || ' ' || (created_at BETWEEN now() - '1 hour'::interval AND now())
        FROM executions";
    let rows = place.look().await.query(sql, &[]).await.unwrap();
    let read: BTreeMap<String, String> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(read[&id.to_string()], "acme mail waiting true");
    assert_eq!(read[&other.to_string()], "default default active true");
}

#[tokio::test]
async fn people_read_of_a_flow_what_it_is_and_who_is_in_it() {
    let place = StoreLocation::new();
    let store = place.open().await;
    let flow = store.submit_flow(chain(2)).await.unwrap().flow_id.to_string();
    let client = place.look().await;
    let members = "
        SELECT concat_ws(' ', flows.kind, flows.state, nodes, node, executions.state) FROM flows
        JOIN executions ON executions.flow_id = flows.id WHERE flows.id::text = $1 ORDER BY node";
    let rows = client.query(members, &[&flow]).await.unwrap();
    let read: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(read, ["etl open 2 n0 waiting", "etl open 2 n1 waiting_children"]);
    let edges = "SELECT upstream || ' ' || downstream || ' ' || state FROM edges WHERE flow_id::text = $1";
    let edge: String = client.query_one(edges, &[&flow]).await.unwrap().get(0);
    assert_eq!(edge, "n0 n1 pending");
}
