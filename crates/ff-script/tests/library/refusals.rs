//! Every refusal that a header names, provoked on a real server: it is given, and nothing is written.

use std::collections::BTreeSet;

use Call::*;
use Code::*;
use Situation::*;
use bytes::Bytes;
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::budget::budget_id;
use ff_core::contracts::{
    CancelArgs, CompleteArgs, DelayArgs, FailArgs, ProgressArgs, RenewArgs, ReplayArgs, ReportUsageArgs,
    ResetBudgetArgs, RevokeArgs, Start, StepPoint, SubmitArgs,
};
use ff_core::engine_error::Code;
use ff_core::execution::Failure;
use ff_core::lease::Fence;
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::types::{Dimension, ExecutionId, IdempotencyKey, Kind, LeaseId, Namespace, StepName};
use ff_script::budget::{ff_record_spend, ff_reset_budget};
use ff_script::execution::{
    ExtraReads, core_key, ff_cancel_execution, ff_complete_execution, ff_complete_executions, ff_create_execution,
    ff_create_executions, ff_delay_execution, ff_fail_execution, ff_read_execution, ff_replay_execution,
    ff_update_progress,
};
use ff_script::lease::{ff_renew_lease, ff_revoke_lease};
use ff_script::published::{ff_expire_execution, ff_mark_lease_expired_if_due, ff_promote_delayed};
use ff_script::signature::{SIGNATURES, Signature};
use ff_script::{Fcall, LibraryClock, ScriptError};

use crate::header::files::functions;
use crate::refused::assert_refused;
use crate::situation::{ONE_PARTITION, Situation, Subject};
use crate::wire::Wire;
use crate::{flow, grant, malformed, operator, singleton, step, stream, suspension};

#[derive(Clone, Copy, Debug)]
enum Call {
    Cancel,
    Complete,
    CompleteTogether,
    CreateOfAnotherKind,
    CreateWithAnotherPayload,
    CreateWithABadPolicy,
    CreateTogether,
    CreateTogetherWithABadPolicy,
    CreateUnderAKey,
    Delay,
    Expire,
    Fail,
    Promote,
    Read,
    Replay,
    ReplayFromAStep,
    Progress,
    TakeBack,
    Renew,
    Revoke,
    RevokeOneLease,
    Spend,
    SpendAsAStranger,
    SpendTooMuch,
    ResetABudget,
}

const CASES: &[(Call, Situation, Code)] = &[
    (Cancel, Absent, ExecutionNotFound),
    (Cancel, Completed, ExecutionNotActive),
    (Complete, Absent, ExecutionNotFound),
    (Complete, Waiting, ExecutionNotActive),
    (Complete, HeldByAnother, StaleLease),
    (Complete, RanOut, LeaseExpired),
    (Complete, Revoked, LeaseRevoked),
    (CompleteTogether, Absent, ExecutionNotFound),
    (CompleteTogether, Waiting, ExecutionNotActive),
    (CompleteTogether, HeldByAnother, StaleLease),
    (CompleteTogether, RanOut, LeaseExpired),
    (CompleteTogether, Revoked, LeaseRevoked),
    (CreateOfAnotherKind, Waiting, IdempotencyConflict),
    (CreateWithAnotherPayload, Held, IdempotencyConflict),
    (CreateWithABadPolicy, Absent, InvalidPolicyJson),
    (CreateUnderAKey, Completed, IdempotencyConflict),
    (CreateTogether, Held, IdempotencyConflict),
    (CreateTogetherWithABadPolicy, Absent, InvalidPolicyJson),
    (Delay, Absent, ExecutionNotFound),
    (Delay, Completed, ExecutionNotActive),
    (Delay, HeldByAnother, StaleLease),
    (Delay, RanOut, LeaseExpired),
    (Delay, Revoked, LeaseRevoked),
    (Expire, Absent, ExecutionNotFound),
    (Fail, Absent, ExecutionNotFound),
    (Fail, Completed, ExecutionNotActive),
    (Fail, HeldByAnother, StaleLease),
    (Fail, RanOut, LeaseExpired),
    (Fail, Revoked, LeaseRevoked),
    (Promote, Absent, ExecutionNotFound),
    (Read, Absent, ExecutionNotFound),
    (Replay, Absent, ExecutionNotFound),
    (Replay, Waiting, ExecutionNotTerminal),
    (Replay, Held, ExecutionNotTerminal),
    (Replay, CompletedForGood, MaxReplaysExhausted),
    (ReplayFromAStep, Completed, InvalidInput),
    (Progress, Absent, ExecutionNotFound),
    (Progress, Waiting, ExecutionNotActive),
    (Progress, HeldByAnother, StaleLease),
    (Progress, RanOut, LeaseExpired),
    (Progress, Revoked, LeaseRevoked),
    (TakeBack, Absent, ExecutionNotFound),
    (Renew, Absent, ExecutionNotFound),
    (Renew, Completed, ExecutionNotActive),
    (Renew, HeldByAnother, StaleLease),
    (Renew, RanOut, LeaseExpired),
    (Renew, Revoked, LeaseRevoked),
    (Revoke, Absent, ExecutionNotFound),
    (Revoke, Waiting, NoActiveLease),
    (RevokeOneLease, HeldByAnother, StaleLease),
    (Spend, Absent, ExecutionNotFound),
    (Spend, Waiting, ExecutionNotActive),
    (SpendAsAStranger, Held, StaleLease),
    (SpendTooMuch, Held, LimitExceeded),
    (ResetABudget, Absent, BudgetNotFound),
];

