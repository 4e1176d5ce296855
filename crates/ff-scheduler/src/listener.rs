//! Listens for hints of ready work, and sweeps partitions in case a hint was lost.

use std::sync::Arc;

use ff_core::backend::hint::Hint;
use ff_core::backend::{EngineStore, ReadyLane};
use ff_engine::{HintStream, Sweeper};
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::unconstrained;

use crate::limits::Limits;
use crate::matchmaker::Matchmaker;
use crate::ready::WorkType;

/// A caller that waits until all earlier hints have been handled.
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
        let (hint_stream, sweeper) = (HintStream::of(&*store), Sweeper::on_demand(store));
        Self { hint_stream, sweeper, matchmaker, limits, flush_requests, waiting: Vec::new() }
    }

    /// Runs until every handle is dropped.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::select! {
                // Hints come first: a caller is answered only after all hints sent before its call.
                biased;
                hint = self.hint_stream.next() => self.handle(hint),
                looked = self.sweeper.next() => if let Some((partition, swept)) = looked {
                    for ReadyLane { lane, kind, class, head } in swept.ready {
                        self.matchmaker.add(partition, &lane, &WorkType { kind, class }, head);
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
            // Callers do not wait for a store that does not answer.
            if (self.sweeper.is_through() && self.limits.is_through()) || self.sweeper.is_failing() {
                for asker in self.waiting.drain(..) {
                    // Fails when the caller has gone.
                    asker.send(()).ok();
                }
            }
        }
    }

    /// Handles all hints that have arrived. A hint, then the caller's request, may have arrived after the stream was found empty.
    fn catch_up(&mut self) {
        while let Some(hint) = unconstrained(self.hint_stream.next()).now_or_never() {
            self.handle(hint);
        }
    }

    fn handle(&mut self, hint: Hint) {
        match hint {
            Hint::Ready { partition, lane, kind, class, head } => {
                self.matchmaker.add(partition, &lane, &WorkType { kind, class }, head);
            }
            Hint::LaneFreed { partition, lane } => self.limits.freed(partition, lane),
            Hint::Missed => self.sweeper.everything(),
            Hint::Due { .. }
            | Hint::LeaseLost { .. }
            | Hint::SignalDelivered { .. }
            | Hint::EventRecorded { .. }
            | Hint::StreamMoved { .. }
            | Hint::WorkersChanged
            | Hint::FlushMarker { .. }
            | Hint::EngineSeen { .. }
            | Hint::SlotsFreed { .. }
            | Hint::QuotaDefined { .. }
            | Hint::TickDue { .. }
            | Hint::Ended { .. }
            | Hint::FlowMoved { .. }
            | Hint::FlowEnded { .. } => {}
        }
    }
}
