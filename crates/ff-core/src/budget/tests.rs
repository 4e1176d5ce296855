//! Tests of budgets on a model: reserving, spending and settling, with interleavings and crashes.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::contracts::*;
use super::{Amounts, Budget, BudgetDefinition};
use crate::backend::entropy::{Entropy, SeededEntropy};
use crate::engine_error::{Code, Refusal};
use crate::execution::contracts::{CompleteArgs, SubmitArgs};
use crate::lease::contracts::{AdmittedClaimArgs, ClaimArgs};
use crate::lease::{Fence, Holder};
use crate::limits;
use crate::model::Model;
use crate::operation::{Ask, Conditions};
use crate::partition::PartitionConfig;
use crate::payload::Payload;
use crate::quota::contracts::*;
use crate::rule::samples::at;
use crate::suspension::contracts::{ResumeArgs, SuspendArgs};
use crate::suspension::{OperatorDecision, SuspendReason};
use crate::token::{KeyRing, Secret};
use crate::types::{ClaimId, ExecutionId, Kid, Kind, LeaseEpoch, Namespace, TimestampMs, WaitpointKey};

const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: 1, num_budget_partitions: 1, num_quota_partitions: 1 };

struct BudgetFixture {
    model: Model,
    entropy: SeededEntropy,
    now: TimestampMs,
    uuids: u128,
}

/// A running execution.
#[derive(Clone, Copy)]
struct Run {
    id: ExecutionId,
    fence: Fence,
}

impl BudgetFixture {
    fn new() -> Self {
        Self { model: Model::default(), entropy: SeededEntropy::new(1), now: at(0), uuids: 0 }
    }

    fn ask<A: Ask>(&mut self, args: A) -> Result<A::Reply, Refusal> {
        let at = Conditions { partitions: PARTITIONS, nonce: self.entropy.nonce(), now: self.now };
        let (reply, _) = self.model.execute(&args.into_operation(), &at)?;
        Ok(A::decided(reply).unwrap())
    }

    fn put(&mut self, json: &str) -> Budget {
        let definition: BudgetDefinition = serde_json::from_str(json).unwrap();
        let (namespace, name) = (Namespace::default_name(), "daily".parse().unwrap());
        let put = PutBudgetArgs { namespace, name, definition: Some(definition) };
        put.check().unwrap();
        let set = self.ask(put.clone()).unwrap();
        let budget = set.budgets[&put.name].clone();
        let define = DefineBudgetArgs { budget_id: budget.id, revision: budget.revision, budget: Some(budget.clone()) };
        self.ask(define).unwrap();
        self.ask(CopyQuotasArgs { partition: 0, set }).unwrap();
        budget
    }

    fn submit(&mut self) -> ExecutionId {
        self.uuids += 1;
        let mut args = SubmitArgs::new(Kind::parse("chat").unwrap(), Payload::default());
        args.uuid = Uuid::from_u128(self.uuids);
        self.ask(args).unwrap().execution_id
    }

    fn admission(&self, id: ExecutionId) -> SlotRequest {
        let of = self.model.executions().find(|execution| execution.id == id);
        let epoch = of.map_or(LeaseEpoch(1), |execution| execution.epoch().next());
        SlotRequest { key: "chat".into(), execution_id: id, epoch }
    }

    fn admit(&mut self, budget: &Budget, id: ExecutionId, claim_id: Option<ClaimId>) -> AdmissionVerdict {
        let requests = vec![self.admission(id)];
        let args = AdmitArgs { policy_id: budget.id.policy_id(), revision: budget.revision, claim_id, requests };
        self.ask(args).unwrap().verdicts.remove(0)
    }

    /// Lists, reserves and claims an execution; `None` when the budget refuses.
    fn run(&mut self, budget: &Budget, id: ExecutionId) -> Option<Run> {
        let holder = Holder::parse("w", "w-1").unwrap();
        let claim = ClaimArgs { max: 24, lease_ttl_ms: 1_000, ..ClaimArgs::new(0, holder) };
        let listed = self.ask(claim.clone()).unwrap().admissions;
        let request = listed.into_iter().find(|one| one.execution_id == id)?;
        if self.admit(budget, id, Some(ClaimId::new())) != AdmissionVerdict::Admitted {
            return None;
        }
        let args = AdmittedClaimArgs { claim, admitted: vec![request], admitted_at: self.now, grant: None };
        let decision = self.ask(args).unwrap().decision;
        decision.tasks.first().map(|task| Run { id, fence: task.fence })
    }

