//! What a bare store can do for the least that could be called a durable queue: the measure of what FlowFabric adds.

mod postgres;
mod sqlite;
mod valkey;

pub(super) use postgres::PostgresFloor;
pub(super) use sqlite::SqliteFloor;
pub(super) use valkey::ValkeyFloor;
