//! The signals that request a stop.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

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

    /// Waits for the next signal that requests a stop.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
