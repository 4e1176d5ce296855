//! The file is what the code says it is, and what people can read.

use ff_backend_sql::{Holds, TABLES};
use ff_core::backend::{ExecutionRoom, LeaseRoom};
use ff_core::contracts::SubmitArgs;
use ff_core::types::{LaneId, Namespace};

use crate::{Place, claim_on, work};

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
