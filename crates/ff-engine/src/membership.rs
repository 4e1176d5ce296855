//! An engine among the engines of a store: announces itself, and knows which partitions it acts for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::EngineStore;
use ff_core::hint::Hint;
use ff_core::types::EngineId;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::peers::Peers;

/// How often an engine announces itself.
const EVERY: Duration = Duration::from_secs(1);

/// Announcements that wait for the store, at most.
const AT_ONCE: usize = 64;

pub(crate) struct Membership {
    store: Arc<dyn EngineStore>,
    engine_id: EngineId,
    peers: Peers,
    /// When it announces itself next.
    next: Instant,
    announcing: JoinSet<()>,
}

impl Membership {
    pub(crate) fn new(store: Arc<dyn EngineStore>, engine_id: EngineId) -> Self {
        Self { store, engine_id, peers: Peers::new(engine_id), next: Instant::now(), announcing: JoinSet::new() }
    }

    /// When there is something to do again.
    pub(crate) fn next_turn(&self) -> Instant {
        self.peers.next_gone().map_or(self.next, |gone| gone.min(self.next))
    }

    /// Announces this engine when it is time, and forgets engines that are gone. An engine that does not know yet what is due has
    /// nothing to announce, so that the others go on in its place. Answers whether it owns other partitions from now on.
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

    /// Another engine announced itself. Answers whether this one owns other partitions from now on.
    pub(crate) fn note_engine(&mut self, engine_id: EngineId, keeps_up: bool) -> bool {
        self.peers.note_engine(engine_id, keeps_up, Instant::now())
    }

    /// The partitions this engine acts for.
    pub(crate) fn owned(&self) -> BTreeSet<u16> {
        self.peers.owned(self.store.partitions().num_flow_partitions)
    }

    /// Gives hints to all, without being waited for. While the store does not answer, only the first are kept.
    pub(crate) fn announce(&mut self, hints: Vec<Hint>) {
        while self.announcing.try_join_next().is_some() {}
        if hints.is_empty() || self.announcing.len() >= AT_ONCE {
            return;
        }
        let store = self.store.clone();
        self.announcing.spawn(async move {
            if let Err(error) = store.announce(hints).await {
                store.outages().noted("announce", &error);
            }
        });
    }
}
