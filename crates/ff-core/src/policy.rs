//! Execution policies. Every field is honoured or refused; an unknown field is an error.

use serde::{Deserialize, Serialize, Serializer};

use crate::backend::entropy::JITTER_SCALE;
use crate::engine_error::{Code, Refusal, check_limit, check_range};
use crate::execution::Failure;
use crate::lane::REQUIRED;
pub use crate::lane::RoutingRequirements;
use crate::limits;
use crate::types::RequirementClass;

/// Retries, timeouts and bounds of one execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    pub retry_policy: RetryPolicy,
    pub timeout_policy: TimeoutPolicy,
    /// Maximum number of expired leases before the execution fails.
    pub max_reclaim_count: u32,
    /// Maximum number of replays.
    pub max_replay_count: u32,
    /// How long its idempotency key is remembered.
    pub dedup_window_ms: u64,
    /// How long it is kept after its end (default: the setting of its lane).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_ms: Option<u64>,
    /// Maximum number of recorded steps and waits (default: 1000).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    /// Capabilities its worker must have; any worker when empty.
    #[serde(skip_serializing_if = "RoutingRequirements::is_empty")]
    pub routing_requirements: RoutingRequirements,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            retry_policy: RetryPolicy::default(),
            timeout_policy: TimeoutPolicy::default(),
            max_reclaim_count: limits::MAX_RECLAIMS,
            max_replay_count: limits::MAX_REPLAYS,
            dedup_window_ms: limits::DEDUP_WINDOW_MS,
            retention_ms: None,
            max_steps: None,
            routing_requirements: RoutingRequirements::default(),
        }
    }
}

/// Serializes a policy for a record, without the settings that have their default. Deserialization restores the defaults.
pub(crate) fn serialize_compact<S: Serializer>(policy: &Policy, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Compact<'p> {
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_policy: Option<&'p RetryPolicy>,
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout_policy: Option<&'p TimeoutPolicy>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_reclaim_count: Option<&'p u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_replay_count: Option<&'p u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        dedup_window_ms: Option<&'p u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        retention_ms: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_steps: Option<u32>,
        #[serde(skip_serializing_if = "RoutingRequirements::is_empty")]
        routing_requirements: &'p RoutingRequirements,
    }
    fn unless_default<'p, T: PartialEq>(value: &'p T, default: &T) -> Option<&'p T> {
        (value != default).then_some(value)
    }
    let default = Policy::default();
    Compact {
        retry_policy: unless_default(&policy.retry_policy, &default.retry_policy),
        timeout_policy: unless_default(&policy.timeout_policy, &default.timeout_policy),
        max_reclaim_count: unless_default(&policy.max_reclaim_count, &default.max_reclaim_count),
        max_replay_count: unless_default(&policy.max_replay_count, &default.max_replay_count),
        dedup_window_ms: unless_default(&policy.dedup_window_ms, &default.dedup_window_ms),
        retention_ms: policy.retention_ms,
        max_steps: policy.max_steps,
        routing_requirements: &policy.routing_requirements,
    }
    .serialize(serializer)
}

/// What happens after a failure that is not permanent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPolicy {
    pub max_retries: u32,
    pub backoff: Backoff,
    /// When not empty, only failures of these categories are retried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retryable_categories: Vec<String>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_retries: limits::MAX_RETRIES, backoff: Backoff::default(), retryable_categories: Vec::new() }
    }
}

impl RetryPolicy {
    /// Returns whether an execution is retried after a failure, given the number of retries so far.
    pub fn allows(&self, failure: &Failure, retries: u32) -> bool {
        let categories = &self.retryable_categories;
        let named = categories.is_empty() || categories.iter().any(|category| category == failure.category.as_str());
        !failure.permanent && named && retries < self.max_retries
    }
}

/// Delay before the next attempt. With jitter the delay is random between zero and its full value, so that simultaneous
/// failures are not retried at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Backoff {
    Exponential {
        #[serde(default = "initial_delay_ms")]
        initial_delay_ms: u64,
        #[serde(default = "max_delay_ms")]
        max_delay_ms: u64,
        #[serde(default = "multiplier")]
        multiplier: f64,
        #[serde(default = "yes")]
        jitter: bool,
    },
    Fixed {
        delay_ms: u64,
        #[serde(default)]
        jitter: bool,
    },
}

fn initial_delay_ms() -> u64 {
    limits::BACKOFF_INITIAL_MS
}

fn max_delay_ms() -> u64 {
    limits::BACKOFF_MAX_MS
}

fn multiplier() -> f64 {
    limits::BACKOFF_MULTIPLIER
}

fn yes() -> bool {
    true
}

impl Default for Backoff {
    fn default() -> Self {
        Self::Exponential {
            initial_delay_ms: initial_delay_ms(),
            max_delay_ms: max_delay_ms(),
            multiplier: multiplier(),
            jitter: true,
        }
    }
}

