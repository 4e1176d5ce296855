//! Who else listens. While nobody does, nothing is told: a note costs the server as much as a small transaction, and all it
//! would wake is whoever sent it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Client;

use crate::driver_error::DriverError;

/// What every program that listens holds for as long as it does, beside the locks of the partitions.
const SEAT: i32 = -1;

const SIT_DOWN: &str = "SELECT pg_advisory_lock_shared($1, $2)";

const SEATED: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1::int8::oid
    AND objid = $2::int8::oid AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Whether others listen, as far as a program knows. Until it knows, they do.
#[derive(Clone, Default)]
pub(crate) struct ListenerPresence(Arc<AtomicBool>);

impl ListenerPresence {
    /// Whether it is certain that nobody else listens.
    pub(crate) fn is_absent(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Somebody else was heard, or may be there.
    pub(super) fn may_be_there(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Looks how many others are there. Whoever comes after that says hello.
    pub(super) async fn look(&self, client: &Client, class: i32) -> Result<usize, DriverError> {
        let (class, seat) = (unsigned(class), unsigned(SEAT));
        let seated = client.query_one(SEATED, &[&class, &seat]).await.map_err(|error| DriverError::of(&error))?;
        let others = usize::try_from(seated.get::<_, i64>(0) - 1).unwrap_or(0);
        self.0.store(others == 0, Ordering::Relaxed);
        Ok(others)
    }
}

/// Takes a place among those who listen.
pub(super) async fn register(client: &Client, class: i32) -> Result<(), DriverError> {
    client.query_one(SIT_DOWN, &[&class, &SEAT]).await.map(drop).map_err(|error| DriverError::of(&error))
}

/// A part of a lock's name as the server lists it.
fn unsigned(part: i32) -> i64 {
    part.cast_unsigned().into()
}