    fn report(&mut self, run: Run, report: &str, tokens: u64) -> Result<UsageReported, Refusal> {
        let amounts = Amounts::from([("tokens".parse().unwrap(), tokens)]);
        self.ask(ReportUsageArgs {
            execution_id: run.id,
            fence: run.fence,
            report_id: report.parse().unwrap(),
            amounts,
        })
    }

    fn charge(&mut self, pending: &PendingUsage) -> BudgetAnswer {
        let args = ChargeBudgetArgs {
            budget_id: pending.budgets[0],
            execution_id: pending.execution_id,
            kind: pending.kind.clone(),
            total: pending.total.clone(),
            counted: pending.counted.clone(),
        };
        self.ask(args).unwrap()
    }

    fn settle(&mut self, pending: &PendingUsage) -> bool {
        let (execution_id, counted) = (pending.execution_id, pending.total.clone());
        self.ask(SettleUsageArgs { execution_id, counted, crossed: Vec::new() }).unwrap().settled
    }

    fn spend(&mut self, run: Run, report: &str, tokens: u64) -> BudgetState {
        let pending = self.report(run, report, tokens).unwrap().pending.unwrap();
        let charged = self.charge(&pending);
        self.settle(&pending);
        charged.state.unwrap()
    }

    fn release(&mut self, budget: &Budget, run: Run) -> AdmissionsSettled {
        let SlotRequest { key, .. } = self.admission(run.id);
        let (epoch, guard) = (run.fence.lease_epoch, ReleaseGuard::Any);
        let releases = vec![AdmissionRelease { key, execution_id: run.id, epoch, is_unused: false, guard }];
        self.ask(SettleAdmissionsArgs { policy_id: budget.id.policy_id(), releases, keys: Vec::new() }).unwrap()
    }

    fn tokens(&self, budget: &Budget) -> DimensionBalance {
        let sums = self.model.budget_ledger(&budget.id);
        assert_eq!(sums.faults(), Vec::<String>::new());
        BudgetInfo::of(budget.clone(), &sums.balance, self.now).balance.into_values().next().unwrap()
    }
}

const PLAIN: &str = r#"{"scope":"namespace","limits":{"tokens":{"hard":100}},"estimate":{"*":{"tokens":40}}}"#;

/// Returns a budget with one running execution.
fn running(json: &str) -> (BudgetFixture, Budget, Run) {
    let mut world = BudgetFixture::new();
    let budget = world.put(json);
    let id = world.submit();
    let run = world.run(&budget, id).unwrap();
    (world, budget, run)
}

#[test]
fn a_claim_reserves_a_report_settles_and_the_end_releases_the_rest() {
    let mut world = BudgetFixture::new();
    let budget = world.put(PLAIN);
    let (one, two, three) = (world.submit(), world.submit(), world.submit());
    let first = world.run(&budget, one).unwrap();
    world.run(&budget, two).unwrap();
    assert!(world.run(&budget, three).is_none(), "40 + 40 + 40 is over 100");
    assert_eq!((world.tokens(&budget).used, world.tokens(&budget).reserved), (0, 80));
    let state = world.spend(first, "a", 30);
    assert_eq!((state.status, state.remaining.values().copied().collect::<Vec<_>>()), (BudgetStatus::Ok, vec![20]));
    assert_eq!((world.tokens(&budget).used, world.tokens(&budget).reserved), (30, 50));
    let settled = world.release(&budget, first);
    assert_eq!((settled.released, settled.woken.len()), (1, 0), "70 are taken, 40 more do not fit");
    assert_eq!((world.tokens(&budget).used, world.tokens(&budget).reserved), (30, 40));
}

#[test]
fn room_goes_to_those_that_wait_in_their_order() {
    let mut world = BudgetFixture::new();
    let budget = world.put(PLAIN);
    let ids: Vec<_> = (0..5).map(|_| world.submit()).collect();
    let runs: Vec<_> = ids.iter().filter_map(|id| world.run(&budget, *id)).collect();
    assert_eq!(runs.len(), 2);
    let woken = world.release(&budget, runs[0]).woken;
    assert_eq!(woken.iter().map(|one| one.execution_id).collect::<Vec<_>>(), [ids[2]]);
    assert_eq!(world.tokens(&budget).reserved, 80, "its estimate is set aside already");
    assert!(world.run(&budget, ids[2]).is_some());
    assert_eq!(world.release(&budget, runs[0]).released, 0, "given back once");
}