impl Backoff {
    /// Returns the delay before retry number `retry` (from 0), in whole milliseconds. `draw` is below [`JITTER_SCALE`].
    pub fn delay_ms(&self, retry: u32, draw: u64) -> u64 {
        let (delay, jitter) = match *self {
            Self::Fixed { delay_ms, jitter } => (delay_ms, jitter),
            Self::Exponential { initial_delay_ms, max_delay_ms, multiplier, jitter } => {
                (grown(initial_delay_ms, max_delay_ms, multiplier, retry), jitter)
            }
        };
        if jitter { (delay + 1) * draw / JITTER_SCALE } else { delay }
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn grown(initial_ms: u64, max_ms: u64, multiplier: f64, retry: u32) -> u64 {
    let mut delay = initial_ms as f64;
    for _ in 0..retry {
        if delay >= max_ms as f64 || multiplier <= 1.0 {
            break;
        }
        delay *= multiplier;
    }
    (delay as u64).min(max_ms)
}

/// Time limits. Absent means unlimited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutPolicy {
    /// Maximum run time of one attempt, over all its leases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_timeout_ms: Option<u64>,
    /// Maximum time from submission or replay to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_deadline_ms: Option<u64>,
}

impl Policy {
    /// Returns the requirement class, which determines the queues of executions under this policy.
    pub fn class(&self) -> RequirementClass {
        RequirementClass::of(&self.routing_requirements.required_capabilities)
    }

