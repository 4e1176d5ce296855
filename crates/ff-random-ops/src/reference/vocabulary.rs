//! The values that the numbers of a transition stand for.

use std::collections::BTreeSet;

use uuid::Uuid;

pub(crate) use crate::adjustment::label;
use crate::prelude::*;
use crate::transition::{Policies, Rule, Submission};

pub(crate) fn submit_args(submission: &Submission) -> SubmitArgs {
    let mut tags = Tags::new();
    for nth in 0..submission.tags {
        tags.extend([label(u8::try_from(nth).unwrap(), 0)]);
    }
    SubmitArgs {
        uuid: uuid(submission.job),
        namespace: namespace(submission.namespace),
        lane: lane(submission.lane),
        kind: kind(submission.kind),
        payload: bytes(submission.payload),
        priority: Priority::new(submission.priority).unwrap(),
        tags,
        idempotency_key: submission.key.map(|nth| IdempotencyKey::parse(&format!("key-{nth}")).unwrap()),
        start: submission.start,
        key_rule: submission.rule.map(rule),
        policy: policy(submission.policy),
        trace: trace(submission.job),
    }
}

/// Returns the key by which a lane queues its work.
pub(crate) fn fair_by(setting: Setting<u8>) -> Setting<Per> {
    match setting {
        Setting::Keep => Setting::Keep,
        Setting::Default => Setting::Default,
        Setting::To(0) => Setting::To(Per::Kind),
        Setting::To(1) => Setting::To(Per::Tag(label(0, 0).0)),
        Setting::To(_) => Setting::To(Per::Namespace),
    }
}

/// Returns a key of a fair lane: a kind, or the value of the tag.
pub(crate) fn fair_key(nth: u8) -> FairKey {
    let text = if nth == 2 { label(0, 0).1.to_string() } else { kind(nth).to_string() };
    FairKey::parse(&text).unwrap()
}

/// Returns the rule of a singleton or debounce key.
fn rule(rule: Rule) -> Box<KeyRule> {
    let key = |nth: u8| SubmissionKey::parse(&format!("key-{nth}")).unwrap();
    Box::new(match rule {
        Rule::Singleton { key: nth, on_conflict } => KeyRule::Singleton(Singleton { key: key(nth), on_conflict }),
        Rule::Debounce { key: nth, delay_ms } => KeyRule::Debounce(Debounce { key: key(nth), delay_ms }),
    })
}

/// Returns the trace of a submission. A third of the submissions have a trace, and half of those have a trace state.
pub(crate) fn trace(nth: u32) -> Option<Box<TraceContext>> {
    let state = nth.is_multiple_of(2).then_some("vendor=1");
    let id = u64::from(nth) + 1;
    let parent = format!("00-{id:032x}-{id:016x}-01");
    nth.is_multiple_of(3).then(|| Box::new(TraceContext::parse(&parent, state).unwrap()))
}

/// Returns a uuid. The uuids spread over the partitions as real ones do.
pub(crate) fn uuid(job: u32) -> Uuid {
    Uuid::from_u128((u128::from(job) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834))
}

/// Returns the blocker of an execution. No call may name the last one.
pub(crate) fn blocker(nth: u8) -> Blocker {
    [Blocker::Route, Blocker::Quota, Blocker::Budget, Blocker::Operator][usize::from(nth)]
}

/// Returns the detail of a block.
pub(crate) fn detail(on: u8, retry_at: Option<TimestampMs>) -> BlockDetail {
    let name = "a limit".to_owned();
    match blocker(on) {
        Blocker::Quota => {
            let (policy_id, key) = (QuotaPolicyId::from_uuid(uuid(on.into())), "\u{e9}\"".to_owned());
            BlockDetail::Quota { policy_id, name, key, used: 2, limit: 2, retry_at }
        }
        Blocker::Budget => BlockDetail::Budget { name, dimension: "tokens".into(), retry_at },
        _ => BlockDetail::Route { class: "gpu,region=eu".into() },
    }
}

pub(crate) fn namespace(nth: u8) -> Namespace {
    if nth == 0 { Namespace::default_name() } else { Namespace::parse(&format!("tenant-{nth}")).unwrap() }
}

pub(crate) fn lane(nth: u8) -> LaneId {
    if nth == 0 { LaneId::default_name() } else { LaneId::parse(&format!("lane-{nth}")).unwrap() }
}

pub(crate) fn kind(nth: u8) -> Kind {
    Kind::parse(&format!("kind-{nth}")).unwrap()
}

pub(crate) fn holder(nth: u8) -> Holder {
    Holder::parse("worker", &format!("worker-{nth}")).unwrap()
}

/// Returns text of the given number of bytes that needs care to be quoted or cut.
pub(crate) fn text(bytes: usize) -> String {
    const HARD: &str = "é\n\"";
    if bytes < HARD.len() { "m".repeat(bytes) } else { HARD.to_owned() + &"m".repeat(bytes - HARD.len()) }
}

/// Returns the given number of bytes that are not text.
pub(crate) fn bytes(count: usize) -> Payload {
    Payload::bytes([0xff, 0, 13, 10, b'p'].into_iter().cycle().take(count).collect::<Vec<_>>())
}

/// Returns the requester of a call whose reason is not empty.
pub(crate) fn requester(reason: &Option<String>) -> Option<String> {
    reason.as_ref().filter(|reason| !reason.is_empty()).map(|_| "ada".into())
}

pub(crate) fn rotation(kid: u8, secret: u8, grace_ms: u64) -> RotateSecretArgs {
    let secret = Secret::new(vec![secret; 16]).unwrap();
    RotateSecretArgs { kid: Kid::parse(&format!("k{kid}")).unwrap(), secret, grace_ms }
}

/// Returns the capabilities of a worker: all for the first, fewer for the second, none for the others.
pub(crate) fn capabilities(worker: u8) -> BTreeSet<Capability> {
    let words: &[&str] = match worker {
        0 => &["gpu", "region=eu"],
        1 => &["gpu"],
        _ => &[],
    };
    words.iter().map(|word| Capability::parse(word).unwrap()).collect()
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
        Policies::Tight => Policy {
            timeout_policy: TimeoutPolicy { attempt_timeout_ms: Some(6_000), execution_deadline_ms: None },
            max_steps: Some(3),
            ..bounded(2, 1)
        },
        Policies::None => bounded(0, 0),
        Policies::Timed => Policy {
            timeout_policy: TimeoutPolicy { attempt_timeout_ms: Some(4_000), execution_deadline_ms: Some(40_000) },
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
        Policies::Brief => Policy {
            timeout_policy: TimeoutPolicy { attempt_timeout_ms: None, execution_deadline_ms: Some(8_000) },
            retention_ms: Some(5_000),
            dedup_window_ms: 2_000,
            ..bounded(1, 1)
        },
        Policies::Routed | Policies::RoutedFar => Policy {
            routing_requirements: RoutingRequirements {
                required_capabilities: capabilities(if which == Policies::Routed { 1 } else { 0 }),
            },
            ..bounded(1, 1)
        },
        Policies::Invalid => Policy { dedup_window_ms: u64::MAX, ..Policy::default() },
    }
}
