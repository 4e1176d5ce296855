//! Presence of other listening programs. While there are none, no note is sent: a note costs the server as much as a small
//! transaction, and would wake only its sender.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Client;

use crate::connect::driver_error::DriverError;

/// Second key of the advisory lock that every listening program holds. The keys of partitions are not negative.
const LISTENER: i32 = -1;

const REGISTER: &str = "SELECT pg_advisory_lock_shared($1, $2)";

const COUNT_LISTENERS: &str =
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1::int8::oid
    AND objid = $2::int8::oid AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Whether other programs listen, as far as this program knows. Until it has counted them, it assumes that they do.
#[derive(Clone, Default)]
pub(crate) struct ListenerPresence(Arc<AtomicBool>);

impl ListenerPresence {
    /// Returns whether it is certain that no other program listens.
    pub(crate) fn is_absent(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Records that another program may listen.
    pub(super) fn may_be_there(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Counts the other listeners. A program that comes later says hello.
    pub(super) async fn look(&self, client: &Client, class: i32) -> Result<usize, DriverError> {
        let (class, listener) = (unsigned(class), unsigned(LISTENER));
        let count =
            client.query_one(COUNT_LISTENERS, &[&class, &listener]).await.map_err(|error| DriverError::of(&error))?;
        let others = usize::try_from(count.get::<_, i64>(0) - 1).unwrap_or(0);
        self.0.store(others == 0, Ordering::Relaxed);
        Ok(others)
    }
}

/// Registers this program as a listener.
pub(super) async fn register(client: &Client, class: i32) -> Result<(), DriverError> {
    client.query_one(REGISTER, &[&class, &LISTENER]).await.map(drop).map_err(|error| DriverError::of(&error))
}

/// Returns a key of a lock as `pg_locks` lists it.
fn unsigned(part: i32) -> i64 {
    part.cast_unsigned().into()
}
