//! The execution as callers see it.

use crate::execution::contracts::{Attempts, ExecutionEnd, ExecutionInfo, LeaseInfo};
use crate::execution::{Attempt, AttemptSlot, Execution, Phase};
use crate::lease::LeaseEvent;
use crate::payload::Payload;

impl Execution {
    pub fn info(&self) -> ExecutionInfo {
        let mut info = ExecutionInfo {
            execution_id: self.id,
            namespace: self.namespace.clone(),
            lane_id: self.lane.clone(),
            kind: self.kind.clone(),
            priority: self.priority,
            public_state: self.public_state(),
            state: self.state_vector(),
            tags: self.tags.clone(),
            policy: self.policy.clone(),
            fair_key: self.fair_key.clone(),
            idempotency_key: self.idempotency_key.clone(),
            submission_key: self.queue_place.as_ref().map(|place| place.queue.clone()),
            payload_bytes: self.input_size(),
            created_at: self.created_at,
            started_at: self.started_at,
            changed_at: self.changed_at,
            delayed_until: None,
            deadline_at: self.deadline_at,
            finished_at: None,
            finished_by: None,
            lease: None,
            attempts_made: self.attempts_made,
            retries: self.retries,
            reclaims: self.reclaims,
            replays: self.replays,
            progress: self.progress.clone(),
            failure: self.failure.clone(),
            suspension: None,
            flow_id: self.membership.as_ref().map(|membership| membership.flow_id),
            node: self.membership.as_ref().map(|membership| membership.node.clone()),
            trace: self.trace.clone(),
            steps: self.steps.map_or(0, |counter| counter.count),
            forked_from: self.forked_from.as_ref().map(|origin| origin.execution_id),
            hold: self.hold.clone().filter(|_| !self.is_finished()),
            blocking_detail: self.block_detail(),
        };
        match &self.phase {
            Phase::Waiting => {}
            Phase::Delayed { until, .. } => info.delayed_until = Some(*until),
            Phase::Blocked { until, .. } => info.delayed_until = *until,
            Phase::Running { lease } => {
                info.lease = Some(LeaseInfo {
                    worker_id: lease.holder.worker_id.clone(),
                    worker_instance_id: lease.holder.worker_instance_id.clone(),
                    lease_epoch: lease.fence.lease_epoch,
                    attempt_index: self.current_index(),
                    acquired_at: lease.acquired_at,
                    expires_at: lease.until,
                });
            }
            Phase::Suspended { suspension } => info.suspension = Some(suspension.as_ref().into()),
            Phase::Finished { at, by, .. } => {
                info.finished_at = Some(*at);
                info.finished_by = Some(by.clone());
            }
        }
        info
    }

    /// Returns the size of its payload in bytes: of the submitted one, or of the upstream's result that replaced it.
    pub fn input_size(&self) -> u64 {
        let injected = self.membership.as_ref().and_then(|membership| membership.injected_bytes);
        injected.unwrap_or(self.payload_bytes)
    }

    /// Returns the end of a finished execution.
    pub fn ended(&self, result: Option<Payload>) -> Option<ExecutionEnd> {
        let Phase::Finished { outcome, at, by } = &self.phase else { return None };
        Some(ExecutionEnd {
            execution_id: self.id,
            outcome: *outcome,
            at: *at,
            by: by.clone(),
            result,
            failure: self.failure.clone(),
        })
    }

    /// Returns the archived attempts and the open one, oldest first.
    pub fn attempts(&self, mut archived: Vec<Attempt>, leases: Vec<LeaseEvent>) -> Attempts {
        archived.sort_by_key(|attempt| attempt.index);
        if let AttemptSlot::Open(open) = &self.attempt {
            archived.push(open.clone());
        }
        Attempts { attempts: archived, leases }
    }
}
