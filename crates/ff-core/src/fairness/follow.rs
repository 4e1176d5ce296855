//! The turns of keys follow the changes of executions.

use std::collections::BTreeMap;

use super::{Turn, TurnName, TurnWrite};
use crate::execution::{Execution, Phase};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View, require_all};
use crate::types::ExecutionId;

/// Returns the writes of turns that follow from these changes. `decided` are writes that a rule has already decided on;
/// the changes are applied on top of them.
pub(crate) fn follow(view: &dyn View, changes: &[Change], decided: Vec<TurnWrite>) -> Result<Vec<TurnWrite>, Stop> {
    let moved = moved(view, changes)?;
    let needed = moved.iter().flat_map(|(name, ..)| [name.clone(), name.clock()]);
    require_all(needed.map(|name| view.turn(&name).map(drop)))?;
    let mut turns: BTreeMap<TurnName, Option<Turn>> = decided.into_iter().collect();
    for (name, execution, is_waiting) in moved {
        let mut turn = current(view, &turns, &name)?.unwrap_or_default();
        let queue = (execution.kind.clone(), execution.class());
        if is_waiting {
            if turn.waiting.is_empty() {
                turn.at = turn.at.max(clock(view, &turns, &name)?);
            }
            *turn.waiting.entry(queue).or_default() += 1;
        } else if let Some(count) = turn.waiting.get_mut(&queue) {
            *count -= 1;
            if *count == 0 {
                turn.waiting.remove(&queue);
            }
        }
        turns.insert(name, Some(turn));
    }
    let mut writes = Vec::with_capacity(turns.len());
    for (name, turn) in &turns {
        let clock = clock(view, &turns, name)?;
        let retained = turn.clone().filter(|turn| name.key.is_empty() || !turn.is_over(clock));
        if view.turn(name)? != retained.as_ref() {
            writes.push((name.clone(), retained));
        }
    }
    Ok(writes)
}

/// Returns the executions with a key that begin to wait for a worker (`true`) or no longer wait for one (`false`).
fn moved<'c>(view: &dyn View, changes: &'c [Change]) -> Result<Vec<(TurnName, &'c Execution, bool)>, Stop> {
    let mut is_waiting: BTreeMap<ExecutionId, bool> = BTreeMap::new();
    let mut moved = Vec::new();
    for Change { after, .. } in changes.iter().filter(|change| !change.after.fair_key.is_empty()) {
        let was = match is_waiting.get(&after.id) {
            Some(was) => *was,
            None => view.execution(&after.id)?.is_some_and(|before| before.phase == Phase::Waiting),
        };
        let is = after.phase == Phase::Waiting;
        is_waiting.insert(after.id, is);
        if was != is {
            let (partition, lane, key) = (after.id.partition(), after.lane_key(), after.fair_key.clone());
            moved.push((TurnName { partition, lane, key }, after, is));
        }
    }
    Ok(moved)
}

fn current(view: &dyn View, turns: &BTreeMap<TurnName, Option<Turn>>, name: &TurnName) -> Result<Option<Turn>, Stop> {
    match turns.get(name) {
        Some(turn) => Ok(turn.clone()),
        None => Ok(view.turn(name)?.cloned()),
    }
}

/// Returns the virtual time of the lane of a key.
fn clock(view: &dyn View, turns: &BTreeMap<TurnName, Option<Turn>>, name: &TurnName) -> Result<u64, Stop> {
    Ok(current(view, turns, &name.clock())?.map_or(0, |turn| turn.clock))
}
