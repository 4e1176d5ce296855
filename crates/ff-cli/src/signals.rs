//! The signals that request a stop.

use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use crate::exit::Exit;

/// The signals that request a stop. A signal between the creation of this value and a call of `next` is not lost.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let on = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { terminate: on(SignalKind::terminate())?, interrupt: on(SignalKind::interrupt())? })
    }

    /// Awaits a future. Returns the exit of a wait that was cut short by a signal, or after `patience` if given.
    pub(crate) async fn unless_cut_short<T>(
        &mut self,
        patience: Option<Duration>,
        waiting: impl Future<Output = T>,
    ) -> Result<T, Exit> {
        tokio::select! {
            ended = timeout(patience.unwrap_or(Duration::MAX), waiting) => ended.map_err(|_| Exit::TimedOut),
            () = self.next() => Err(Exit::Interrupted),
        }
    }

    /// Waits for the next signal that requests a stop.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
