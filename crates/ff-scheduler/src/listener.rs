//! Hears where work is ready, and looks for it where nobody tells.

use std::sync::Arc;

use ff_core::backend::EngineStore;
use ff_core::hint::Hint;
use ff_engine::{HintStream, Sweeper};
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::unconstrained;

use crate::limits::Limits;
use crate::matchmaker::Matchmaker;

/// Somebody who wants to know when everything heard so far has been taken note of.
pub(crate) type FlushRequest = oneshot::Sender<()>;

pub(crate) struct Listener {
    hint_stream: HintStream,
    sweeper: Sweeper,
    matchmaker: Arc<Matchmaker>,
    limits: Limits,
    flush_requests: mpsc::UnboundedReceiver<FlushRequest>,
    waiting: Vec<FlushRequest>,
}

impl Listener {
    pub(crate) fn new(
        store: Arc<dyn EngineStore>,
        matchmaker: Arc<Matchmaker>,
        flush_requests: mpsc::UnboundedReceiver<FlushRequest>,
    ) -> Self {
        let limits = Limits::new(store.clone(), matchmaker.clone());
        let (hint_stream, sweeper) = (HintStream::of(&*store), Sweeper::new(store));
        Self { hint_stream, sweeper, matchmaker, limits, flush_requests, waiting: Vec::new() }
    }

    /// Listens until nobody can ask any more.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::select! {
                // Hints come first: an asker is answered only when no hint is left that was given before it asked.
                biased;
                hint = self.hint_stream.next() => self.heed(hint),
                looked = self.sweeper.next() => if let Some((partition, swept)) = looked {
                    for ready in swept.ready {
                        self.matchmaker.add(partition, &ready.lane, &ready.kind, ready.head);
                    }
                },
                () = self.limits.turn() => {}
                asker = self.flush_requests.recv() => match asker {
                    Some(asker) => {
                        self.catch_up();
                        self.waiting.push(asker);
                    }
                    None => return,
                },
            }
            // Nobody is kept waiting for a store that does not answer.
            if (self.sweeper.is_through() && self.limits.is_through()) || self.sweeper.is_failing() {
                for asker in self.waiting.drain(..) {
                    // Fails when the asker has gone, and then there is nobody to tell.
                    asker.send(()).ok();
                }
            }
        }
    }

    /// Heeds the hints that have been given. Some may have come after the others were found to be none, and an asker after
    /// them.
    fn catch_up(&mut self) {
        while let Some(hint) = unconstrained(self.hint_stream.next()).now_or_never() {
            self.heed(hint);
        }
    }

    fn heed(&mut self, hint: Hint) {
        match hint {
            Hint::Ready { partition, lane, kind, head } => self.matchmaker.add(partition, &lane, &kind, head),
            Hint::LaneFreed { partition, lane } => self.limits.freed(partition, lane),
            Hint::Missed => self.sweeper.everything(),
            Hint::Due { .. }
            | Hint::LeaseLost { .. }
            | Hint::SignalDelivered { .. }
            | Hint::EventTold { .. }
            | Hint::StreamMoved { .. }
            | Hint::Ended { .. }
            | Hint::FlowMoved { .. }
            | Hint::FlowEnded { .. } => {}
        }
    }
}
