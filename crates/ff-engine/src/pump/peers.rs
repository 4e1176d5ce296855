//! The engines on a store, and the partitions each of them acts for.
//!
//! Every engine announces itself once a second by a hint. A partition belongs to the engine with the highest hash of both among
//! those that keep up (rendezvous hashing), so a partition changes hands only when its owner comes or goes. Engines need not agree:
//! an engine always counts itself, so the highest-ranked engine acts whatever it has heard of the others, and two engines that act
//! for one partition only ask the store twice.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use ff_core::types::EngineId;
use tokio::time::Instant;

/// Time without an announcement after which an engine counts as gone. Two announcements may be late or lost.
const GONE: Duration = Duration::from_millis(2_500);

/// The engines that keep up, as far as one engine knows.
#[derive(Debug)]
pub(crate) struct Peers {
    own: EngineId,
    last_seen: HashMap<EngineId, Instant>,
}

impl Peers {
    pub(crate) fn new(own: EngineId) -> Self {
        Self { own, last_seen: HashMap::new() }
    }

    /// Notes the announcement of another engine. Returns whether ownership may change.
    pub(crate) fn note_engine(&mut self, engine_id: EngineId, keeps_up: bool, now: Instant) -> bool {
        if engine_id == self.own {
            return false;
        }
        if keeps_up {
            self.last_seen.insert(engine_id, now).is_none()
        } else {
            self.last_seen.remove(&engine_id).is_some()
        }
    }

    /// Forgets engines that are gone. Returns whether there were any.
    pub(crate) fn drop_gone(&mut self, now: Instant) -> bool {
        let before = self.last_seen.len();
        self.last_seen.retain(|_, seen| now.duration_since(*seen) < GONE);
        self.last_seen.len() < before
    }

    /// Returns the time at which the next engine counts as gone if it stays silent.
    pub(crate) fn next_gone(&self) -> Option<Instant> {
        self.last_seen.values().min().map(|seen| *seen + GONE)
    }

    /// Returns the partitions this engine acts for.
    pub(crate) fn owned(&self, partitions: u16) -> BTreeSet<u16> {
        (0..partitions).filter(|partition| self.owns(*partition)).collect()
    }

    fn owns(&self, partition: u16) -> bool {
        let own = rank(&self.own, partition);
        self.last_seen.keys().all(|other| rank(other, partition) < own)
    }
}

/// Returns the rank of an engine for a partition: a hash that is the same in every build, then the id to break ties.
fn rank(engine_id: &EngineId, partition: u16) -> (u64, EngineId) {
    let (high, low) = engine_id.as_uuid().as_u64_pair();
    let mut hash = high ^ low.rotate_left(32) ^ u64::from(partition).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for multiplier in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
        hash = (hash ^ (hash >> 30)).wrapping_mul(multiplier);
    }
    (hash ^ (hash >> 31), *engine_id)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn engine(nth: u128) -> EngineId {
        EngineId::from_uuid(Uuid::from_u128(nth << 80 | 7 << 76 | 2 << 62 | nth))
    }

    /// Returns engines that have all heard of each other.
    fn engines(count: u128, now: Instant) -> Vec<Peers> {
        let all = || (0..count).map(engine);
        let mut engines: Vec<_> = all().map(Peers::new).collect();
        for one in &mut engines {
            all().for_each(|other| {
                one.note_engine(other, true, now);
            });
        }
        engines
    }

    #[tokio::test]
    async fn engines_that_know_each_other_share_all_partitions_evenly() {
        for count in [1, 2, 4, 7] {
            let engines = engines(count, Instant::now());
            let owned: Vec<_> = engines.iter().map(|engine| engine.owned(256)).collect();
            let all: BTreeSet<_> = owned.iter().flatten().copied().collect();
            let shares: Vec<_> = owned.iter().map(BTreeSet::len).collect();
            assert_eq!((all.len(), shares.iter().sum::<usize>()), (256, 256), "{shares:?}");
            let even = 256 / shares.len();
            assert!(shares.iter().all(|share| (even / 2..=even * 2).contains(share)), "{shares:?}");
        }
    }

    #[tokio::test]
    async fn only_the_partitions_of_an_engine_that_goes_change_hands() {
        let now = Instant::now();
        let mut engines = engines(4, now);
        let before: Vec<_> = engines.iter().map(|engine| engine.owned(256)).collect();
        let gone = engine(3);
        for (nth, one) in engines.iter_mut().take(3).enumerate() {
            assert!(one.note_engine(gone, false, now));
            let after = one.owned(256);
            assert!(before[nth].is_subset(&after), "none is given away");
            assert!(after.difference(&before[nth]).all(|gained| before[3].contains(gained)));
        }
    }

    #[tokio::test]
    async fn a_partition_has_an_owner_whatever_engines_have_heard() {
        let now = Instant::now();
        let mut engines = engines(3, now);
        // The first has not heard of the second, the second not of the third.
        engines[0].note_engine(engine(1), false, now);
        engines[1].note_engine(engine(2), false, now);
        let owned: BTreeSet<_> = engines.iter().flat_map(|engine| engine.owned(256)).collect();
        assert_eq!(owned.len(), 256);
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_falls_silent_counts_as_gone() {
        let began = Instant::now();
        let mut peers = Peers::new(engine(0));
        assert!(peers.note_engine(engine(1), true, began));
        assert!(!peers.note_engine(engine(0), true, began), "its own announcement comes back");
        assert_eq!(peers.next_gone(), Some(began + GONE));
        assert!(!peers.drop_gone(began + GONE - Duration::from_millis(1)));
        assert!(!peers.note_engine(engine(1), true, began + Duration::from_secs(1)), "nothing new");
        assert!(!peers.drop_gone(began + GONE));
        assert!(peers.drop_gone(began + GONE + Duration::from_secs(1)));
        assert_eq!(peers.owned(256).len(), 256);
    }
}