#[test]
fn an_execution_over_the_remaining_budget_lets_others_pass() {
    let mut world = BudgetFixture::new();
    let budget = world.put(
        r#"{"scope":"namespace","limits":{"tokens":{"hard":100}},"estimate":{"*":{"tokens":1},"chat":{"tokens":60}}}"#,
    );
    let (one, two) = (world.submit(), world.submit());
    let run = world.run(&budget, one).unwrap();
    assert!(world.run(&budget, two).is_none());
    world.spend(run, "a", 50);
    assert_eq!(world.release(&budget, run).woken.len(), 0, "50 are used, 60 are needed");
    let small = SlotRequest { key: "other".into(), execution_id: two, epoch: LeaseEpoch(1) };
    let (policy_id, revision) = (budget.id.policy_id(), budget.revision);
    let args = AdmitArgs { policy_id, revision, claim_id: Some(ClaimId::new()), requests: vec![small] };
    assert_eq!(world.ask(args).unwrap().verdicts, [AdmissionVerdict::Admitted]);
}

#[test]
fn a_report_counts_once_however_often_any_part_of_it_is_repeated() {
    let (mut world, budget, run) = running(PLAIN);
    let first = world.report(run, "a", 10).unwrap().pending.unwrap();
    let again = world.report(run, "a", 10).unwrap();
    assert!(again.duplicate);
    assert_eq!(again.pending.as_ref(), Some(&first), "what was not settled is told again");
    world.charge(&first);
    world.charge(&first);
    let second = world.report(run, "b", 5).unwrap().pending.unwrap();
    world.charge(&second);
    world.charge(&first);
    assert_eq!(world.tokens(&budget).used, 15, "an older total changes nothing");
    assert!(world.settle(&second) && !world.settle(&second) && !world.settle(&first));
    assert_eq!(world.tokens(&budget).spent, 15);
    assert!(world.report(run, "b", 5).unwrap().pending.is_none());
}

