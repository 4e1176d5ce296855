//! A connection that is shared, kept, and made again when it breaks, not more often than a server can bear.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::{RedisError, RedisResult};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a server that cannot be reached is left alone, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

pub(super) struct Kept<Connection> {
    state: Mutex<State<Connection>>,
    /// Which connection broke last. Whoever finds a broken one tells, so that the next call makes another.
    broken: AtomicU64,
}

struct State<Connection> {
    connection: Option<Connection>,
    /// Connections are numbered from 1.
    number: u64,
    pause: Duration,
    resting: Option<(Instant, RedisError)>,
}

impl<Connection: Clone> Kept<Connection> {
    pub(super) fn none() -> Self {
        let state = State { connection: None, number: 0, pause: PAUSE, resting: None };
        Self { state: Mutex::new(state), broken: AtomicU64::new(0) }
    }

    /// The connection and its number, made anew if it broke. While the server rests, nobody asks for it.
    pub(super) async fn or_made(
        &self,
        make: impl Future<Output = RedisResult<Connection>>,
    ) -> RedisResult<(u64, Connection)> {
        let mut state = self.state.lock().await;
        if state.number > self.broken.load(Ordering::SeqCst)
            && let Some(connection) = &state.connection
        {
            return Ok((state.number, connection.clone()));
        }
        state.connection = None;
        if let Some((until, error)) = &state.resting
            && Instant::now() < *until
        {
            return Err(error.clone());
        }
        match make.await {
            Ok(connection) => {
                state.number += 1;
                state.connection = Some(connection.clone());
                (state.pause, state.resting) = (PAUSE, None);
                Ok((state.number, connection))
            }
            Err(error) => {
                state.resting = Some((Instant::now() + state.pause, error.clone()));
                state.pause = (state.pause * 2).min(PAUSE_MAX);
                Err(error)
            }
        }
    }

    /// Says that a connection is of no more use.
    pub(super) fn broke(&self, number: u64) {
        self.broken.fetch_max(number, Ordering::SeqCst);
    }
}