#[tokio::test]
async fn a_refusal_is_given_and_writes_nothing() {
    let wire = Wire::start(LibraryClock::Test).await;
    for (call, situation, code) in CASES {
        wire.empty().await;
        let subject = situation.arrange(&wire).await;
        let case = format!("{call:?} when {situation:?}");
        assert_refused(&wire, &case, *code, call.ask(&wire, &subject)).await;
    }
}

/// Malformed arguments have their own test.
#[test]
fn every_refusal_of_every_header_is_tried() {
    let in_every_situation = functions_of_one_execution();
    let asked_there = |(function, _): &(&str, &str)| in_every_situation.iter().any(|of_one| of_one.name == *function);
    let named = SIGNATURES.iter().flat_map(|signature| signature.refusals.iter().map(|code| (signature.name, *code)));
    let named = named.filter(|(_, code)| *code != InvalidArgs.as_str());
    assert_eq!(tried(), named.filter(|refusal| !asked_there(refusal)).collect());
}

/// Returns the refusals that are tested one by one, with their functions.
fn tried() -> BTreeSet<(&'static str, &'static str)> {
    let mut tried: BTreeSet<_> = CASES.iter().map(|(call, _, code)| (call.function(), code.as_str())).collect();
    tried.extend(suspension::tried());
    tried.extend(flow::tried());
    let others = [grant::CASES, operator::CASES, singleton::CASES, step::CASES, stream::CASES];
    tried.extend(others.into_iter().flatten().map(|(function, code)| (*function, code.as_str())));
    tried
}

/// Returns the functions that refuse something, take only the key of an execution, and are not tested one by one.
fn functions_of_one_execution() -> Vec<&'static Signature> {
    let tried = tried();
    let is_tried = |signature: &Signature| tried.iter().any(|(function, _)| *function == signature.name);
    let of_one = SIGNATURES.iter().filter(|signature| signature.keys == ["core"] && !signature.refusals.is_empty());
    of_one.filter(|signature| !is_tried(signature)).collect()
}

