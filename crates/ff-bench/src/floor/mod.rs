//! The floor: a minimal durable queue on the bare store, against which the cost of FlowFabric is measured.

mod postgres;
mod sqlite;
mod valkey;

pub(super) use postgres::PostgresFloor;
pub(super) use sqlite::SqliteFloor;
pub(super) use valkey::ValkeyFloor;
