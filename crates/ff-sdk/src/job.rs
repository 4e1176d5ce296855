//! The builder of a job, field by field.

use std::fmt::Display;
use std::time::Duration;

use ff_core::contracts::{Start, SubmitArgs};
use ff_core::engine_error::{Code, Refusal};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::singleton::{Debounce, KeyRule, OnConflict, Singleton};
use ff_core::trace::TraceContext;
use ff_core::types::{
    Capability, IdempotencyKey, Kind, LaneId, Namespace, Priority, SubmissionKey, TagKey, TagValue, TimestampMs,
};
use serde::Serialize;
use uuid::Uuid;

use crate::Error;

/// A job of a kind. An invalid field is reported when the job is submitted.
///
/// ```
/// use std::time::Duration;
/// use ff_sdk::{Job, OnConflict};
///
/// let job = Job::new("resize", &serde_json::json!({"width": 640}))
///     .lane("images")
///     .priority(5)
///     .require("gpu")
///     .tag("customer", "c-17")
///     .delay(Duration::from_secs(10))
///     .idempotency_key("resize-c-17-640");
/// assert!(job.build().is_ok());
/// let report = Job::new("report", &1).singleton("report/c-17", OnConflict::Skip);
/// assert!(report.build().is_ok());
/// assert!(Job::new("re size", &1).build().is_err());
/// ```
#[derive(Debug)]
pub struct Job {
    args: Result<SubmitArgs, Error>,
    names_namespace: bool,
}

impl Job {
    /// Creates a job with a JSON payload.
    pub fn new(kind: &str, payload: &impl Serialize) -> Self {
        match serde_json::to_vec(payload) {
            Ok(text) => Self::with_payload(kind, Payload::json(text)),
            Err(error) => Self { args: Err(Error::Encode(error)), names_namespace: false },
        }
    }

    /// Creates a job with any payload.
    pub fn with_payload(kind: &str, payload: Payload) -> Self {
        let args = Kind::parse(kind).map(|kind| SubmitArgs::new(kind, payload));
        Self { args: args.map_err(|error| Refusal::invalid("kind", error).into()), names_namespace: false }
    }

    /// Sets the lane in which the job is queued.
    pub fn lane(self, lane: &str) -> Self {
        self.set("lane", LaneId::parse(lane), |args, lane| args.lane = lane)
    }

