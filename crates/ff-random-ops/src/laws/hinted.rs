//! Hints notify waiting parts of an engine of ready work, due times, ends, lost leases and events of flows.

use super::Verdict;
use crate::prelude::*;

/// I9: the hints contain every change that a part of the engine may wait for.
pub(super) fn hinted(before: &Model, after: &Model, hints: &[Hint], partitions: &PartitionConfig) -> Verdict {
    let has_hint = |expected: &dyn Fn(&Hint) -> bool| hints.iter().any(expected);
    for execution in after.executions() {
        let was = before.find(&execution.id);
        if was == Some(execution) {
            continue;
        }
        let began = |phase: fn(&Phase) -> bool| phase(&execution.phase) && !was.is_some_and(|was| phase(&was.phase));
        let ready = |hint: &Hint| matches!(hint, Hint::Ready { lane, .. } if *lane == execution.lane_key());
        let ended = |hint: &Hint| matches!(hint, Hint::Ended { execution_id } if *execution_id == execution.id);
        let queued = execution.queue_class();
        if queued.is_some() && was.and_then(Execution::queue_class) != queued && !has_hint(&ready) {
            return Err(format!("I9: no hint says that {} waits", execution.id));
        }
        if began(|phase| matches!(phase, Phase::Finished { .. })) && !has_hint(&ended) {
            return Err(format!("I9: no hint says that {} ended", execution.id));
        }
        let streamed = Hint::StreamMoved { execution_id: execution.id };
        let is_open = |of: &Execution| matches!(of.attempt, AttemptSlot::Open(_));
        if was.is_some_and(|was| was.streamed && is_open(was) != is_open(execution)) && !hints.contains(&streamed) {
            return Err(format!("I9: no hint says that an attempt at {} began or ended", execution.id));
        }
        let last = execution.last_lease.as_ref().filter(|last| last.ended.is_loss());
        let lost =
            |hint: &Hint| matches!(hint, Hint::LeaseLost { lost, .. } if Some(lost.fence) == last.map(|l| l.fence));
        let released = was.is_some_and(|was| was.last_lease != execution.last_lease);
        if released && last.is_some() && !has_hint(&lost) {
            return Err(format!("I9: no hint says that the lease of {} was lost", execution.id));
        }
    }
    for flow in after.flows() {
        let (was, flow_id) = (before.find_flow(&flow.id), flow.id);
        if was.is_none_or(|was| was.events < flow.events) && !hints.contains(&Hint::FlowMoved { flow_id }) {
            return Err(format!("I9: no hint says that something happened in {flow_id}"));
        }
        let ended = flow.ended_at.is_some() && was.is_none_or(|was| was.ended_at.is_none());
        if ended && !hints.contains(&Hint::FlowEnded { flow_id }) {
            return Err(format!("I9: no hint says that {flow_id} ended"));
        }
    }
    for partition in 0..partitions.num_flow_partitions {
        let (was, is) = (before.next_due(partition), after.next_due(partition));
        if let Some(at) = is.filter(|is| was.is_none_or(|was| *is < was))
            && !hints.contains(&Hint::Due { partition, at })
        {
            return Err(format!("I9: no hint says that something is due at {at}"));
        }
    }
    Ok(())
}