/// A function on one execution gives each refusal of its header in some situation with some arguments, gives no other
/// refusal, and writes nothing when it refuses.
#[tokio::test]
async fn every_refusal_comes_in_some_situation() {
    let wire = Wire::start(LibraryClock::Test).await;
    let functions = functions_of_one_execution();
    assert!(functions.iter().any(|signature| signature.name == "ff_change_priority"));
    for signature in functions {
        let mut given = BTreeSet::from([InvalidArgs.as_str()]);
        for situation in Situation::ALL {
            for args in arguments(signature) {
                wire.empty().await;
                let keys = vec![core_key(&situation.arrange(&wire).await.id)];
                let before = wire.contents().await;
                let case = format!("{} with {args:?} when {situation:?}", signature.name);
                if let Err(error) = malformed::ask(&wire, &Fcall { signature, keys, args }).await {
                    given.insert(error.refusal().unwrap_or_else(|| panic!("{case}: {error}")).code.as_str());
                    assert_eq!(wire.contents().await, before, "{case} wrote something");
                }
            }
        }
        assert_eq!(given, signature.refusals.iter().copied().collect(), "{}", signature.name);
    }
}

/// Returns every combination of a few values of each argument's type.
fn arguments(signature: &Signature) -> Vec<Vec<Bytes>> {
    let file = functions().into_iter().find(|file| file.name == signature.name).unwrap();
    let mut all = vec![Vec::new()];
    for words in file.header("arg") {
        let values: &[&'static str] = match words[1] {
            "int" => &["0", "7", "9999999999999"],
            "int?" => &["", "0", "7", "9999999999999"],
            "text" => &["word"],
            "text?" => &["", "word"],
            "flag" => &["", "1"],
            "free?" | "bytes" => &["", "=word"],
            other => panic!("{} has an argument of type {other}", signature.name),
        };
        let with =
            |args: &Vec<Bytes>, value: &'static str| [&args[..], &[Bytes::from_static(value.as_bytes())]].concat();
        all = all.iter().flat_map(|args| values.iter().map(move |value| with(args, value))).collect();
    }
    all
}

fn spent(execution_id: ExecutionId, fence: Fence, tokens: u64) -> ReportUsageArgs {
    let amounts = [(Dimension::parse("tokens").unwrap(), tokens)].into();
    ReportUsageArgs { execution_id, fence, report_id: IdempotencyKey::parse("a").unwrap(), amounts }
}

