//! Being asked to stop, by SIGTERM or Ctrl-C.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Requests to stop, from the moment this exists: one that arrives before anybody waits for it is not lost.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let on = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { terminate: on(SignalKind::terminate())?, interrupt: on(SignalKind::interrupt())? })
    }

    /// Returns at the next request to stop.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
