//! The side that is right: the model, and what a walk remembers of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_core::clock::{Clock, ManualClock};
use ff_core::contracts::{
    CancelArgs, ClaimArgs, Claimed, Claims, CompleteArgs, DelayArgs, FailArgs, ProgressArgs, PumpArgs, RenewArgs,
    ReplayArgs, RevokeArgs, SubmitArgs,
};
use ff_core::dice::Nonce;
use ff_core::engine_error::Refusal;
use ff_core::execution::{Failure, Tags};
use ff_core::lease::{Fence, Holder};
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::types::{
    AttemptId, ExecutionId, IdempotencyKey, Kind, LaneId, LeaseEpoch, LeaseId, Namespace, Priority, TagKey, TagValue,
    WorkerId, WorkerInstanceId,
};
use uuid::Uuid;

use super::step::{Policies, Step, Submission, Whose};
use super::told::Word;

/// The model at a moment of a walk.
pub(crate) struct Reference {
    pub(crate) model: Model,
    pub(crate) partitions: PartitionConfig,
    clock: Arc<ManualClock>,
    /// Which execution a job number turned out to be.
    ids: BTreeMap<u32, ExecutionId>,
    /// Every fence given out, oldest first.
    fences: BTreeMap<ExecutionId, Vec<Fence>>,
}

impl Reference {
    pub(crate) fn new(partitions: PartitionConfig, clock: Arc<ManualClock>) -> Self {
        let (ids, fences) = (BTreeMap::new(), BTreeMap::new());
        Self { model: Model::default(), partitions, clock, ids, fences }
    }

    /// Decides and applies one operation.
    pub(crate) fn perform(&mut self, operation: &Operation, nonce: Nonce) -> Result<Word, Refusal> {
        let at = Conditions { partitions: self.partitions, nonce, now: self.clock.now() };
        let (reply, _) = self.model.execute(operation, &at)?;
        let Reply::Taken(taken) = reply else { return Ok(Word::Reply(reply)) };
        let with_payload = |task: ff_core::contracts::Task| {
            let payload = self.model.payload(&task.execution_id).cloned().unwrap();
            Claimed { task, payload }
        };
        let claimed: Vec<_> = taken.tasks.into_iter().map(with_payload).collect();
        for Claimed { task, .. } in &claimed {
            self.fences.entry(task.execution_id).or_default().push(task.fence);
        }
        Ok(Word::Claims(Claims { claimed, next: taken.next }))
    }

    /// Remembers which execution a job is.
    pub(crate) fn note(&mut self, job: u32, told: &Result<Word, Refusal>) {
        if let Ok(Word::Reply(Reply::Submitted(submitted))) = told {
            self.ids.insert(job, submitted.execution_id);
        }
    }

    /// The execution of a job; one that is not there when the job was never submitted.
    pub(crate) fn id(&self, job: u32) -> ExecutionId {
        let nowhere = || ExecutionId::place(uuid(job), &Namespace::default_name(), None, &self.partitions);
        // A number no walk gives to a job stands for an id that cannot be here.
        if job == u32::MAX {
            return ExecutionId::new(self.partitions.num_flow_partitions, uuid(job));
        }
        self.ids.get(&job).copied().unwrap_or_else(nowhere)
    }

