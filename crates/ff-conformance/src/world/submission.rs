//! A builder of submissions.

use std::time::Duration;

use super::World;
use crate::records::*;

/// A submission under construction.
#[derive(Clone)]
pub struct Submission {
    world: World,
    args: SubmitArgs,
}

impl Submission {
    pub(super) fn new(world: World, kind: &str) -> Self {
        Self { world, args: SubmitArgs::new(Kind::parse(kind).unwrap(), Payload::default()) }
    }

    /// Sets the payload.
    pub fn payload(mut self, payload: Payload) -> Self {
        self.args.payload = payload;
        self
    }

    /// Sets the namespace.
    pub fn namespace(mut self, name: &str) -> Self {
        self.args.namespace = Namespace::parse(name).unwrap();
        self
    }

    /// Sets the lane.
    pub fn lane(mut self, name: &str) -> Self {
        self.args.lane = LaneId::parse(name).unwrap();
        self
    }

    /// Sets the priority.
    pub fn priority(mut self, priority: i64) -> Self {
        self.args.priority = Priority::new(priority).unwrap();
        self
    }

    /// Adds a label.
    pub fn tag(mut self, key: &str, value: &str) -> Self {
        self.args.tags.insert(TagKey::parse(key).unwrap(), TagValue::parse(value).unwrap());
        self
    }

    /// Sets the idempotency key.
    pub fn key(mut self, key: &str) -> Self {
        self.args.idempotency_key = Some(IdempotencyKey::parse(key).unwrap());
        self
    }

    /// Sets the singleton key: at most one execution of a key runs.
    pub fn singleton(mut self, key: &str, on_conflict: OnConflict) -> Self {
        let key = SubmissionKey::parse(key).unwrap();
        self.args.key_rule = Some(Box::new(KeyRule::Singleton(Singleton { key, on_conflict })));
        self
    }

    /// Sets the debounce key: the execution starts `delay` after the last submission of a key.
    pub fn debounce(mut self, key: &str, delay: Duration) -> Self {
        let key = SubmissionKey::parse(key).unwrap();
        self.args.key_rule = Some(Box::new(KeyRule::Debounce(Debounce { key, delay_ms: millis(delay) })));
        self
    }

    /// Sets the submitter's own uuid.
    pub fn uuid(mut self, uuid: Uuid) -> Self {
        self.args.uuid = uuid;
        self
    }

    /// Picks a uuid that lands on this partition.
    pub fn on_partition(mut self, partition: u16) -> Self {
        let config = self.world.engine_store.partitions();
        while self.args.execution_id(&config).partition() != partition {
            self.args.uuid = Uuid::now_v7();
        }
        self
    }

    /// Delays the start by this span.
    pub fn after(mut self, delay: Duration) -> Self {
        self.args.start = Start::After(millis(delay));
        self
    }

    /// Delays the start to this moment.
    pub fn at(mut self, moment: TimestampMs) -> Self {
        self.args.start = Start::At(moment);
        self
    }

    /// Sets the policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.args.policy = policy;
        self
    }

    /// Adds capabilities that the worker must have.
    pub fn require(mut self, words: &[&str]) -> Self {
        let words = words.iter().map(|word| Capability::parse(word).unwrap());
        self.args.policy.routing_requirements.required_capabilities.extend(words);
        self
    }

    /// Sets the retries, always after the same delay.
    pub fn retries(mut self, count: u32, delay: Duration) -> Self {
        self.args.policy.retry_policy.max_retries = count;
        self.args.policy.retry_policy.backoff = Backoff::Fixed { delay_ms: millis(delay), jitter: false };
        self
    }

    /// Sets the timeout of one attempt.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.args.policy.timeout_policy.attempt_timeout_ms = Some(millis(timeout));
        self
    }

    /// Sets the deadline of the execution.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.args.policy.timeout_policy.execution_deadline_ms = Some(millis(deadline));
        self
    }

    /// Sets the retention after the end.
    pub fn retention(mut self, span: Duration) -> Self {
        self.args.policy.retention_ms = Some(millis(span));
        self
    }

    /// Sets the trace context.
    pub fn trace(mut self, trace: &TraceContext) -> Self {
        self.args.trace = Some(Box::new(trace.clone()));
        self
    }

    /// Returns the arguments of the submission.
    pub fn args(self) -> SubmitArgs {
        self.args
    }

    /// Submits the execution, and checks that it is accepted.
    pub async fn submit(self) -> ExecutionId {
        self.try_submit().await.unwrap().execution_id
    }

    /// Submits the execution.
    pub async fn try_submit(self) -> Answer<SubmittedExecution> {
        self.world.backend.submit(self.args).await
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap()
}
