//! A fair lane serves its keys in turn: a key with much work does not delay a key with little.

use std::collections::BTreeMap;

use ff_core::explain::{TermKind, Verdict};

use crate::prelude::*;
use crate::quota::Quota;

pub(crate) async fn one_tenant_with_much_work_does_not_delay_the_others(world: World) {
    fair(&world).await;
    submit(&world, "hog", 30).await;
    submit(&world, "mouse", 1).await;
    submit(&world, "mole", 2).await;
    assert_eq!(claim(&world, 1).await, ["hog"]);
    assert_eq!(claim(&world, 5).await, ["mole", "mouse", "hog", "mole", "hog"]);
    assert_eq!(claim(&world, 100).await, vec!["hog"; 27]);
}

pub(crate) async fn shares_follow_the_weights(world: World) {
    let lane = fair(&world).await;
    lane.configure(ConfigureLaneArgs { weights: weights(&[("gold", 4), ("silver", 2)]), ..lane.args() }).await.unwrap();
    for customer in ["gold", "silver", "other"] {
        submit(&world, customer, 20).await;
    }
    let mut shares = BTreeMap::new();
    for _ in 0..5 {
        for customer in claim(&world, 7).await {
            *shares.entry(customer).or_insert(0) += 1;
        }
    }
    let expected = [("gold", 20), ("silver", 10), ("other", 5)].map(|(name, share)| (name.to_owned(), share));
    assert_eq!(shares, expected.into());
}

pub(crate) async fn priority_and_age_decide_within_a_key_and_not_between_keys(world: World) {
    fair(&world).await;
    let old = job(&world, "a").submit().await;
    world.clock.advance(ms(1)).await;
    let young = job(&world, "a").submit().await;
    let urgent = job(&world, "a").priority(9).submit().await;
    let other = job(&world, "b").submit().await;
    let held = world.worker("w").claim_on(1, 4).await;
    assert_eq!(held.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [urgent, other, old, young]);
}

pub(crate) async fn a_change_of_priority_counts_within_the_key(world: World) {
    fair(&world).await;
    submit(&world, "a", 2).await;
    let raised = job(&world, "a").submit().await;
    let args = ChangePriorityArgs { execution_id: raised, priority: Priority::new(7).unwrap() };
    world.backend.change_priority(args).await.unwrap();
    assert_eq!(world.worker("w").claim_on(1, 1).await[0].id(), raised);
}

pub(crate) async fn age_is_weighed_within_a_key(world: World) {
    let lane = fair(&world).await;
    lane.configure(ConfigureLaneArgs { ageing_ms: Setting::To(1_000), ..lane.args() }).await.unwrap();
    let old = job(&world, "a").submit().await;
    world.clock.advance(ms(2_001)).await;
    let better = job(&world, "a").priority(2).submit().await;
    let other = job(&world, "b").priority(9).submit().await;
    let held = world.worker("w").claim_on(1, 3).await;
    assert_eq!(held.iter().map(LeasedExecution::id).collect::<Vec<_>>(), [old, other, better]);
}

pub(crate) async fn a_key_that_runs_dry_and_refills_gains_nothing(world: World) {
    fair(&world).await;
    submit(&world, "steady", 9).await;
    submit(&world, "trickle", 1).await;
    let mut order = Vec::new();
    for _ in 0..8 {
        let served = claim(&world, 1).await.remove(0);
        if served == "trickle" {
            submit(&world, "trickle", 1).await;
        }
        order.push(served);
    }
    assert_eq!(order.iter().filter(|one| *one == "trickle").count(), 4, "{order:?}");
}

pub(crate) async fn a_worker_sees_only_keys_it_can_serve(world: World) {
    fair(&world).await;
    for customer in ["a", "b"] {
        job(&world, customer).require(&["gpu"]).submit().await;
        world.job("send").on_partition(1).tag("customer", customer).submit().await;
    }
    submit(&world, "c", 2).await;
    let plain = world.worker("plain").kinds(&["resize"]);
    assert_eq!(customers(&plain.claim_on(1, 1).await), ["c"]);
    let able = world.worker("able").kinds(&["resize"]).capabilities(&["gpu"]);
    assert_eq!(customers(&able.claim_on(1, 2).await), ["a", "b"], "c has had its turn");
    assert_eq!(customers(&world.worker("any").claim_on(1, 9).await), ["a", "b", "c"]);
    assert_eq!(customers(&able.claim_on(1, 9).await), <[String; 0]>::default());
}

pub(crate) async fn quotas_and_turns_go_together(world: World) {
    fair(&world).await;
    Quota::new(&world, "customers").per("tag:customer").at_once(1).put().await;
    submit(&world, "hog", 4).await;
    submit(&world, "mouse", 2).await;
    let first = world.worker("w").claim_on(1, 4).await;
    assert_eq!(customers(&first), ["hog", "mouse"], "one of each at once");
    assert_eq!(claim(&world, 4).await, <[String; 0]>::default());
}