    /// Every job there is, with its execution.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (u32, ExecutionId)> {
        self.ids.iter().map(|(job, id)| (*job, *id))
    }

    /// What a step asks; nothing when it only lets time pass.
    pub(crate) fn operations(&self, step: &Step) -> Vec<Operation> {
        match step {
            Step::SubmitMany(many) => many.iter().map(|one| Operation::Submit(submit_args(one))).collect(),
            Step::Advance { .. } => Vec::new(),
            one => vec![self.operation(one)],
        }
    }

    fn operation(&self, step: &Step) -> Operation {
        match step {
            Step::Submit(submission) => Operation::Submit(submit_args(submission)),
            Step::Claim { partition, namespace, lane, kinds, max, worker, ttl_ms } => Operation::Claim(ClaimArgs {
                partition: *partition,
                namespace: self::namespace(*namespace),
                lane: self::lane(*lane),
                kinds: kinds.iter().map(|nth| kind(*nth)).collect(),
                max: *max,
                holder: holder(*worker),
                lease_ttl_ms: *ttl_ms,
            }),
            Step::Renew { job, fence, ttl_ms } => {
                let (execution_id, fence) = self.held(*job, *fence);
                Operation::Renew(RenewArgs { execution_id, fence, lease_ttl_ms: *ttl_ms })
            }
            Step::Progress { job, fence, percent, message } => {
                let (execution_id, fence) = self.held(*job, *fence);
                Operation::Progress(ProgressArgs { execution_id, fence, percent: *percent, message: message.map(text) })
            }
            Step::Complete { job, fence, result } => {
                let (execution_id, fence) = self.held(*job, *fence);
                let result = result.map(|bytes| Payload::bytes(vec![b'r'; bytes]));
                Operation::Complete(CompleteArgs { execution_id, fence, result })
            }
            Step::Fail { job, fence, category, permanent } => {
                let (execution_id, fence) = self.held(*job, *fence);
                let failure =
                    Failure { category: kind(*category), message: "it went wrong".into(), permanent: *permanent };
                Operation::Fail(FailArgs { execution_id, fence, failure })
            }
            Step::Delay { job, fence, start } => {
                let (execution_id, fence) = self.held(*job, *fence);
                Operation::Delay(DelayArgs { execution_id, fence, start: *start })
            }
            Step::Cancel { job, reason } => {
                let (execution_id, reason) = (self.id(*job), reason.map(text));
                Operation::Cancel(CancelArgs { execution_id, reason, requested_by: None })
            }
            Step::Replay { job, reason } => {
                let (execution_id, reason) = (self.id(*job), reason.map(text));
                Operation::Replay(ReplayArgs { execution_id, reason, requested_by: None })
            }
            Step::Revoke { job, lease } => {
                let lease_id = lease.map(|whose| self.held(*job, whose).1.lease_id);
                Operation::Revoke(RevokeArgs { execution_id: self.id(*job), lease_id, reason: None })
            }
            Step::Pump { partition } => Operation::Pump(PumpArgs { partition: *partition }),
            Step::SubmitMany(_) | Step::Advance { .. } => unreachable!("these are not one operation"),
        }
    }

    /// An execution and the fence a caller shows for it; a made-up one when it was never held.
    fn held(&self, job: u32, whose: Whose) -> (ExecutionId, Fence) {
        let id = self.id(job);
        let given = self.fences.get(&id).map_or(&[][..], Vec::as_slice);
        let made_up = Uuid::from_u128(9);
        let nobody = Fence {
            lease_id: LeaseId::from_uuid(made_up),
            lease_epoch: LeaseEpoch(1),
            attempt_id: AttemptId::from_uuid(made_up),
        };
        let mut fence = given.last().copied().unwrap_or(nobody);
        match whose {
            Whose::Latest => {}
            Whose::Earlier => fence = given.iter().rev().nth(1).copied().unwrap_or(nobody),
            Whose::OtherLease => fence.lease_id = LeaseId::from_uuid(made_up),
            Whose::OtherEpoch => fence.lease_epoch = fence.lease_epoch.next(),
            Whose::OtherAttempt => fence.attempt_id = AttemptId::from_uuid(made_up),
        }
        (id, fence)
    }
}

fn submit_args(submission: &Submission) -> SubmitArgs {
    let mut tags = Tags::new();
    for nth in 0..submission.tags {
        tags.insert(TagKey::parse(&format!("tag-{nth}")).unwrap(), TagValue::parse("value").unwrap());
    }
    SubmitArgs {
        uuid: uuid(submission.job),
        namespace: namespace(submission.namespace),
        lane: lane(submission.lane),
        kind: kind(submission.kind),
        payload: Payload::bytes(vec![b'p'; submission.payload]),
        priority: Priority::new(submission.priority).unwrap(),
        tags,
        idempotency_key: submission.key.map(|nth| IdempotencyKey::parse(&format!("key-{nth}")).unwrap()),
        start: submission.start,
        policy: policy(submission.policy),
    }
}

fn policy(which: Policies) -> Policy {
    let bounded = |retries: u32, bound: u32| Policy {
        retry_policy: RetryPolicy {
            max_retries: retries,
            backoff: Backoff::Fixed { delay_ms: 0, jitter: false },
            ..RetryPolicy::default()
        },
        max_reclaim_count: bound,
        max_replay_count: bound,
        dedup_window_ms: 60_000,
        ..Policy::default()
    };
    match which {
        Policies::Default => Policy::default(),
        Policies::Tight => bounded(2, 1),
        Policies::None => bounded(0, 0),
        Policies::Timed => Policy {
            timeout_policy: TimeoutPolicy { attempt_timeout_ms: Some(4_000), execution_deadline_ms: Some(90_000) },
            ..bounded(0, 3)
        },
        Policies::Choosy => Policy {
            retry_policy: RetryPolicy {
                max_retries: 5,
                backoff: Backoff::Exponential {
                    initial_delay_ms: 700,
                    max_delay_ms: 9_000,
                    multiplier: 1.7,
                    jitter: true,
                },
                retryable_categories: vec![kind(0).to_string(), "timeout".to_owned()],
            },
            timeout_policy: TimeoutPolicy { attempt_timeout_ms: Some(20_000), execution_deadline_ms: None },
            ..Policy::default()
        },
        Policies::Invalid => Policy { dedup_window_ms: u64::MAX, ..Policy::default() },
    }
}

/// Uuids spread over the partitions as real ones do.
fn uuid(job: u32) -> Uuid {
    Uuid::from_u128((u128::from(job) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834))
}

fn namespace(nth: u8) -> Namespace {
    if nth == 0 { Namespace::default_name() } else { Namespace::parse(&format!("tenant-{nth}")).unwrap() }
}

fn lane(nth: u8) -> LaneId {
    if nth == 0 { LaneId::default_name() } else { LaneId::parse(&format!("lane-{nth}")).unwrap() }
}

fn kind(nth: u8) -> Kind {
    Kind::parse(&format!("kind-{nth}")).unwrap()
}

fn holder(nth: u8) -> Holder {
    Holder {
        worker_id: WorkerId::parse("walker").unwrap(),
        worker_instance_id: WorkerInstanceId::parse(&format!("walker-{nth}")).unwrap(),
    }
}

fn text(bytes: usize) -> String {
    "m".repeat(bytes)
}
