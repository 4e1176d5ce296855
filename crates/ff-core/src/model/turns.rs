//! The turns of the model: one for each key of a fair lane, and the lists of keys by turn.

use std::collections::{BTreeMap, BTreeSet};

use crate::backend::snapshot::Snapshot;
use crate::explain::AHEAD_MAX;
use crate::fairness::{Turn, TurnName, TurnQueue, TurnWrite, TurnsQuery};
use crate::types::{FairKey, LaneId};

#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    turns: BTreeMap<TurnName, Turn>,
    lists: BTreeMap<(u16, LaneId, TurnQueue), BTreeSet<(u64, FairKey)>>,
}

impl Turns {
    pub(super) fn find(&self, name: &TurnName) -> Option<&Turn> {
        self.turns.get(name)
    }

    pub(super) fn first(&self, query: &TurnsQuery) -> Vec<(u64, FairKey)> {
        let list = self.lists.get(&(query.partition, query.lane.clone(), query.queue.clone()));
        list.into_iter().flatten().take(query.limit).cloned().collect()
    }

    /// Returns how many keys of a list have their turn before a key, up to `AHEAD_MAX + 1`.
    pub(super) fn ahead_of(&self, name: &TurnName, queue: &TurnQueue) -> Option<u64> {
        let turn = self.find(name).filter(|turn| turn.queues(&name.key).contains(queue))?;
        let list = self.lists.get(&(name.partition, name.lane.clone(), queue.clone()))?;
        let ahead = list.range(..(turn.at, name.key.clone()));
        Some(ahead.take(usize::try_from(AHEAD_MAX + 1).unwrap_or(usize::MAX)).count() as u64)
    }

    /// Returns the lists of a partition that have keys.
    pub(super) fn lists(
        &self,
        partition: u16,
    ) -> impl Iterator<Item = (&LaneId, &TurnQueue, &BTreeSet<(u64, FairKey)>)> {
        let here = self.lists.iter().filter(move |((of, ..), _)| *of == partition);
        here.map(|((_, lane, queue), keys)| (lane, queue, keys))
    }

    pub(super) fn write(&mut self, (name, turn): TurnWrite) {
        if let Some(before) = self.turns.remove(&name) {
            for queue in before.queues(&name.key) {
                let list = (name.partition, name.lane.clone(), queue);
                if let Some(keys) = self.lists.get_mut(&list) {
                    keys.remove(&(before.at, name.key.clone()));
                    if keys.is_empty() {
                        self.lists.remove(&list);
                    }
                }
            }
        }
        let Some(turn) = turn else { return };
        for queue in turn.queues(&name.key) {
            let list = self.lists.entry((name.partition, name.lane.clone(), queue)).or_default();
            list.insert((turn.at, name.key.clone()));
        }
        self.turns.insert(name, turn);
    }

    pub(super) fn snapshot(&self, partition: u16, snapshot: &mut Snapshot) {
        for (name, turn) in self.turns.iter().filter(|(name, _)| name.partition == partition) {
            snapshot.turns.insert((name.lane.clone(), name.key.clone()), turn.clone());
        }
        for (lane, queue, keys) in self.lists(partition) {
            let keys = keys.iter().map(|(at, key)| (key.clone(), *at)).collect();
            snapshot.turn_queues.insert((lane.clone(), queue.clone()), keys);
        }
    }
}
