//! A shared connection that is made again when it breaks, but not more often than a server can bear.
//!
//! A separate task makes the connection, and callers wait for its report. No caller holds a lock across an await. So a
//! caller that is not polled does not block the others, for example one of several calls in a set while its owner
//! awaits something else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::{ErrorKind, RedisError, RedisResult};
use tokio::sync::watch;
use tokio::time::Instant;

/// Pause before a server that could not be reached is tried again, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

pub(super) struct SharedConnection<Connection>(Arc<Mutex<State<Connection>>>);

struct State<Connection> {
    current: ConnectionState<Connection>,
    /// The number of the current connection. Connections are numbered from 1.
    number: u64,
    /// The number of the last broken connection, as reported by the caller that noticed.
    broken: u64,
    pause: Duration,
    resting: Option<(Instant, RedisError)>,
}

enum ConnectionState<Connection> {
    Absent,
    Making(PendingConnection<Connection>),
    There(Connection),
}

/// The state of a connection that is being made: empty until it is there, then the connection and its number, or the
/// error.
type PendingConnection<Connection> = watch::Receiver<Option<RedisResult<(u64, Connection)>>>;

impl<Connection: Clone + Send + Sync + 'static> SharedConnection<Connection> {
    pub(super) fn absent() -> Self {
        let state = State { current: ConnectionState::Absent, number: 0, broken: 0, pause: PAUSE, resting: None };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Returns the connection and its number, and makes a new one if it broke. During the pause after a failure,
    /// returns that failure.
    pub(super) async fn get<MakingSubject>(
        &self,
        make: impl FnOnce() -> MakingSubject,
    ) -> RedisResult<(u64, Connection)>
    where
        MakingSubject: Future<Output = RedisResult<Connection>> + Send + 'static,
    {
        let mut made = match self.look(make)? {
            Lookup::There(number, connection) => return Ok((number, connection)),
            Lookup::Making(made) => made,
        };
        let reported = made.wait_for(Option::is_some).await.ok().and_then(|made| made.clone());
        reported.unwrap_or_else(|| Err((ErrorKind::Io, "the connection was not made: the program is stopping").into()))
    }

    /// Returns the connection, or the running attempt to make one. Starts an attempt if needed.
    fn look<MakingSubject>(&self, make: impl FnOnce() -> MakingSubject) -> RedisResult<Lookup<Connection>>
    where
        MakingSubject: Future<Output = RedisResult<Connection>> + Send + 'static,
    {
        let mut state = lock(&self.0);
        match &state.current {
            ConnectionState::There(connection) if state.number > state.broken => {
                return Ok(Lookup::There(state.number, connection.clone()));
            }
            // If its task ended without a report, the connection is made again.
            ConnectionState::Making(made) if made.has_changed().is_ok() => return Ok(Lookup::Making(made.clone())),
            _ => {}
        }
        state.current = ConnectionState::Absent;
        if let Some((until, error)) = &state.resting
            && Instant::now() < *until
        {
            return Err(error.clone());
        }
        let (report, made) = watch::channel(None);
        state.current = ConnectionState::Making(made.clone());
        let (shared, making) = (self.0.clone(), make());
        tokio::spawn(async move {
            let made = making.await;
            let made = lock(&shared).settle(made);
            report.send(Some(made)).ok();
        });
        Ok(Lookup::Making(made))
    }

    /// Reports that a connection is broken.
    pub(super) fn broke(&self, number: u64) {
        let mut state = lock(&self.0);
        state.broken = state.broken.max(number);
    }
}

enum Lookup<Connection> {
    There(u64, Connection),
    Making(PendingConnection<Connection>),
}

impl<Connection: Clone> State<Connection> {
    fn settle(&mut self, result: RedisResult<Connection>) -> RedisResult<(u64, Connection)> {
        match result {
            Ok(connection) => {
                self.number += 1;
                self.current = ConnectionState::There(connection.clone());
                (self.pause, self.resting) = (PAUSE, None);
                Ok((self.number, connection))
            }
            Err(error) => {
                self.current = ConnectionState::Absent;
                self.resting = Some((Instant::now() + self.pause, error.clone()));
                self.pause = (self.pause * 2).min(PAUSE_MAX);
                Err(error)
            }
        }
    }
}

/// Locks the state, which is consistent even if a holder of the lock panicked.
fn lock<Connection>(state: &Mutex<State<Connection>>) -> MutexGuard<'_, State<Connection>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;
    use tokio::sync::Notify;

    use super::*;

    /// One of two callers is not polled again after it asked for the connection; the other one must get it.
    #[tokio::test]
    async fn a_caller_that_is_not_polled_does_not_block_another() {
        let shared = SharedConnection::absent();
        let made = Arc::new(Notify::new());
        let making = made.clone();
        let make = || async move {
            making.notified().await;
            Ok("connection")
        };
        let mut forgotten = pin!(shared.get(make));
        assert!(forgotten.as_mut().now_or_never().is_none());
        made.notify_one();
        let never = || async { panic!("one connection is enough") };
        assert_eq!(shared.get(never).await.unwrap(), (1, "connection"));
        shared.broke(1);
        assert_eq!(shared.get(|| async { Ok("another") }).await.unwrap(), (2, "another"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_unreachable_server_is_tried_again_after_a_pause() {
        let shared = SharedConnection::<&str>::absent();
        let fail = || async { Err((ErrorKind::Io, "connection refused").into()) };
        assert!(shared.get(fail).await.is_err());
        assert!(shared.get(|| async { Ok("too early") }).await.is_err(), "it rests");
        tokio::time::advance(PAUSE).await;
        assert_eq!(shared.get(|| async { Ok("there") }).await.unwrap(), (1, "there"));
    }
}
