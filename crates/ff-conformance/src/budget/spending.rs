//! All usage is counted exactly once, and shown.

use super::{put, report, standing, tokens};
use crate::prelude::*;
use crate::quota::{claim_all, submit_for};

const PLAIN: &str = r#"{"scope":"namespace","limits":{"tokens":{"hard":100,"soft":50}}}"#;

pub(crate) async fn a_report_counts_once(world: World) {
    put(&world, "all", PLAIN).await;
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    assert!(!report(&held, &world, "a", 10).await.unwrap().duplicate);
    let again = report(&held, &world, "a", 10).await.unwrap();
    assert!(again.duplicate);
    assert_eq!(again.usage, tokens(10));
    report(&held, &world, "b", 5).await.unwrap();
    assert_eq!(standing(&world, "all").await, (15, 0, 15));
    let usage = world.backend.usage(&held.id()).await.unwrap();
    assert_eq!((usage.usage, usage.attempts.into_values().collect::<Vec<_>>()), (tokens(15), vec![tokens(15)]));
}

pub(crate) async fn usage_is_counted_without_a_budget_too(world: World) {
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    let reported = report(&held, &world, "a", 10).await.unwrap();
    assert_eq!((reported.usage, reported.budgets), (tokens(10), vec![]));
    put(&world, "all", PLAIN).await;
    report(&held, &world, "b", 1).await.unwrap();
    assert_eq!(standing(&world, "all").await.0, 1, "what was spent before is not the budget's");
}

/// Usage in a dimension that a budget does not limit counts for the execution only.
pub(crate) async fn a_dimension_a_budget_does_not_know_is_not_counted_there(world: World) {
    put(&world, "calls", r#"{"scope":"namespace","limits":{"calls":{"hard":1}}}"#).await;
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    let reported = report(&held, &world, "a", 1_000).await.unwrap();
    assert_eq!((reported.usage, reported.budgets[0].status), (tokens(1_000), BudgetStatus::Ok));
}

pub(crate) async fn every_attempt_has_its_own_usage(world: World) {
    world.job("send").retries(1, ms(1_000)).submit().await;
    let first = claim_all(&world).await.pop().unwrap();
    report(&first, &world, "a", 3).await.unwrap();
    first.fail("error").await.unwrap();
    world.clock.advance(ms(1_000)).await;
    let second = claim_all(&world).await.pop().unwrap();
    report(&second, &world, "b", 4).await.unwrap();
    let usage = world.backend.usage(&second.id()).await.unwrap();
    assert_eq!(usage.usage, tokens(7));
    assert_eq!(usage.attempts.into_values().collect::<Vec<_>>(), [tokens(3), tokens(4)]);
}

pub(crate) async fn a_soft_limit_has_one_event(world: World) {
    let budget = put(&world, "all", PLAIN).await;
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    let args = |after| EventsArgs { after, namespace: None, execution: None, limit: 10 };
    let events = world.backend.events(args(None)).await.unwrap();
    for (id, status) in [("a", BudgetStatus::Ok), ("b", BudgetStatus::SoftExceeded), ("c", BudgetStatus::SoftExceeded)]
    {
        assert_eq!(report(&held, &world, id, 30).await.unwrap().budgets[0].status, status);
    }
    let new_events = world.backend.events(args(Some(events.next))).await.unwrap().events;
    let kinds: Vec<_> = new_events.into_iter().map(|event| event.what).collect();
    assert_eq!(kinds, [EventKind::SoftLimitExceeded { budget_id: budget.id }]);
}

pub(crate) async fn an_execution_over_its_budget_fails_where_the_budget_says_so(world: World) {
    put(&world, "strict", r#"{"scope":"namespace","limits":{"tokens":{"hard":10}},"on_hard_limit":"fail"}"#).await;
    let id = submit_for(&world, "acme", 1).await.pop().unwrap();
    let held = claim_all(&world).await.pop().unwrap();
    assert!(!report(&held, &world, "a", 10).await.unwrap().failed, "all of it may be spent");
    assert!(report(&held, &world, "b", 1).await.unwrap().failed);
    let info = world.describe(&id).await;
    assert_eq!(info.public_state, PublicState::Failed);
    let failure = info.failure.unwrap();
    assert_eq!((failure.category.as_str(), failure.permanent), ("budget_exceeded", true));
    assert!(report(&held, &world, "c", 1).await.unwrap().late, "what was spent meanwhile counts");
    assert_eq!(standing(&world, "strict").await.0, 12);
}

pub(crate) async fn usage_reported_under_a_lost_lease_counts(world: World) {
    put(&world, "all", PLAIN).await;
    submit_for(&world, "acme", 1).await;
    let slow = claim_all(&world).await.pop().unwrap();
    world.clock.advance(slow.lease_ttl() + ms(1)).await;
    let late = report(&slow, &world, "a", 7).await.unwrap();
    assert!(late.late);
    assert_eq!(standing(&world, "all").await.0, 7);
    let stranger = slow.with_fence(|fence| fence.lease_id = LeaseId::new());
    assert_refused!(report(&stranger, &world, "b", 7).await, "stale_lease");
    assert_eq!(standing(&world, "all").await.0, 7);
}

pub(crate) async fn amounts_that_cannot_be_counted_are_refused(world: World) {
    put(&world, "all", PLAIN).await;
    submit_for(&world, "acme", 1).await;
    let held = claim_all(&world).await.pop().unwrap();
    assert_refused!(report(&held, &world, "a", 0).await, "invalid_input");
    assert_refused!(report(&held, &world, "b", limits::AMOUNT_MAX + 1).await, "limit_exceeded");
    report(&held, &world, "c", limits::AMOUNT_MAX).await.unwrap();
    assert_refused!(report(&held, &world, "d", 1).await, "limit_exceeded");
    assert_eq!(standing(&world, "all").await.0, limits::AMOUNT_MAX);
}

pub(crate) async fn the_members_of_a_flow_are_charged_to_its_budget(world: World) {
    let flow = world.graph("a b").submit().await;
    put(&world, "flow", &format!(r#"{{"scope":"flow:{}","limits":{{"tokens":{{"hard":100}}}}}}"#, flow.id)).await;
    submit_for(&world, "acme", 1).await;
    for held in claim_all(&world).await {
        report(&held, &world, "a", 10).await.unwrap();
    }
    assert_eq!(standing(&world, "flow").await.0, 20, "the third is not a member");
    assert_eq!(world.backend.flow_usage(&flow.id).await.unwrap().usage, tokens(20));
}
