//! Refusals of calls that record or read steps, or fork: the code is right, and nothing is written.

use ff_core::contracts::{ForkArgs, ListStepsArgs, RecordStepArgs, StepPoint};
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::step::{StepKind, StepOutcome, StepRef};
use ff_core::types::{StepKey, StepName};
use ff_script::step::{ff_fork_execution, ff_list_steps, ff_record_step};
use ff_script::{LibraryClock, ScriptError};

use crate::operator::drain;
use crate::refused::assert_refused;
use crate::situation::{Situation, Subject};
use crate::wire::Wire;

pub(crate) const CASES: &[(&str, Code)] = &[
    ("ff_record_step", Code::ExecutionNotFound),
    ("ff_record_step", Code::ExecutionNotActive),
    ("ff_record_step", Code::StaleLease),
    ("ff_record_step", Code::LeaseExpired),
    ("ff_record_step", Code::LeaseRevoked),
    ("ff_record_step", Code::LimitExceeded),
    ("ff_record_step", Code::PayloadTooLarge),
    ("ff_list_steps", Code::ExecutionNotFound),
    ("ff_fork_execution", Code::ExecutionNotFound),
    ("ff_fork_execution", Code::IdempotencyConflict),
    ("ff_fork_execution", Code::InvalidInput),
    ("ff_fork_execution", Code::PayloadTooLarge),
    ("ff_fork_execution", Code::NotRunnable),
];

#[tokio::test]
async fn a_refused_step_or_fork_call_writes_nothing() {
    for (function, code) in CASES {
        let wire = Wire::start(LibraryClock::Test).await;
        let subject = Situation::that_refuses_holders(*code).arrange(&wire).await;
        match (*function, code) {
            ("ff_record_step", Code::LimitExceeded) => record_many(&wire, &subject, limits::STEPS, 0).await,
            ("ff_fork_execution", Code::PayloadTooLarge) => {
                let count = limits::FORK_BYTES / limits::STEP_RESULT_BYTES;
                record_many(&wire, &subject, u32::try_from(count).unwrap(), limits::STEP_RESULT_BYTES).await;
            }
            (_, Code::NotRunnable) => drain(&wire).await,
            _ => {}
        }
        assert_refused(&wire, function, *code, ask(&wire, &subject, function, *code)).await;
    }
}

fn step(subject: &Subject, key: &str, bytes: usize) -> RecordStepArgs {
    RecordStepArgs {
        execution_id: subject.id,
        fence: subject.fence,
        step: StepRef { kind: StepKind::Step, name: StepName::parse("a").unwrap(), key: StepKey::parse(key).unwrap() },
        started_at: None,
        outcome: StepOutcome::Succeeded { result: Payload::bytes(vec![0; bytes]) },
    }
}

async fn record_many(wire: &Wire, subject: &Subject, count: u32, bytes: usize) {
    for nth in 0..count {
        ff_record_step(wire, step(subject, &nth.to_string(), bytes)).await.unwrap();
    }
}

async fn ask(wire: &Wire, subject: &Subject, function: &str, code: Code) -> Result<(), ScriptError> {
    match function {
        "ff_list_steps" => ff_list_steps(wire, ListStepsArgs::new(subject.id)).await.map(drop),
        "ff_fork_execution" => {
            let mut args = ForkArgs::new(subject.id);
            match code {
                Code::IdempotencyConflict => args.uuid = subject.id.uuid(),
                Code::InvalidInput => args.before_step = Some(StepPoint::new(StepName::parse("b").unwrap())),
                _ => {}
            }
            ff_fork_execution(wire, args).await.map(drop)
        }
        _ => {
            let bytes = if code == Code::PayloadTooLarge { limits::STEP_RESULT_BYTES + 1 } else { 0 };
            ff_record_step(wire, step(subject, "new", bytes)).await.map(drop)
        }
    }
}
