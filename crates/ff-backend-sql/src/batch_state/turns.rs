//! The turns of keys in the batch state.

use std::collections::HashMap;

use ff_core::fairness::{Turn, TurnName, TurnQueue, TurnsQuery};
use ff_core::types::{FairKey, LaneId};

use super::{IndexPrefix, RecordSet};

/// The name of a list of keys, ordered by turn.
pub(crate) type TurnList = (u16, LaneId, TurnQueue);

/// The turns a batch has loaded and written.
#[derive(Default)]
pub(crate) struct Turns {
    pub(crate) turns: RecordSet<TurnName, Turn>,
    lists: HashMap<TurnList, IndexPrefix<(u64, FairKey)>>,
}

/// Returns the list that a query asks for.
pub(crate) fn list_of(query: &TurnsQuery) -> TurnList {
    (query.partition, query.lane.clone(), query.queue.clone())
}

impl Turns {
    /// Returns the first keys of a list with the batch's changes; none if too few were loaded.
    pub(crate) fn first(&self, query: &TurnsQuery) -> Option<Vec<(u64, FairKey)>> {
        let list = self.lists.get(&list_of(query))?;
        let name = |key: &FairKey| TurnName { partition: query.partition, lane: query.lane.clone(), key: key.clone() };
        let is_touched = |(_, key): &(u64, FairKey)| self.turns.is_touched(&name(key));
        let touched = self.turns.touched().filter_map(|(name, turn)| Some((name, turn?)));
        let here = touched.filter(|(name, _)| name.partition == query.partition && name.lane == query.lane);
        let entered = here.filter(|(name, turn)| turn.queues(&name.key).contains(&query.queue));
        list.first(query.limit, is_touched, entered.map(|(name, turn)| (turn.at, name.key.clone())))
    }

    /// Returns the length a list was loaded with.
    pub(crate) fn length_of(&self, query: &TurnsQuery) -> usize {
        self.lists.get(&list_of(query)).map_or(0, IndexPrefix::limit)
    }

    /// Adds a loaded list.
    pub(crate) fn lay(&mut self, list: TurnList, keys: IndexPrefix<(u64, FairKey)>) {
        self.lists.insert(list, keys);
    }
}