    /// Parses a policy. Refuses unknown fields and invalid values.
    pub fn parse(json: &[u8]) -> Result<Self, Refusal> {
        let policy: Self = crate::json::read(json).map_err(|mut refusal| {
            let is_capability = refusal.field.as_ref().is_some_and(|field| field.starts_with(REQUIRED));
            refusal.code = if is_capability { Code::InvalidCapabilities } else { Code::InvalidPolicyJson };
            refusal
        })?;
        policy.check()?;
        Ok(policy)
    }

    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses numbers out of range, with the field and the limit.
    pub fn check(&self) -> Result<(), Refusal> {
        let retry = &self.retry_policy;
        in_range("retry_policy.max_retries", u64::from(retry.max_retries), 0, u64::from(limits::MAX_RETRIES_MAX))?;
        match retry.backoff {
            Backoff::Fixed { delay_ms, .. } => {
                in_range("retry_policy.backoff.delay_ms", delay_ms, 0, limits::BACKOFF_CEILING_MS)?;
            }
            Backoff::Exponential { initial_delay_ms, max_delay_ms, multiplier, .. } => {
                in_range("retry_policy.backoff.initial_delay_ms", initial_delay_ms, 0, limits::BACKOFF_CEILING_MS)?;
                in_range("retry_policy.backoff.max_delay_ms", max_delay_ms, 0, limits::BACKOFF_CEILING_MS)?;
                if !(1.0..=limits::BACKOFF_MULTIPLIER_MAX).contains(&multiplier) {
                    let detail = format!("must be from 1 to {}, got {multiplier}", limits::BACKOFF_MULTIPLIER_MAX);
                    return Err(bad("retry_policy.backoff.multiplier").because(detail));
                }
            }
        }
        let categories = &retry.retryable_categories;
        let field = "retry_policy.retryable_categories";
        check_limit(Code::InvalidPolicyJson, field, limits::RETRYABLE_CATEGORIES, categories.len())?;
        for (at, category) in categories.iter().enumerate() {
            crate::types::Kind::parse(category).map_err(|error| bad(&format!("{field}[{at}]")).because(error))?;
        }
        if let Some(ms) = self.timeout_policy.attempt_timeout_ms {
            in_range("timeout_policy.attempt_timeout_ms", ms, 1, limits::SPAN_MAX_MS)?;
        }
        if let Some(ms) = self.timeout_policy.execution_deadline_ms {
            in_range("timeout_policy.execution_deadline_ms", ms, 1, limits::SPAN_MAX_MS)?;
        }
        in_range("max_reclaim_count", u64::from(self.max_reclaim_count), 0, u64::from(limits::MAX_RETRIES_MAX))?;
        in_range("max_replay_count", u64::from(self.max_replay_count), 0, u64::from(limits::MAX_RETRIES_MAX))?;
        if let Some(ms) = self.retention_ms {
            in_range("retention_ms", ms, 0, limits::SPAN_MAX_MS)?;
        }
        if let Some(steps) = self.max_steps {
            in_range("max_steps", u64::from(steps), 1, u64::from(limits::STEPS_MAX))?;
        }
        in_range("dedup_window_ms", self.dedup_window_ms, 0, limits::SPAN_MAX_MS)?;
        self.routing_requirements.check()
    }
}

fn bad(field: &str) -> Refusal {
    Refusal::new(Code::InvalidPolicyJson).at(field)
}

fn in_range(field: &str, sent: u64, low: u64, high: u64) -> Result<(), Refusal> {
    check_range(field, sent, low, high).map_err(|refusal| Refusal { code: Code::InvalidPolicyJson, ..refusal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_published_ones() {
        let policy = Policy::parse(b"{}").unwrap();
        assert!(policy.is_default());
        assert_eq!(policy.retry_policy.max_retries, 3);
        let json = r#"{"retry_policy":{"backoff":{"type":"exponential"}}}"#;
        assert_eq!(Policy::parse(json.as_bytes()).unwrap(), policy);
    }

    #[test]
    fn an_unknown_policy_field_is_refused_by_name() {
        for (json, field) in [
            (r#"{"priority":1}"#, "priority"),
            (r#"{"retry_policy":{"max_retry":1}}"#, "retry_policy.max_retry"),
            (r#"{"timeout_policy":{"max_reclaim_count":1}}"#, "timeout_policy.max_reclaim_count"),
        ] {
            let refusal = Policy::parse(json.as_bytes()).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidPolicyJson, Some(field)));
        }
        let backoff =
            Policy::parse(br#"{"retry_policy":{"backoff":{"type":"fixed","delay_ms":1,"max":2}}}"#).unwrap_err();
        assert!(backoff.to_string().contains("max"), "{backoff}");
    }

    #[test]
    fn numbers_out_of_range_are_refused_with_the_limit() {
        for json in [
            r#"{"retry_policy":{"max_retries":1000001}}"#,
            r#"{"retry_policy":{"max_retries":-1}}"#,
            r#"{"retry_policy":{"backoff":{"type":"exponential","multiplier":0.5}}}"#,
            r#"{"retry_policy":{"backoff":{"type":"exponential","max_delay_ms":604800001}}}"#,
            r#"{"retry_policy":{"retryable_categories":["a b"]}}"#,
            r#"{"timeout_policy":{"attempt_timeout_ms":0}}"#,
            r#"{"dedup_window_ms":1e30}"#,
            r#"{"max_steps":0}"#,
            r#"{"max_steps":10001}"#,
        ] {
            assert_eq!(Policy::parse(json.as_bytes()).unwrap_err().code, Code::InvalidPolicyJson, "{json}");
        }
    }

    #[test]
    fn requirements_are_taken_at_their_limits_and_refused_past_them() {
        let field = "routing_requirements.required_capabilities";
        let requiring = |words: &[String]| {
            let words = serde_json::to_string(words).unwrap();
            Policy::parse(format!(r#"{{"routing_requirements":{{"required_capabilities":{words}}}}}"#).as_bytes())
        };
        let words = |count: usize, bytes: usize| (0..count).map(|nth| format!("{nth:0>bytes$}")).collect::<Vec<_>>();
        assert_eq!(requiring(&words(32, 128)).unwrap().class().requirements().count(), 32);
        for (sent, limit) in [(words(33, 2), (32, 33)), (words(17, 241), (4_096, 4_097))] {
            let refusal = requiring(&sent).unwrap_err();
            assert_eq!((refusal.code, refusal.limit), (Code::InvalidCapabilities, Some(limit)));
            assert_eq!(refusal.field.as_deref(), Some(field));
        }
        for bad in ["a,b", "a b", "", "a\u{7}"] {
            let refusal = requiring(&["gpu".into(), bad.into()]).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidCapabilities, "{bad:?}");
            assert_eq!(refusal.field, Some(format!("{field}[1]")), "{bad:?}");
        }
    }

    #[test]
    fn a_policy_is_kept_without_its_defaults_and_read_as_it_was() {
        let policy = Policy { max_steps: Some(10_000), retention_ms: Some(5), ..Policy::default() };
        assert_eq!(policy.check(), Ok(()));
        let compact = serialize_compact(&policy, serde_json::value::Serializer).unwrap();
        assert_eq!(compact, serde_json::json!({ "retention_ms": 5, "max_steps": 10_000 }));
        let gpu = Policy::parse(br#"{"routing_requirements":{"required_capabilities":["gpu"]}}"#).unwrap();
        let json = serialize_compact(&gpu, serde_json::value::Serializer).unwrap();
        assert_eq!(json, serde_json::json!({ "routing_requirements": { "required_capabilities": ["gpu"] } }));
        assert_eq!(serde_json::from_value::<Policy>(json).unwrap(), gpu);
        assert_eq!(serde_json::from_value::<Policy>(compact).unwrap(), policy);
    }

    #[test]
    fn backoff_doubles_up_to_its_ceiling() {
        let backoff =
            Backoff::Exponential { initial_delay_ms: 1_000, max_delay_ms: 60_000, multiplier: 2.0, jitter: false };
        let delays: Vec<_> = (0..8).map(|retry| backoff.delay_ms(retry, 0)).collect();
        assert_eq!(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
        assert_eq!(backoff.delay_ms(u32::MAX, 0), 60_000);
    }

    #[test]
    fn full_jitter_spans_from_nothing_to_the_whole_delay() {
        let backoff = Backoff::Fixed { delay_ms: 1_000, jitter: true };
        assert_eq!(backoff.delay_ms(0, 0), 0);
        assert_eq!(backoff.delay_ms(0, JITTER_SCALE - 1), 1_000);
        assert_eq!(backoff.delay_ms(0, JITTER_SCALE / 2), 500);
    }
}
