//! Policies that other programs may send: with absent or wrong fields.

use bytes::Bytes;
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{FailArgs, FailedAttempt};
use ff_core::execution::Failure;
use ff_core::policy::Policy;
use ff_core::types::{ExecutionId, TimestampMs};
use ff_script::execution::{ExtraReads, ff_fail_execution, ff_read_execution};
use ff_script::published::ff_expire_execution;
use ff_script::signature::CreateExecution;
use ff_script::{FcallResult, LibraryClock, Server};
use uuid::Uuid;

use crate::situation::{claim, create_call};
use crate::wire::Wire;

const TAKEN: &[&str] = &[
    "{}",
    "[]",
    r#"{"retry_policy":{}}"#,
    r#"{"retry_policy":{"backoff":{"type":"exponential"}}}"#,
    r#"{"retry_policy":{"backoff":{"type":"exponential","multiplier":1.5,"jitter":false}}}"#,
    r#"{"retry_policy":{"backoff":{"type":"fixed","delay_ms":250}}}"#,
    r#"{"retry_policy":{"max_retries":0}}"#,
    r#"{"retry_policy":{"retryable_categories":["timeout"]}}"#,
    r#"{"timeout_policy":{}}"#,
    r#"{"timeout_policy":{"attempt_timeout_ms":null},"retention_ms":null}"#,
    r#"{"max_reclaim_count":0,"dedup_window_ms":5}"#,
];

const REFUSED: &[&str] = &[
    "",
    "x",
    "1",
    "[1]",
    "null",
    r#"{"priority":1}"#,
    r#"{"retry_policy":null}"#,
    r#"{"retry_policy":{"max_retries":-1}}"#,
    r#"{"retry_policy":{"max_retries":1.5}}"#,
    r#"{"retry_policy":{"max_retries":0x10}}"#,
    r#"{"retry_policy":{"max_retries":1000001}}"#,
    r#"{"retry_policy":{"max_retry":1}}"#,
    r#"{"retry_policy":{"backoff":{}}}"#,
    r#"{"retry_policy":{"backoff":{"type":"linear"}}}"#,
    r#"{"retry_policy":{"backoff":{"type":"fixed"}}}"#,
    r#"{"retry_policy":{"backoff":{"type":"fixed","delay_ms":1,"max":2}}}"#,
    r#"{"retry_policy":{"backoff":{"type":"exponential","multiplier":0.5}}}"#,
    r#"{"retry_policy":{"backoff":{"type":"exponential","jitter":1}}}"#,
    r#"{"retry_policy":{"retryable_categories":["a b"]}}"#,
    r#"{"retry_policy":{"retryable_categories":{}}}"#,
    r#"{"timeout_policy":{"attempt_timeout_ms":0}}"#,
    r#"{"dedup_window_ms":NaN}"#,
    r#"{"retention_ms":"1"}"#,
];

fn create(policy: &str) -> (ExecutionId, CreateExecution) {
    let id = ExecutionId::new(0, Uuid::now_v7());
    let core = format!("ff:exec:{{fp:0}}:{id}:core");
    (id, CreateExecution { policy_json: Some(policy.into()), ..create_call(core) })
}

/// Absent fields of a policy get the defaults of the rules, in every function that reads them.
#[tokio::test]
async fn a_policy_with_fields_left_out_takes_the_defaults() {
    let wire = Wire::start(LibraryClock::Test).await;
    for json in TAKEN {
        wire.empty().await;
        let policy = Policy::parse(json.as_bytes()).unwrap();
        let (id, call) = create(json);
        wire.fcall(call.call()).await.unwrap();
        assert_eq!(
            ff_read_execution(&wire, &id, ExtraReads::default()).await.unwrap().execution.policy,
            policy,
            "{json}"
        );
        ff_expire_execution(&wire, &id).await.unwrap();
        let fence = claim(&wire).await.fence;
        let failure = Failure { category: "error".parse().unwrap(), message: "no".into(), permanent: false };
        let nonce = SystemEntropy.nonce();
        let args = FailArgs { execution_id: id, fence, failure };
        let failed = ff_fail_execution(&wire, args, &nonce).await.unwrap();
        let retry = &policy.retry_policy;
        let again = retry.max_retries > 0 && retry.retryable_categories.is_empty();
        let retry_at = TimestampMs(wire.now().try_into().unwrap()) + retry.backoff.delay_ms(0, nonce.jitter());
        assert_eq!(
            failed,
            if again { FailedAttempt::RetryScheduled { retry_at } } else { FailedAttempt::Failed },
            "{json}"
        );
    }
}

#[tokio::test]
async fn a_policy_that_is_none_is_refused_and_nothing_is_written() {
    let wire = Wire::start(LibraryClock::Test).await;
    let before = wire.contents().await;
    for json in REFUSED {
        assert!(Policy::parse(json.as_bytes()).is_err(), "the rules take {json}");
        let mut call = create(json).1.call();
        if json.is_empty() {
            // A space is sent, because an empty argument is an absent one.
            call.args[13] = Bytes::from_static(b" ");
        }
        let Err(error) = FcallResult::parse(call.signature, wire.fcall(call).await.unwrap()) else {
            panic!("{json} was taken")
        };
        assert_eq!(error.refusal().unwrap().code.as_str(), "invalid_policy_json", "{json}");
        assert_eq!(wire.contents().await, before, "{json}");
    }
}