pub(crate) async fn a_lane_limit_and_turns_go_together(world: World) {
    let lane = fair(&world).await;
    lane.limit(3).await;
    submit(&world, "hog", 6).await;
    submit(&world, "mouse", 1).await;
    let held = world.worker("w").claim_on(1, 9).await;
    assert_eq!(customers(&held), ["hog", "mouse", "hog"]);
    for one in held {
        one.complete(b"1").await.unwrap();
    }
    world.clock.advance(ms(limits::RECOUNT_MS)).await;
    assert_eq!(claim(&world, 9).await, ["hog"; 3]);
}

pub(crate) async fn work_that_comes_back_waits_under_its_key(world: World) {
    fair(&world).await;
    let retried = job(&world, "a").retries(1, ms(100)).submit().await;
    let suspended = job(&world, "b").submit().await;
    let expired = job(&world, "c").submit().await;
    let replayed = job(&world, "d").submit().await;
    let held = job(&world, "e").submit().await;
    let delayed = job(&world, "f").after(ms(50)).submit().await;
    let hold = HoldArgs { execution_id: held, reason: None, requested_by: None };
    world.backend.hold(hold).await.unwrap();
    let taken: BTreeMap<_, _> = world.worker("w").claim_on(1, 9).await.into_iter().map(|one| (one.id(), one)).collect();
    assert_eq!(taken.len(), 4);
    taken[&retried].fail("network").await.unwrap();
    taken[&suspended].wait_on("ok").await;
    taken[&replayed].complete(b"1").await.unwrap();
    submit(&world, "hog", 9).await;
    world.clock.advance(taken[&expired].lease_ttl()).await;
    world.backend.release_hold(ReleaseHoldArgs { execution_id: held }).await.unwrap();
    world.decide(&suspended, OperatorDecision::Resume).await.unwrap();
    world.replay(&replayed).await.unwrap();
    let mut expected = vec![retried, suspended, expired, replayed, held, delayed];
    let mut back: Vec<_> = world.worker("w").claim_on(1, 7).await.iter().map(LeasedExecution::id).collect();
    back.retain(|id| expected.contains(id));
    back.sort_unstable();
    expected.sort_unstable();
    assert_eq!(back, expected, "the one with much does not delay them");
}

pub(crate) async fn work_that_ends_while_it_waits_leaves_its_queue(world: World) {
    fair(&world).await;
    let cancelled = job(&world, "a").submit().await;
    job(&world, "b").deadline(ms(100)).submit().await;
    submit(&world, "c", 1).await;
    world.cancel(&cancelled).await.unwrap();
    world.clock.advance(ms(100)).await;
    world.check_invariants().await;
    assert_eq!(claim(&world, 9).await, ["c"]);
}

pub(crate) async fn members_of_a_flow_have_their_key(world: World) {
    fair(&world).await;
    let tagged = |node: &mut NodeSpec| node.tags = labels(&[("customer", "acme")]);
    let flow = world.graph("a>b").with("a", tagged).with("b", tagged).submit().await;
    let info = world.describe(&flow.member("a")).await;
    assert_eq!((info.fair_key.as_str(), info.public_state), ("acme", PublicState::Waiting));
    assert_eq!(world.describe(&flow.member("b")).await.fair_key.as_str(), "acme");
    assert_eq!(flow.run().await, [["a"], ["b"]]);
}

pub(crate) async fn nothing_is_lost_when_a_lane_is_made_fair_by_another_key_or_none(world: World) {
    let lane = world.lane("default");
    submit(&world, "before", 2).await;
    fair(&world).await;
    submit(&world, "a", 3).await;
    assert_eq!(claim(&world, 2).await, ["before", "a"], "what waited before is a queue of its own");
    let by = |by: &str| ConfigureLaneArgs { fair_by: Setting::To(by.parse().unwrap()), ..lane.args() };
    lane.configure(by("kind")).await.unwrap();
    submit(&world, "b", 2).await;
    assert_eq!(lane.depth(LanePlace::Waiting).await.count, 5);
    lane.configure(ConfigureLaneArgs { fair_by: Setting::Default, ..lane.args() }).await.unwrap();
    submit(&world, "c", 2).await;
    world.check_invariants().await;
    let mut rest = Vec::new();
    for _ in 0..7 {
        rest.extend(claim(&world, 1).await);
    }
    rest.sort_unstable();
    assert_eq!(rest, ["a", "a", "b", "b", "before", "c", "c"]);
    assert_eq!(lane.depth(LanePlace::Waiting).await.count, 0);
}

pub(crate) async fn work_without_the_tag_is_a_queue_of_its_own(world: World) {
    fair(&world).await;
    for _ in 0..3 {
        world.job("resize").on_partition(1).submit().await;
    }
    submit(&world, "a", 3).await;
    assert_eq!(claim(&world, 6).await, ["", "a", "", "a", "", "a"]);
}

