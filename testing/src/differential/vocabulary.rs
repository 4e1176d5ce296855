//! What the numbers of a step stand for.

use ff_core::contracts::SubmitArgs;
use ff_core::execution::Tags;
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::trace::TraceContext;
use ff_core::types::{IdempotencyKey, Kind, LaneId, Namespace, Priority, TagKey, TagValue, WorkerId, WorkerInstanceId};
use uuid::Uuid;

use super::step::{Policies, Submission};

pub(super) fn submit_args(submission: &Submission) -> SubmitArgs {
    let mut tags = Tags::new();
    for nth in 0..submission.tags {
        tags.extend([label(u8::try_from(nth).unwrap(), 0)]);
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
        trace: trace(submission.job),
    }
}

/// Some work, and some flows, are submitted in a trace, of which some has a state.
pub(super) fn trace(nth: u32) -> Option<Box<TraceContext>> {
    let state = nth.is_multiple_of(2).then_some("vendor=1");
    let id = u64::from(nth) + 1;
    let parent = format!("00-{id:032x}-{id:016x}-01");
    nth.is_multiple_of(3).then(|| Box::new(TraceContext::parse(&parent, state).unwrap()))
}

/// A label by the numbers of its key and its value.
pub(super) fn label(key: u8, value: u8) -> (TagKey, TagValue) {
    (TagKey::parse(&format!("tag-{key}")).unwrap(), TagValue::parse(&format!("value-{value}")).unwrap())
}

/// Uuids spread over the partitions as real ones do.
pub(super) fn uuid(job: u32) -> Uuid {
    Uuid::from_u128((u128::from(job) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834))
}

pub(super) fn namespace(nth: u8) -> Namespace {
    if nth == 0 { Namespace::default_name() } else { Namespace::parse(&format!("tenant-{nth}")).unwrap() }
}

pub(super) fn lane(nth: u8) -> LaneId {
    if nth == 0 { LaneId::default_name() } else { LaneId::parse(&format!("lane-{nth}")).unwrap() }
}

pub(super) fn kind(nth: u8) -> Kind {
    Kind::parse(&format!("kind-{nth}")).unwrap()
}

pub(super) fn holder(nth: u8) -> Holder {
    Holder {
        worker_id: WorkerId::parse("walker").unwrap(),
        worker_instance_id: WorkerInstanceId::parse(&format!("walker-{nth}")).unwrap(),
    }
}

pub(super) fn text(bytes: usize) -> String {
    "m".repeat(bytes)
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
        Policies::Brief => Policy { retention_ms: Some(5_000), dedup_window_ms: 2_000, ..bounded(1, 1) },
        Policies::Invalid => Policy { dedup_window_ms: u64::MAX, ..Policy::default() },
    }
}
