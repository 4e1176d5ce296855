//! Refusals of submissions under singleton and debounce keys: the code is right, and nothing is written.

use ff_core::contracts::{CompleteArgs, ReplayArgs, SubmitArgs, SubmittedExecution};
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::singleton::{Debounce, KeyRule, OnConflict, Singleton};
use ff_core::types::{Kind, SubmissionKey};
use ff_script::execution::{ff_complete_execution, ff_create_keyed_execution, ff_replay_execution};
use ff_script::{LibraryClock, ScriptError};

use crate::operator::drain;
use crate::refused::assert_refused;
use crate::situation::{ONE_PARTITION, claim};
use crate::wire::Wire;

pub(crate) const CASES: &[(&str, Code)] = &[
    ("ff_create_keyed_execution", Code::IdempotencyConflict),
    ("ff_create_keyed_execution", Code::NotRunnable),
    ("ff_create_keyed_execution", Code::LimitExceeded),
    ("ff_create_keyed_execution", Code::InvalidPolicyJson),
    ("ff_replay_execution", Code::LimitExceeded),
];

#[tokio::test]
async fn a_submission_that_its_key_does_not_take_is_refused() {
    for (function, code) in CASES {
        let wire = Wire::start(LibraryClock::Test).await;
        let mut work = only();
        let first = submit(&wire, only()).await.unwrap();
        match code {
            Code::IdempotencyConflict => {
                let key = SubmissionKey::parse("a").unwrap();
                let rule = KeyRule::Debounce(Debounce { key, delay_ms: 1_000 });
                work.key_rule = Some(Box::new(rule));
                submit(&wire, work.clone()).await.unwrap();
                work = SubmitArgs { key_rule: work.key_rule, kind: Kind::parse("mail").unwrap(), ..only() };
            }
            Code::NotRunnable => drain(&wire).await,
            Code::InvalidPolicyJson => work.policy.max_replay_count = u32::MAX,
            _ => {
                let task = claim(&wire).await;
                let done = CompleteArgs { execution_id: task.execution_id, fence: task.fence, result: None };
                ff_complete_execution(&wire, done).await.unwrap();
                for _ in 0..limits::KEY_QUEUE {
                    submit(&wire, only()).await.unwrap();
                }
            }
        }
        if *function == "ff_replay_execution" {
            let replay = ff_replay_execution(&wire, ReplayArgs::new(first.execution_id));
            assert_refused(&wire, function, *code, replay).await;
        } else {
            assert_refused(&wire, function, *code, submit(&wire, work)).await;
        }
    }
}

fn only() -> SubmitArgs {
    let singleton = Singleton { key: SubmissionKey::parse("a").unwrap(), on_conflict: OnConflict::Queue };
    let args = SubmitArgs::new(Kind::parse("resize").unwrap(), Payload::json("1"));
    SubmitArgs { key_rule: Some(Box::new(KeyRule::Singleton(singleton))), ..args }
}

async fn submit(wire: &Wire, args: SubmitArgs) -> Result<SubmittedExecution, ScriptError> {
    let rule = args.key_rule.clone().expect("it has a key");
    ff_create_keyed_execution(wire, &ONE_PARTITION, args, &rule).await
}