#[test]
fn usage_from_before_a_budget_applied_is_not_charged_to_it() {
    let (mut world, _, run) = running(r#"{"scope":"namespace","limits":{"calls":{"hard":100}}}"#);
    let counted = world.report(run, "a", 10).unwrap().pending.unwrap();
    world.charge(&counted);
    world.settle(&counted);
    let budget = world.put(PLAIN);
    assert_eq!(world.tokens(&budget).used, 0);
    world.spend(run, "b", 7);
    assert_eq!((world.tokens(&budget).used, world.tokens(&budget).spent), (7, 7));
}

#[test]
fn spending_goes_past_a_limit_and_nothing_further_is_admitted() {
    let mut world = BudgetFixture::new();
    let budget = world.put(r#"{"scope":"namespace","limits":{"tokens":{"hard":100,"soft":50}}}"#);
    let (one, two) = (world.submit(), world.submit());
    let run = world.run(&budget, one).unwrap();
    assert_eq!(world.spend(run, "a", 50).status, BudgetStatus::Ok);
    let pending = world.report(run, "b", 1).unwrap().pending.unwrap();
    let charged = world.charge(&pending);
    assert_eq!((charged.state.unwrap().status, charged.crossed), (BudgetStatus::SoftExceeded, true));
    assert!(world.charge(&pending).crossed, "told again until it is settled");
    world.settle(&pending);
    let pending = world.report(run, "c", 49).unwrap().pending.unwrap();
    let charged = world.charge(&pending);
    assert_eq!((charged.state.unwrap().status, charged.crossed), (BudgetStatus::SoftExceeded, false));
    let refused = world.admit(&budget, two, Some(ClaimId::new()));
    let dimension = Some("tokens".parse().unwrap());
    assert_eq!(refused, AdmissionVerdict::Refused { used: 100, limit: 100, retry_at: None, dimension });
    world.settle(&pending);
    assert_eq!(world.spend(run, "d", 5).status, BudgetStatus::HardExceeded);
}

#[test]
fn a_new_budget_period_begins_with_no_usage() {
    let json = r#"{"scope":"namespace","limits":{"tokens":{"hard":10}},"reset":{"interval":{"every_ms":1000}}}"#;
    let mut world = BudgetFixture::new();
    let budget = world.put(json);
    let (one, two) = (world.submit(), world.submit());
    let run = world.run(&budget, one).unwrap();
    world.spend(run, "a", 10);
    let refused = world.admit(&budget, two, Some(ClaimId::new()));
    let AdmissionVerdict::Refused { retry_at, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(retry_at, Some(at(1_000)));
    world.now = at(3_500);
    assert_eq!(world.tokens(&budget).used, 0);
    assert_eq!(world.admit(&budget, two, Some(ClaimId::new())), AdmissionVerdict::Admitted);
    assert_eq!(world.model.budget_ledger(&budget.id).balance.period.until, Some(at(4_000)));
    assert_eq!(world.tokens(&budget).spent, 10);
}

#[test]
fn an_operator_has_it_begin_anew() {
    let (mut world, budget, run) = running(PLAIN);
    world.spend(run, "a", 100);
    world.ask(ResetBudgetArgs { budget_id: budget.id }).unwrap();
    assert_eq!((world.tokens(&budget).used, world.tokens(&budget).spent), (0, 100));
    let unknown = super::budget_id(&Namespace::default_name(), &"none".parse().unwrap());
    assert_eq!(world.ask(ResetBudgetArgs { budget_id: unknown }).unwrap_err().code, Code::BudgetNotFound);
}

#[test]
fn usage_under_a_lost_lease_counts_and_under_a_foreign_one_is_refused() {
    let (mut world, budget, run) = running(PLAIN);
    world.now = at(5_000);
    let late = world.report(run, "a", 7).unwrap();
    assert!(late.late);
    world.charge(&late.pending.unwrap());
    assert_eq!(world.tokens(&budget).used, 7);
    let mut stranger = run;
    stranger.fence.lease_id = crate::types::LeaseId::new();
    assert_eq!(world.report(stranger, "b", 7).unwrap_err().code, Code::StaleLease);
    world.now = at(500);
    world.ask(CompleteArgs { execution_id: run.id, fence: run.fence, result: None }).unwrap();
    assert!(world.report(run, "c", 1).unwrap().late, "the last report may come after the end");
}

#[test]
fn amounts_that_cannot_be_counted_are_refused_and_nothing_is_written() {
    let (mut world, budget, run) = running(PLAIN);
    assert_eq!(world.report(run, "a", 0).unwrap_err().field.as_deref(), Some("amounts"));
    assert_eq!(world.report(run, "b", limits::AMOUNT_MAX + 1).unwrap_err().code, Code::LimitExceeded);
    world.spend(run, "c", limits::AMOUNT_MAX);
    let refusal = world.report(run, "d", 1).unwrap_err();
    assert_eq!((refusal.code, refusal.field.as_deref()), (Code::LimitExceeded, Some("amounts.tokens")));
    assert_eq!(world.tokens(&budget).used, limits::AMOUNT_MAX);
}

#[test]
fn draws_are_deleted_once_no_report_can_be_repeated() {
    let mut world = BudgetFixture::new();
    let budget = world.put(r#"{"scope":"namespace","limits":{"tokens":{"hard":1000}}}"#);
    let mut total = 0;
    for day in 0..6 {
        world.now = TimestampMs(day * 86_400_000);
        let id = world.submit();
        let run = world.run(&budget, id).unwrap();
        world.spend(run, "a", 3);
        world.release(&budget, run);
        total += 3;
        assert_eq!(world.tokens(&budget).spent, total);
    }
    let balance = world.model.budget_ledger(&budget.id).balance;
    assert!(balance.next_draw - balance.first_draw <= 2, "{balance:?}");
    assert_eq!(balance.folded, BTreeMap::from([("tokens".parse().unwrap(), 15)]));
}

#[test]
fn an_answered_pause_needs_no_room_of_budgets_that_suspend() {
    for (word, needs_room) in [("suspend", false), ("block", true)] {
        let mut world = BudgetFixture::new();
        let json = r#"{"scope":"namespace","limits":{"tokens":{"hard":10}},"on_hard_limit":"#;
        let budget = world.put(&format!("{json}\"{word}\"}}"));
        world.model.set_ring(0, KeyRing::of(Kid::first(), Secret::drawn([7; 32])));
        let id = world.submit();
        let run = world.run(&budget, id).unwrap();
        assert_eq!(world.spend(run, "a", 11).status, BudgetStatus::HardExceeded);
        let key = WaitpointKey::parse("budget daily").unwrap();
        let reason = SuspendReason::PausedByBudget;
        world.ask(SuspendArgs { reason, ..SuspendArgs::new(id, run.fence, key) }).unwrap();
        world.ask(ResumeArgs::new(id, OperatorDecision::Approve)).unwrap();
        let claim = ClaimArgs::new(0, Holder::parse("w", "w-1").unwrap());
        let claimed = world.ask(claim).unwrap();
        assert_eq!((claimed.admissions.len() == 1, claimed.tasks.len() == 1), (needs_room, !needs_room));
    }
}