    /// Sets the namespace. The default is the namespace of the API key or else `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.names_namespace = true;
        self.set("namespace", Namespace::parse(namespace), |args, namespace| args.namespace = namespace)
    }

    /// Sets the priority within the lane: a higher one runs first.
    pub fn priority(self, priority: i64) -> Self {
        self.set("priority", Priority::new(priority), |args, priority| args.priority = priority)
    }

    /// Adds a tag, by which the execution can be found.
    pub fn tag(self, key: &str, value: &str) -> Self {
        let tag = TagKey::parse(key).and_then(|key| Ok((key, TagValue::parse(value)?)));
        self.set("tags", tag, |args, (key, value)| {
            args.tags.insert(key, value);
        })
    }

    /// Sets the idempotency key: a second submission with this key is the same submission.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.set("idempotency_key", IdempotencyKey::parse(key), |args, key| args.idempotency_key = Some(key))
    }

    /// Allows at most one running execution per key. `on_conflict` decides about this job while another execution of the key
    /// is live.
    pub fn singleton(self, key: &str, on_conflict: OnConflict) -> Self {
        let key = SubmissionKey::parse(key).map_err(|error| Refusal::invalid("singleton.key", error));
        self.key_rule(key.and_then(|key| KeyRule::of(Some(Singleton { key, on_conflict }), None)))
    }

    /// Starts the job this long after the last submission of the key, at the latest ten times as long after the first.
    /// Until it starts, a submission of the same key replaces its payload.
    pub fn debounce(self, key: &str, delay: Duration) -> Self {
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        let key = SubmissionKey::parse(key).map_err(|error| Refusal::invalid("debounce.key", error));
        self.key_rule(key.and_then(|key| KeyRule::of(None, Some(Debounce { key, delay_ms }))))
    }

    fn key_rule(self, rule: Result<Option<Box<KeyRule>>, Refusal>) -> Self {
        let rule = match &self.args {
            Ok(args) if args.key_rule.is_some() => {
                Err(Refusal::invalid("debounce", "cannot be combined with singleton; send one of them"))
            }
            _ => rule,
        };
        self.try_put(rule.map_err(Error::from), |args, rule| args.key_rule = rule)
    }

    /// Delays the start by this much time.
    pub fn delay(self, delay: Duration) -> Self {
        self.put(|args| args.start = Start::After(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Delays the start until this time of the store's clock.
    pub fn start_at(self, at: TimestampMs) -> Self {
        self.put(|args| args.start = Start::At(at))
    }

    /// Sets the policy. Capabilities that were required before stay required.
    pub fn policy(self, policy: Policy) -> Self {
        self.put(|args| {
            let before = std::mem::replace(&mut args.policy, policy);
            let required = before.routing_requirements.required_capabilities;
            args.policy.routing_requirements.required_capabilities.extend(required);
        })
    }

    /// Requires a capability of the worker: a name (`gpu`), or a key and a value (`region=eu`). When called again, the
    /// worker must have all of them.
    pub fn require(self, capability: &str) -> Self {
        let bad =
            |error| Refusal::new(Code::InvalidCapabilities).at("require").because(format!("{error}: {capability:?}"));
        self.try_put(Capability::parse(capability).map_err(|error| bad(error).into()), |args, capability| {
            args.policy.routing_requirements.required_capabilities.insert(capability);
        })
    }

    /// Sets the trace of the job from the W3C headers `traceparent` and `tracestate`. The handler gets the trace from
    /// [`crate::Context::trace`].
    pub fn trace(self, traceparent: &str, tracestate: Option<&str>) -> Self {
        let trace = TraceContext::parse(traceparent, tracestate).map_err(Error::from);
        self.try_put(trace, |args, trace| args.trace = Some(Box::new(trace)))
    }

    /// Puts the job into the trace of other work, if that has one. A handler uses it to submit jobs in the trace of its own
    /// execution.
    pub fn in_trace(self, trace: Option<&TraceContext>) -> Self {
        self.put(|args| args.trace = trace.cloned().map(Box::new))
    }

    /// Sets the uuid of the job, so that another program can safely submit the same job again.
    pub fn uuid(self, uuid: Uuid) -> Self {
        self.put(|args| args.uuid = uuid)
    }

    /// Returns the namespace, if it was named explicitly.
    pub(crate) fn named(&self) -> Option<&Namespace> {
        self.args.as_ref().ok().filter(|_| self.names_namespace).map(|args| &args.namespace)
    }

    /// Returns the arguments of the submission, or the first error in them.
    pub fn build(self) -> Result<SubmitArgs, Error> {
        self.args
    }

    fn set<T, E: Display>(self, field: &str, value: Result<T, E>, put: impl FnOnce(&mut SubmitArgs, T)) -> Self {
        self.try_put(value.map_err(|error| Refusal::invalid(field, error).into()), put)
    }

    fn put(self, put: impl FnOnce(&mut SubmitArgs)) -> Self {
        self.try_put(Ok(()), |args, ()| put(args))
    }

    fn try_put<T>(mut self, value: Result<T, Error>, put: impl FnOnce(&mut SubmitArgs, T)) -> Self {
        try_put(&mut self.args, value, put);
        self
    }
}

/// Applies a value to the arguments being built. The first error is kept, and is returned when they are used.
pub(crate) fn try_put<B, T, E>(built: &mut Result<B, E>, value: Result<T, E>, put: impl FnOnce(&mut B, T)) {
    match (&mut *built, value) {
        (Ok(built), Ok(value)) => put(built, value),
        (Ok(_), Err(error)) => *built = Err(error),
        (Err(_), _) => {}
    }
}
