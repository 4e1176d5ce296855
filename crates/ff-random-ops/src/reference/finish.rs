//! Completion of a run: every execution ends and is forgotten.

use std::collections::BTreeSet;

use super::{Reference, vocabulary};
use crate::prelude::*;
use crate::subject::SharedEntropy;

/// Maximum number of rounds, more than any run needs.
const ROUNDS: usize = 5_000;

impl Reference {
    /// I20: activates all lanes, then works, decides and advances the clock until nothing is left to do.
    pub(crate) fn finish(&mut self, entropy: &SharedEntropy) -> Result<(), String> {
        let lanes = [(0, 0), (0, 1), (1, 0), (1, 1)];
        for (namespace, lane) in lanes {
            let args = ConfigureLaneArgs::new(vocabulary::namespace(namespace), vocabulary::lane(lane));
            let args = ConfigureLaneArgs { state: Some(LaneState::Active), ..args };
            self.configure(args, entropy.draw()).map_err(|refusal| refusal.to_string())?;
        }
        for _ in 0..ROUNDS {
            let worked = self.work(entropy);
            if self.laws.as_ref().is_some_and(|laws| laws.broken.is_some()) {
                return Ok(());
            }
            let partitions = 0..self.partitions.num_flow_partitions;
            let Some(due) = partitions.clone().filter_map(|partition| self.model.next_due(partition)).min() else {
                if !worked && self.model.executions().all(|one| one.phase != Phase::Waiting) {
                    return self.nothing_is_left(entropy);
                }
                // The home of a lane recounts its grants only once per interval.
                self.clock.advance(limits::RECOUNT_MS);
                continue;
            };
            if !worked {
                self.clock.advance(due.since(self.clock.now()));
            }
            let now = self.clock.now();
            let due = |partition: &u16| self.model.next_due(*partition).is_some_and(|at| at <= now);
            for partition in partitions.filter(due).collect::<Vec<_>>() {
                self.execute(&Operation::Pump(PumpArgs { partition }), entropy.draw()).map_err(|no| no.to_string())?;
            }
        }
        Err("I20: the run does not come to an end".into())
    }

    /// Completes, resumes, releases and claims executions and closes open flows, as far as possible. Returns false if
    /// nothing was done.
    fn work(&mut self, entropy: &SharedEntropy) -> bool {
        let suspended = |phase: &Phase| matches!(phase, Phase::Suspended { .. });
        let decide = |id| Operation::Resume(ResumeArgs::new(id, OperatorDecision::Approve));
        let mut operations: Vec<_> =
            self.model.executions().filter(|one| suspended(&one.phase)).map(|one| decide(one.id)).collect();
        operations.extend(self.model.executions().filter_map(unblock));
        let open = self.model.flows().filter(|flow| flow.held_open);
        operations.extend(open.map(|flow| Operation::CloseFlow(CloseFlowArgs { flow_id: flow.id })));
        let held = self.model.executions().filter_map(|one| match &one.phase {
            Phase::Running { lease } if self.clock.now() < lease.until => Some((one.id, lease.fence)),
            _ => None,
        });
        operations.extend(
            held.map(|(execution_id, fence)| Operation::Complete(CompleteArgs { execution_id, fence, result: None })),
        );
        let mut worked = false;
        for operation in operations {
            worked |= self.execute(&operation, entropy.draw()).is_ok();
        }
        for partition in 0..self.partitions.num_flow_partitions {
            let ready: BTreeSet<_> =
                self.model.ready(partition).into_iter().map(|ReadyLane { lane, .. }| lane).collect();
            for (namespace, lane) in ready.iter().map(LaneId::apart) {
                let claim = ClaimArgs {
                    namespace,
                    lane,
                    capabilities: vocabulary::capabilities(0),
                    max: 100,
                    ..ClaimArgs::new(partition, vocabulary::holder(0))
                };
                let output = self.one(&Operation::Claim(claim), entropy.draw());
                worked |= matches!(output, Ok(super::Output::Claims(claims)) if !claims.claimed.is_empty());
            }
        }
        worked
    }

    /// Checks that every execution is forgotten, every flow has ended, and the whole limit of the default lane can be
    /// granted again.
    fn nothing_is_left(&mut self, entropy: &SharedEntropy) -> Result<(), String> {
        if let Some(stuck) = self.model.executions().next() {
            return Err(format!("I20: nothing is left to do, and this is not over and gone: {stuck:?}"));
        }
        if let Some(stuck) = self.model.flows().find(|flow| flow.ended_at.is_none()) {
            return Err(format!("I20: nothing is left to do, and this flow is not over: {stuck:?}"));
        }
        let (namespace, lane) = (Namespace::default_name(), LaneId::default_name());
        let known = self.model.lane(0, &lane).ok().flatten();
        let Some(limit) = known.and_then(|known| known.settings.concurrency) else { return Ok(()) };
        let mut counts = Vec::new();
        for partition in 0..self.partitions.num_flow_partitions {
            let (namespace, lane, seq) = (namespace.clone(), lane.clone(), self.last_grant(partition));
            let count = self.ask(RecountLaneArgs { partition, namespace, lane, seq }, entropy.draw());
            counts.push(count.map_err(|refusal| refusal.to_string())?);
        }
        let settle = SettleLaneArgs { namespace: namespace.clone(), lane: lane.clone(), counts };
        self.ask(settle, entropy.draw()).map_err(|refusal| refusal.to_string())?;
        let all = AllotArgs { partition: 0, namespace, lane, want: 100 };
        let allotted = self.ask(all, entropy.draw()).map_err(|refusal| refusal.to_string())?;
        let granted = allotted.grant.map_or(0, |grant| grant.n);
        if granted == limit { Ok(()) } else { Err(format!("I14: {granted} of a limit of {limit} are left")) }
    }
}

/// Returns the operation that makes a blocked execution ready.
fn unblock(execution: &Execution) -> Option<Operation> {
    let (execution_id, partition) = (execution.id, execution.id.partition());
    match execution.phase {
        // A queued execution becomes ready when the execution before it has ended.
        Phase::Blocked { .. } if execution.is_queued() => None,
        Phase::Blocked { on: Blocker::Operator, .. } => Some(Operation::ReleaseHold(ReleaseHoldArgs { execution_id })),
        Phase::Blocked { on: Blocker::Assignment, .. } => Some(Operation::Unassign(UnassignArgs { execution_id })),
        Phase::Blocked { on: from, .. } if from.is_admission() => {
            Some(Operation::Unblock(UnblockArgs { partition, executions: vec![execution_id], from }))
        }
        _ => None,
    }
}