pub(crate) async fn fairness_that_makes_no_sense_is_refused_by_its_field(world: World) {
    let lane = world.lane("mail");
    let before = world.contents().await;
    let none = ConfigureLaneArgs { weights: weights(&[("a", 2)]), ..lane.args() };
    assert_refused!(lane.configure(none).await, "invalid_input", "weights");
    let fair_by = || Setting::To("tag:customer".parse().unwrap());
    for (name, weight) in [("a", 0), ("b", limits::WEIGHT_MAX + 1)] {
        let args = ConfigureLaneArgs { fair_by: fair_by(), weights: weights(&[(name, weight)]), ..lane.args() };
        assert_refused!(lane.configure(args).await, "limit_exceeded", format!("weights.{name}"));
    }
    let many: Vec<_> = (0..=limits::LANE_WEIGHTS).map(|nth| format!("k{nth}")).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), 2)).collect();
    let args = ConfigureLaneArgs { fair_by: fair_by(), weights: weights(&many), ..lane.args() };
    assert_refused!(lane.configure(args).await, "limit_exceeded", "weights", 256, 257);
    assert_eq!(world.contents().await, before, "nothing is written");
    let args = ConfigureLaneArgs { fair_by: fair_by(), weights: weights(&many[1..]), ..lane.args() };
    assert_eq!(lane.configure(args).await.unwrap().settings.weights.len(), 256);
    let args = ConfigureLaneArgs { weights: weights(&many[..1]), ..lane.args() };
    assert_refused!(lane.configure(args).await, "limit_exceeded", "weights", 256, 257);
}

pub(crate) async fn weights_are_changed_one_by_one_and_go_with_their_key(world: World) {
    let lane = fair(&world).await;
    let args = ConfigureLaneArgs { weights: weights(&[("a", 2), ("b c", 3)]), ..lane.args() };
    let known = lane.configure(args).await.unwrap().settings;
    assert_eq!((known.weight_of(&key("a")), known.weight_of(&key("b c")), known.weight_of(&key("d"))), (2, 3, 1));
    let change = [(key("a"), Setting::Default), (key("d"), Setting::To(7))].into();
    let known = lane.configure(ConfigureLaneArgs { weights: change, ..lane.args() }).await.unwrap().settings;
    assert_eq!(known.weights, [(key("b c"), 3), (key("d"), 7)].into());
    assert_eq!(lane.describe().await.settings, known);
    let by_kind = ConfigureLaneArgs { fair_by: Setting::To("kind".parse().unwrap()), ..lane.args() };
    let known = lane.configure(by_kind).await.unwrap().settings;
    assert_eq!((known.fair_by.unwrap().to_string(), known.weights.len()), ("kind".to_owned(), 0));
}

pub(crate) async fn an_explanation_says_whose_turn_comes_first(world: World) {
    let lane = fair(&world).await;
    lane.configure(ConfigureLaneArgs { weights: weights(&[("mouse", 3)]), ..lane.args() }).await.unwrap();
    for customer in ["a", "b", "c"] {
        submit(&world, customer, 2).await;
    }
    let last = job(&world, "mouse").submit().await;
    let turn = async |id: &ExecutionId| {
        let terms = world.backend.explain(id).await.unwrap().terms;
        terms.into_iter().find(|term| term.term == TermKind::Turn).map(|term| (term.verdict, term.detail))
    };
    let waits = "3 keys are served before mouse (weight 3) on its partition".to_owned();
    assert_eq!(turn(&last).await, Some((Verdict::Waits, waits)));
    claim(&world, 3).await;
    let next = "key mouse (weight 3) is the next to be served on its partition".to_owned();
    assert_eq!(turn(&last).await, Some((Verdict::Passes, next)));
    let elsewhere = world.job("resize").lane("other").submit().await;
    assert_eq!(turn(&elsewhere).await, None);
}

pub(crate) async fn a_long_poll_hears_of_work_under_a_key(world: World) {
    fair(&world).await;
    let worker = world.worker("w");
    let taken = tokio::spawn(async move { customers(&worker.next(1, ms(20_000)).await) });
    submit(&world, "late", 1).await;
    assert_eq!(taken.await.unwrap(), ["late"]);
}

async fn fair(world: &World) -> crate::world::Lane {
    let lane = world.lane("default");
    let fair_by = Setting::To("tag:customer".parse().unwrap());
    lane.configure(ConfigureLaneArgs { fair_by, ..lane.args() }).await.unwrap();
    lane
}

fn key(text: &str) -> FairKey {
    FairKey::parse(text).unwrap()
}

fn weights(of: &[(&str, u32)]) -> BTreeMap<FairKey, Setting<u32>> {
    of.iter().map(|(name, weight)| (key(name), Setting::To(*weight))).collect()
}

fn job(world: &World, customer: &str) -> Submission {
    world.job("resize").on_partition(1).tag("customer", customer)
}

async fn submit(world: &World, customer: &str, count: usize) {
    for _ in 0..count {
        job(world, customer).submit().await;
    }
}

/// Claims up to `max` executions and returns their customers.
async fn claim(world: &World, max: usize) -> Vec<String> {
    customers(&world.worker("w").claim_on(1, max).await)
}

fn customers(held: &[LeasedExecution]) -> Vec<String> {
    held.iter().map(|one| one.task.tags.values().next().map_or(String::new(), ToString::to_string)).collect()
}