impl Call {
    fn function(self) -> &'static str {
        match self {
            Cancel => "ff_cancel_execution",
            Complete => "ff_complete_execution",
            CompleteTogether => "ff_complete_executions",
            CreateTogether | CreateTogetherWithABadPolicy => "ff_create_executions",
            CreateOfAnotherKind | CreateWithAnotherPayload | CreateWithABadPolicy | CreateUnderAKey => {
                "ff_create_execution"
            }
            Delay => "ff_delay_execution",
            Expire => "ff_expire_execution",
            Fail => "ff_fail_execution",
            Promote => "ff_promote_delayed",
            Read => "ff_read_execution",
            Replay | ReplayFromAStep => "ff_replay_execution",
            Progress => "ff_update_progress",
            TakeBack => "ff_mark_lease_expired_if_due",
            Renew => "ff_renew_lease",
            Revoke | RevokeOneLease => "ff_revoke_lease",
            Spend | SpendAsAStranger | SpendTooMuch => "ff_record_spend",
            ResetABudget => "ff_reset_budget",
        }
    }

    async fn ask(self, wire: &Wire, subject: &Subject) -> Result<(), ScriptError> {
        let (execution_id, fence) = (subject.id, subject.fence);
        let again = |args: SubmitArgs| async move { ff_create_execution(wire, &ONE_PARTITION, args).await.map(drop) };
        let together = |args: SubmitArgs| async move {
            let works = [args.clone(), args].map(|args| (args.execution_id(&ONE_PARTITION), args));
            let answers = ff_create_executions(wire, works.into()).await?;
            let [one, two] = <[_; 2]>::try_from(answers).expect("each has its answer");
            one.and(two).map(drop)
        };
        let submitted = subject.submitted.clone();
        match self {
            Cancel => {
                let args = CancelArgs { execution_id, reason: None, requested_by: None };
                ff_cancel_execution(wire, args).await.map(drop)
            }
            Complete => {
                let result = Some(Payload::bytes("late"));
                ff_complete_execution(wire, CompleteArgs { execution_id, fence, result }).await.map(drop)
            }
            CompleteTogether => {
                let late = CompleteArgs { execution_id, fence, result: Some(Payload::bytes("late")) };
                let answers = ff_complete_executions(wire, vec![late.clone(), late]).await?;
                let [one, two] = <[_; 2]>::try_from(answers).expect("each has its answer");
                one.and(two).map(drop)
            }
            CreateOfAnotherKind => again(SubmitArgs { kind: Kind::parse("mail").unwrap(), ..submitted }).await,
            CreateWithAnotherPayload => again(SubmitArgs { payload: Payload::json("2"), ..submitted }).await,
            CreateWithABadPolicy => {
                let policy = Policy { max_replay_count: u32::MAX, ..submitted.policy };
                again(SubmitArgs { policy, ..submitted }).await
            }
            CreateUnderAKey => {
                let idempotency_key = Some(IdempotencyKey::parse("order 7").unwrap());
                again(SubmitArgs { idempotency_key, ..submitted }).await
            }
            CreateTogether => together(SubmitArgs { payload: Payload::json("2"), ..submitted }).await,
            CreateTogetherWithABadPolicy => {
                let policy = Policy { max_replay_count: u32::MAX, ..submitted.policy };
                together(SubmitArgs { policy, ..submitted }).await
            }
            Delay => {
                let args = DelayArgs { execution_id, fence, start: Start::After(500) };
                ff_delay_execution(wire, args).await.map(drop)
            }
            Expire => ff_expire_execution(wire, &execution_id).await.map(drop),
            Fail => {
                let category = Kind::parse("network").unwrap();
                let failure = Failure { category, message: "no".into(), permanent: false };
                ff_fail_execution(wire, FailArgs { execution_id, fence, failure }, &SystemEntropy.nonce())
                    .await
                    .map(drop)
            }
            Promote => ff_promote_delayed(wire, &execution_id).await.map(drop),
            Read => ff_read_execution(wire, &execution_id, ExtraReads::ALL).await.map(drop),
            Replay => {
                let args = ReplayArgs::new(execution_id);
                ff_replay_execution(wire, args).await.map(drop)
            }
            ReplayFromAStep => {
                let from_step = Some(StepPoint::new(StepName::parse("a").unwrap()));
                let args = ReplayArgs { from_step, ..ReplayArgs::new(execution_id) };
                ff_replay_execution(wire, args).await.map(drop)
            }
            Progress => {
                let args = ProgressArgs { execution_id, fence, percent: Some(50), message: None };
                ff_update_progress(wire, args).await.map(drop)
            }
            TakeBack => ff_mark_lease_expired_if_due(wire, &execution_id).await.map(drop),
            Renew => ff_renew_lease(wire, RenewArgs { execution_id, fence, lease_ttl_ms: None }).await.map(drop),
            Revoke => {
                let args = RevokeArgs { execution_id, lease_id: None, reason: None };
                ff_revoke_lease(wire, args).await.map(drop)
            }
            Spend => ff_record_spend(wire, spent(execution_id, fence, 1)).await.map(drop),
            SpendAsAStranger => {
                let fence = Fence { lease_id: LeaseId::new(), ..fence };
                ff_record_spend(wire, spent(execution_id, fence, 1)).await.map(drop)
            }
            SpendTooMuch => ff_record_spend(wire, spent(execution_id, fence, limits::AMOUNT_MAX + 1)).await.map(drop),
            ResetABudget => {
                let budget_id = budget_id(&Namespace::default_name(), &"none".parse().unwrap());
                ff_reset_budget(wire, &ONE_PARTITION, &ResetBudgetArgs { budget_id }).await.map(drop)
            }
            RevokeOneLease => {
                let args = RevokeArgs { execution_id, lease_id: Some(fence.lease_id), reason: None };
                ff_revoke_lease(wire, args).await.map(drop)
            }
        }
    }
}
