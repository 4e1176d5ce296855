//! Partitions that stay with a writer from one batch to the next while no other program is there to want them: what comes
//! next is mostly about the same ones. A batch on those is spared the locks, the clock and the transaction around it.

use std::collections::BTreeSet;
use std::future::pending;
use std::time::Duration;

use ff_backend_sql::{Load, TransactionContext, Value};
use tokio::time::{Instant, sleep_until};

use super::WriterSession;
use super::server_state::ServerState;
use crate::driver_error::DriverError;
use crate::value::Parameter;

/// How long partitions stay. A program that comes unheard waits no longer than this for one of them.
const STAY: Duration = Duration::from_millis(100);
/// How many stay at most: the server has room for a few thousand locks of everybody together.
const MOST: usize = 256;

/// Takes partitions that nobody else has, and says whether that was all of them. Whoever keeps some must not wait for
/// others. A program that freezes while it has any is cut off; no program that works is silent for so long with locks that stay
/// for [`STAY`].
pub(super) const TAKE: &str = "\
    SELECT bool_and(pg_try_advisory_lock($1::int4, p)), set_config('idle_session_timeout', '5s', false) \
    FROM unnest($2::int4[]) AS p";

/// Lets go of all of them.
pub(super) const LEAVE: &str = "SELECT pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false)";

/// The partitions a writer keeps.
#[derive(Default)]
pub(super) struct SessionLocks {
    /// Which stay it is.
    nth: u64,
    partitions: BTreeSet<u16>,
    /// When they are let go of; nothing while there are none.
    until: Option<Instant>,
    /// As they were told after the last partition was taken. Nobody else configures its lanes or has it followed since.
    server_state: Option<ServerState>,
}

impl SessionLocks {
    fn lacking(&self, partitions: &[u16]) -> Vec<u16> {
        partitions.iter().copied().filter(|partition| !self.partitions.contains(partition)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// Nothing stays any more.
    pub(super) fn end(&mut self) {
        *self = Self { nth: self.nth, ..Self::default() };
    }

    /// Has the circumstances asked for again.
    pub(super) fn forget_circumstances(&mut self) {
        self.server_state = None;
    }
}

impl WriterSession {
    /// Whether partitions may stay with this writer. Behind a pooler their locks would stay with whoever is next.
    pub(super) fn may_hold(&self) -> bool {
        self.connector.place.listen && self.notes.are_for_nobody()
    }

    /// Begins a batch on partitions that stay; nothing when somebody else has one of them. After an error nobody knows which
    /// were taken, and the connection has to go.
    pub(super) async fn begin_held(
        &mut self,
        partitions: &[u16],
        first: Vec<Load>,
    ) -> Result<Option<TransactionContext>, DriverError> {
        if self.locks.is_over() || self.locks.partitions.len() + partitions.len() > MOST {
            self.leave().await?;
        }
        if self.locks.is_empty() {
            self.locks.nth += 1;
        }
        let lacking = self.locks.lacking(partitions);
        if lacking.is_empty()
            && let Some(server_state) = self.locks.server_state
        {
            self.send_ahead(first).await?;
            return Ok(Some(self.context(server_state)));
        }
        let class = Parameter::one(Value::Int(self.class.into()));
        let each = Parameter::each(lacking.iter().map(|partition| Value::from(*partition)));
        let taken = self.ask_for(&self.frame.take.clone(), vec![class, each]).await?;
        let told = self.ask_for(&self.frame.server_state.clone(), vec![]).await?;
        self.send_ahead(first).await?;
        self.answers().await?;
        // Of none at all it says nothing.
        if taken.await?.iter().any(|row| row.get::<_, Option<bool>>(0) == Some(false)) {
            self.leave().await?;
            return Ok(None);
        }
        let server_state = ServerState::read(&told.await?)?;
        self.locks.partitions.extend(lacking);
        self.locks.until.get_or_insert_with(|| Instant::now() + STAY);
        self.locks.server_state = Some(server_state);
        Ok(Some(self.context(server_state)))
    }

    fn context(&self, server_state: ServerState) -> TransactionContext {
        TransactionContext {
            lock_session: self.connector.place.record_cache.then_some(self.locks.nth),
            ..server_state.context(self.clock.as_deref(), self.now)
        }
    }

    /// Lets go of what stays with this writer.
    pub(super) async fn leave(&mut self) -> Result<(), DriverError> {
        self.send(&self.frame.leave.clone(), vec![]).await?;
        self.locks.end();
        Ok(())
    }

    /// Waits until it is time to let go of what stays, and does. Whoever stops it has lost nothing.
    pub(super) async fn leave_in_time(&mut self) {
        match self.locks.until {
            Some(until) => sleep_until(until).await,
            None => pending().await,
        }
        if let Err(error) = self.leave().await {
            tracing::debug!(why = error.why(), "the locks of a writer went with its connection");
            self.lose_connection();
        }
    }
}
