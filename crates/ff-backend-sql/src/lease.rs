//! The domain of leases: the lease history as rows.

use ff_core::lease::LeaseEvent;
use ff_core::limits;
use ff_core::types::ExecutionId;

use crate::error::SqlError;
use crate::queries::SURPLUS_LEASES;
use crate::session::{Put, Session, delete_all, key_of, longer};
use crate::table::schema::LEASE_EVENT;

/// Returns the row of an ended lease.
pub(crate) fn event_of(id: &ExecutionId, event: &LeaseEvent) -> Result<Put, SqlError> {
    Put::record(longer(key_of(id), [epoch(event).into()]), event)
}

/// Deletes surplus entries of the histories that these events extend. Epochs count leases, so an execution with few epochs has no
/// surplus and is not read.
pub(crate) async fn trim(session: &mut dyn Session, events: &[(ExecutionId, LeaseEvent)]) -> Result<(), SqlError> {
    let limit = i64::try_from(limits::LEASE_HISTORY).unwrap_or(i64::MAX);
    let mut long: Vec<_> = events.iter().filter(|(_, event)| epoch(event) > limit).map(|(id, _)| *id).collect();
    long.sort_unstable();
    long.dedup();
    let with_limit = |id: &ExecutionId| longer(key_of(id), [limit.into()]);
    let surplus = session.query(SURPLUS_LEASES, &long.iter().map(with_limit).collect::<Vec<_>>()).await?;
    let mut keys = Vec::new();
    for (id, rows) in long.iter().zip(&surplus) {
        for row in rows {
            keys.push(longer(key_of(id), [row.int(0)?.into()]));
        }
    }
    delete_all(session, &LEASE_EVENT, keys).await.map(drop)
}

fn epoch(event: &LeaseEvent) -> i64 {
    i64::try_from(event.fence.lease_epoch.0).unwrap_or(i64::MAX)
}
