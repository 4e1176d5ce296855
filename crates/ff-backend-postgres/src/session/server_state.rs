//! The server state that a batch begins with.

use ff_backend_sql::TransactionContext;
use ff_core::backend::clock::Clock;
use ff_core::types::TimestampMs;
use tokio::time::Instant;
use tokio_postgres::Row;

use crate::connect::driver_error::DriverError;

/// Query for the time and the latest time written (in milliseconds), the time until which a feed is followed, and whether
/// there is any lane configuration or quota policy.
pub(super) const SERVER_STATE: &str = "\
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8, (SELECT max(at) FROM clock), \
    (SELECT coalesce(max(until), 0) FROM feed), EXISTS (SELECT FROM lane), \
    EXISTS (SELECT FROM quota_set)";

/// The server state, and when it was read.
#[derive(Clone, Copy)]
pub(super) struct ServerState {
    read_at: Instant,
    time: i64,
    latest: i64,
    followed_until: i64,
    has_lanes: bool,
    has_quotas: bool,
}

impl ServerState {
    /// Reads an answer that has just arrived.
    pub(super) fn read(rows: &[Row]) -> Result<Self, DriverError> {
        let odd = |error: tokio_postgres::Error| DriverError::Failed(error.to_string());
        let row = rows.first().ok_or_else(|| DriverError::Failed("the server has no clock".into()))?;
        Ok(Self {
            read_at: Instant::now(),
            time: row.try_get(0).map_err(odd)?,
            latest: row.try_get(1).map_err(odd)?,
            followed_until: row.try_get(2).map_err(odd)?,
            has_lanes: row.try_get(3).map_err(odd)?,
            has_quotas: row.try_get(4).map_err(odd)?,
        })
    }

    /// Returns the context of a batch that begins now, and not before the given time. Assumes that since the answer the
    /// server's clock has run as fast as this program's clock.
    pub(super) fn context(&self, clock: Option<&dyn Clock>, before: TimestampMs) -> TransactionContext {
        let since = || i64::try_from(self.read_at.elapsed().as_millis()).unwrap_or(i64::MAX);
        let time = clock.map_or_else(|| self.time.saturating_add(since()), |clock| clock.now().0);
        let now = TimestampMs(time.max(self.latest)).max(before);
        TransactionContext {
            now,
            is_followed: now.0 < self.followed_until,
            has_lanes: self.has_lanes,
            has_quotas: self.has_quotas,
            lock_session: None,
        }
    }
}
