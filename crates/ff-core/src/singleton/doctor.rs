//! The doctor's checks of the queues of singleton and debounce keys.

use crate::backend::snapshot::Snapshot;
use crate::doctor::{Finding, Findings};
use crate::execution::{Execution, Phase};

/// Returns all errors in the queues of singleton and debounce keys: I14, at most one execution of a singleton key runs.
pub(crate) fn examine(snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Findings::default();
    let mut find = |about: String, what: String| findings.find("I14", about, what);
    for ((namespace, name), queue) in &snapshot.key_queues {
        let about = format!("{namespace}/{name}");
        if queue.is_empty() {
            find(about.clone(), "is empty, yet it is kept".into());
        }
        let is_of_queue = |execution: &&Execution| {
            execution.namespace == *namespace && execution.queue_place.as_ref().is_some_and(|at| at.queue == *name)
        };
        for (nth, id) in queue.iter().enumerate() {
            match snapshot.executions.get(id).filter(is_of_queue) {
                None => find(about.clone(), format!("has {id}, which is not an execution of this key")),
                Some(execution) if execution.is_finished() => find(about.clone(), format!("has {id}, which has ended")),
                Some(execution) => {
                    let ahead = nth.checked_sub(1).map(|ahead| queue[ahead]);
                    if execution.behind() != ahead {
                        find(id.to_string(), format!("should be behind {ahead:?}, is behind {:?}", execution.behind()));
                    }
                }
            }
        }
    }
    for (id, execution) in &snapshot.executions {
        let Some(place) = &execution.queue_place else { continue };
        let name = (execution.namespace.clone(), place.queue.clone());
        let is_listed = snapshot.key_queues.get(&name).is_some_and(|queue| queue.contains(id));
        if place.queue.is_singleton() && !execution.is_finished() && !is_listed {
            find(id.to_string(), format!("lives, and is not in {}", place.queue));
        }
        let is_held_or_ready = matches!(execution.phase, Phase::Waiting | Phase::Running { .. });
        if place.behind.is_some() && (is_held_or_ready || execution.is_finished()) {
            find(id.to_string(), "is behind another, yet it may run or has ended".into());
        }
    }
    findings.0
}
