//! Partition locks that a writer keeps between batches while no other program wants them. The next batch is mostly on the same
//! partitions; it then needs no locks, no clock and no transaction around it.

use std::collections::BTreeSet;
use std::future::pending;
use std::time::Duration;

use ff_backend_sql::{Load, TransactionContext, Value};
use tokio::time::{Instant, sleep_until};

use super::WriterSession;
use super::server_state::{SERVER_STATE, ServerState};
use crate::connect::driver_error::DriverError;
use crate::statement::value::Parameter;

/// Interval after which a busy writer checks whether another session waits for one of its locks.
const KEEP_FOR: Duration = Duration::from_millis(80);
/// Time after that interval at which an idle writer releases its locks. A program that is not known to listen waits for a lock at
/// most as long as both together.
const IDLE_GRACE: Duration = Duration::from_millis(20);
/// Maximum number of kept locks. The server has memory for a few thousand locks in total.
const MOST: usize = 256;
/// Number of requests for locks in one lock session after which a writer takes those of all its partitions.
const REQUESTS: u32 = 3;

/// Takes the locks of partitions without waiting, and returns whether it got all of them. A session that keeps locks must not
/// wait for others. A program that freezes with locks is disconnected; no working program is silent for so long, because it keeps
/// locks for [`KEEP_FOR`] only.
const TAKE: &str = "\
    SELECT bool_and(pg_try_advisory_lock($1::int4, p)), set_config('idle_session_timeout', '5s', false) \
    FROM unnest($2::int4[]) AS p";

/// Returns whether another session waits for the lock of a partition of this store.
const WANTED: &str = "\
    SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = $1::int8::oid \
    AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";

/// Releases all locks of the session.
const LEAVE: &str = "SELECT pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false)";

/// The partition locks a writer keeps.
#[derive(Default)]
pub(super) struct SessionLocks {
    /// The number of this lock session.
    nth: u64,
    partitions: BTreeSet<u16>,
    /// Number of requests for locks in this lock session.
    requests: u32,
    /// The end of the interval, `None` without locks.
    until: Option<Instant>,
    /// Read after the last lock was taken; valid while the locks are held.
    server_state: Option<ServerState>,
}

impl SessionLocks {
    fn lacking(&self, partitions: &[u16]) -> Vec<u16> {
        partitions.iter().copied().filter(|partition| !self.partitions.contains(partition)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// Returns whether a batch on these partitions needs nothing from the server to begin.
    pub(super) fn cover(&self, partitions: &[u16]) -> bool {
        !self.is_over() && self.server_state.is_some() && self.lacking(partitions).is_empty()
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Forgets all locks. Keeps the number of the lock session.
    pub(super) fn end(&mut self) {
        *self = Self { nth: self.nth, ..Self::default() };
    }

    /// Forgets the server state, so that the next batch reads it.
    pub(super) fn forget_server_state(&mut self) {
        self.server_state = None;
    }
}

impl WriterSession {
    /// Returns whether this writer may keep locks. Behind a pooler, they would stay with the next user of the server connection.
    pub(super) fn may_hold(&self) -> bool {
        self.connector.place.listen && self.notes.have_no_listener()
    }

    /// Begins a batch on kept locks. Returns `None` if another session has one of them. After an error it is unknown which locks
    /// were taken, and the caller drops the connection.
    pub(super) async fn begin_held(
        &mut self,
        partitions: &[u16],
        first: Vec<Load>,
    ) -> Result<Option<TransactionContext>, DriverError> {
        let more = self.locks.lacking(partitions).len();
        if self.locks.partitions.len() + more > MOST || self.locks.is_over() && !self.keep_locks().await? {
            self.leave().await?;
        }
        if self.locks.is_empty() {
            self.locks.nth += 1;
        }
        let mut lacking = self.locks.lacking(partitions);
        if lacking.is_empty()
            && let Some(server_state) = self.locks.server_state
        {
            self.send_ahead(first).await?;
            return Ok(Some(self.context(server_state)));
        }
        self.locks.requests += 1;
        if self.locks.requests >= REQUESTS && self.partitions.len() <= MOST {
            lacking = self.locks.lacking(&self.partitions);
        }
        let class = Parameter::one(Value::Int(self.class.into()));
        let each = Parameter::each(lacking.iter().map(|partition| Value::from(*partition)));
        let taken = self.ask_for(TAKE, vec![class, each]).await?;
        let server_state = self.ask_for(SERVER_STATE, vec![]).await?;
        self.send_ahead(first).await?;
        self.answers().await?;
        // `bool_and` over no rows is NULL.
        if taken.await?.iter().any(|row| row.get::<_, Option<bool>>(0) == Some(false)) {
            self.leave().await?;
            return Ok(None);
        }
        let server_state = ServerState::read(&server_state.await?)?;
        self.locks.partitions.extend(lacking);
        self.locks.until.get_or_insert_with(|| Instant::now() + KEEP_FOR);
        self.locks.server_state = Some(server_state);
        Ok(Some(self.context(server_state)))
    }

    /// Keeps the locks for another interval unless a session waits for one. Returns whether they are kept.
    async fn keep_locks(&mut self) -> Result<bool, DriverError> {
        let class = Parameter::one(Value::Int(self.class.cast_unsigned().into()));
        let wanted = self.ask_for(WANTED, vec![class]).await?;
        let server_state = self.ask_for(SERVER_STATE, vec![]).await?;
        if wanted.await?.iter().any(|row| row.get(0)) {
            return Ok(false);
        }
        self.locks.server_state = Some(ServerState::read(&server_state.await?)?);
        self.locks.until = Some(Instant::now() + KEEP_FOR);
        Ok(true)
    }

    fn context(&self, server_state: ServerState) -> TransactionContext {
        TransactionContext {
            lock_session: self.connector.place.record_cache.then_some(self.locks.nth),
            ..server_state.context(self.clock.as_deref(), self.now)
        }
    }

    /// Releases the kept locks.
    pub(super) async fn leave(&mut self) -> Result<(), DriverError> {
        self.send(LEAVE, vec![]).await?;
        self.locks.end();
        Ok(())
    }

    /// Waits until the kept locks are due for release, and releases them. Safe to cancel.
    pub(super) async fn leave_in_time(&mut self) {
        match self.locks.until {
            Some(until) => sleep_until(until.max(Instant::now() + IDLE_GRACE)).await,
            None => pending().await,
        }
        if let Err(error) = self.leave().await {
            tracing::debug!(why = error.why(), "the locks of a writer went with its connection");
            self.lose_connection();
        }
    }
}
