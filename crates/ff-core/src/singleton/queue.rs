//! The queue of a key: an execution joins the queue when it is created or replayed, and unblocks the next one when it ends.

use std::collections::BTreeMap;

use crate::engine_error::{Code, Refusal};
use crate::event::{Event, EventKind};
use crate::execution::{Blocker, Execution, Phase, unblock};
use crate::limits;
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::singleton::KeyQueue;
use crate::types::{ExecutionId, TimestampMs};

/// Adds the resulting changes of other executions with the same keys, and returns the queues that change.
pub(crate) fn follow(view: &dyn View, changes: &mut Vec<Change>, now: TimestampMs) -> Result<Vec<KeyQueue>, Stop> {
    let mut queues = BTreeMap::new();
    let mut nth = 0;
    while let Some(change) = changes.get(nth) {
        nth += 1;
        let after = &change.after;
        let Some(place) = &after.queue_place else { continue };
        let before = view.execution(&after.id)?;
        let was_live = before.is_some_and(|before| !before.is_finished());
        if was_live != after.is_finished() {
            continue;
        }
        // Submissions under a debounce key do not change a replayed execution.
        if !was_live && before.is_some() && !place.queue.is_singleton() {
            continue;
        }
        let (partition, name) = (after.id.partition(), (after.namespace.clone(), place.queue.clone()));
        if !queues.contains_key(&name) {
            let (namespace, name) = name.clone();
            let known = view.key_queue(partition, &namespace, &name)?.cloned();
            let known = known.unwrap_or(KeyQueue { partition, namespace, name, executions: Vec::new() });
            queues.insert((known.namespace.clone(), known.name.clone()), known);
        }
        let Some(queue) = queues.get_mut(&name) else { continue };
        if was_live { leave(view, queue, changes, nth - 1, now)? } else { join(queue, &mut changes[nth - 1], now)? }
    }
    let mut written = Vec::new();
    for queue in queues.into_values() {
        let known = view.key_queue(queue.partition, &queue.namespace, &queue.name)?;
        if known.map_or(&[][..], |known| &known.executions) != queue.executions {
            written.push(queue);
        }
    }
    Ok(written)
}

/// Adds an execution to the queue of its key, behind the last one, if there is one.
fn join(queue: &mut KeyQueue, change: &mut Change, now: TimestampMs) -> Result<(), Refusal> {
    let id = change.after.id;
    if !queue.name.is_singleton() {
        queue.executions = vec![id];
        return Ok(());
    }
    if queue.executions.len() >= limits::KEY_QUEUE {
        let refusal =
            Refusal::over_limit(Code::LimitExceeded, "singleton", limits::KEY_QUEUE, queue.executions.len() + 1);
        return Err(refusal.because("so many executions of the key live at most"));
    }
    let behind = queue.executions.last().copied();
    queue.executions.push(id);
    if let Some(place) = &mut change.after.queue_place {
        place.behind = behind;
    }
    if change.after.phase == Phase::Waiting && behind.is_some() {
        change.after.phase = change.after.ready_phase();
        let reason = Blocker::Quota.reason();
        change.events.push(Event::new(&id, now, EventKind::Blocked { reason }));
    }
    Ok(())
}

/// Removes an ended execution from the queue. The one behind it moves up, after all other changes of the operation.
fn leave(
    view: &dyn View,
    queue: &mut KeyQueue,
    changes: &mut Vec<Change>,
    nth: usize,
    now: TimestampMs,
) -> Result<(), Stop> {
    let id = changes[nth].after.id;
    if let Some(place) = &mut changes[nth].after.queue_place {
        place.behind = None;
    }
    let Some(position) = queue.executions.iter().position(|one| *one == id) else { return Ok(()) };
    queue.executions.remove(position);
    let Some(next) = queue.executions.get(position).copied() else { return Ok(()) };
    let behind = position.checked_sub(1).map(|ahead| queue.executions[ahead]);
    if let Some(change) = changes.iter_mut().find(|change| change.after.id == next) {
        let moved = move_up(&change.after, behind, now);
        *change = change.clone().then(moved);
    } else {
        let execution = view.execution(&next)?.ok_or(Code::InvariantViolation)?;
        changes.push(move_up(execution, behind, now));
    }
    Ok(())
}

/// Returns the execution with another one ahead of it; without one, the execution becomes ready.
fn move_up(execution: &Execution, behind: Option<ExecutionId>, now: TimestampMs) -> Change {
    let mut moved = execution.clone();
    if let Some(place) = &mut moved.queue_place {
        place.behind = behind;
    }
    if behind.is_none() && execution.is_queued() { unblock(&moved, now) } else { Change::of(moved) }
}
