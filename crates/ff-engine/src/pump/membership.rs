//! One engine among the engines of a store: announces itself, and knows which partitions it acts for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::EngineStore;
use ff_core::backend::hint::Hint;
use ff_core::types::EngineId;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::peers::Peers;

/// Interval between the announcements of an engine.
const EVERY: Duration = Duration::from_secs(1);

/// Maximum number of announcements under way.
const AT_ONCE: usize = 64;

pub(crate) struct Membership {
    store: Arc<dyn EngineStore>,
    engine_id: EngineId,
    peers: Peers,
    /// Time of the next announcement of this engine.
    next: Instant,
    announcing: JoinSet<()>,
}

impl Membership {
    pub(crate) fn new(store: Arc<dyn EngineStore>, engine_id: EngineId) -> Self {
        Self { store, engine_id, peers: Peers::new(engine_id), next: Instant::now(), announcing: JoinSet::new() }
    }

    /// Returns the time of the next turn.
    pub(crate) fn next_turn(&self) -> Instant {
        self.peers.next_gone().map_or(self.next, |gone| gone.min(self.next))
    }

    /// Announces this engine when it is time, and forgets engines that are gone. `keeps_up` is `None` until the engine knows what
    /// is due; it is not announced before, so that the others act in its place. Returns whether the owned partitions may change.
    pub(crate) fn take_turn(&mut self, keeps_up: Option<bool>) -> bool {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + EVERY;
            if let Some(keeps_up) = keeps_up {
                self.announce(vec![Hint::EngineSeen { engine_id: self.engine_id, keeps_up }]);
            }
        }
        self.peers.drop_gone(now)
    }

    /// Notes the announcement of another engine. Returns whether the owned partitions may change.
    pub(crate) fn note_engine(&mut self, engine_id: EngineId, keeps_up: bool) -> bool {
        self.peers.note_engine(engine_id, keeps_up, Instant::now())
    }

    /// Returns the partitions this engine acts for.
    pub(crate) fn owned(&self) -> BTreeSet<u16> {
        self.peers.owned(self.store.partitions().num_flow_partitions)
    }

    /// Sends hints to every process, without waiting. Drops them while [`AT_ONCE`] announcements wait for the store.
    pub(crate) fn announce(&mut self, hints: Vec<Hint>) {
        while self.announcing.try_join_next().is_some() {}
        if hints.is_empty() || self.announcing.len() >= AT_ONCE {
            return;
        }
        let store = self.store.clone();
        self.announcing.spawn(async move {
            if let Err(error) = store.announce(hints).await {
                store.outages().log_failure("announce", &error);
            }
        });
    }
}
