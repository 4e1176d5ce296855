//! A condition is a tree, and each of its nodes counts only the signals at its own waitpoints.

use crate::prelude::*;
use crate::world::conditions::{all, any, count, key, named, signal};

pub(crate) async fn a_condition_with_a_name_counts_only_that_signal(world: World, held: LeasedExecution) {
    let [waitpoint] = held.wait_for(named("approval", "approved"), ["approval"]).await;
    assert_eq!(waitpoint.effect("other").await, Effect::MatcherFailed);
    assert_eq!(waitpoint.effect("approved.not").await, Effect::MatcherFailed);
    still_waits(&world, &held).await;
    assert_eq!(waitpoint.effect("approved").await, Effect::Satisfied);
    assert_resumed_with(&world, &["approved"]).await;
}

pub(crate) async fn any_signal_will_do_where_none_is_named(world: World) {
    let (_, waitpoint) = world.suspended().await;
    assert_eq!(waitpoint.effect("any").await, Effect::Satisfied);
    assert_resumed_with(&world, &["any"]).await;
}

pub(crate) async fn all_of_needs_every_member(world: World, held: LeasedExecution) {
    let [a, b, c] = held.wait_for(all(["a", "b", "c"].map(signal)), ["a", "b", "c"]).await;
    for waitpoint in [&c, &a] {
        assert_eq!(waitpoint.effect("go").await, Effect::Appended);
        assert_eq!(waitpoint.effect("go").await, Effect::Recounted);
        still_waits(&world, &held).await;
    }
    assert_eq!(b.effect("last").await, Effect::Satisfied);
    assert_resumed_with(&world, &["go", "last", "go"]).await;
}

pub(crate) async fn any_of_needs_one_member(world: World, held: LeasedExecution) {
    let either = any([all([signal("a"), signal("b")]), named("c", "go")]);
    let [a, _, c] = held.wait_for(either, ["a", "b", "c"]).await;
    assert_eq!(a.effect("half").await, Effect::Appended);
    assert_eq!(c.effect("other").await, Effect::MatcherFailed);
    still_waits(&world, &held).await;
    assert_eq!(c.effect("go").await, Effect::Satisfied);
    assert_resumed_with(&world, &["go"]).await;
}

pub(crate) async fn a_count_of_waitpoints_counts_each_once(world: World, held: LeasedExecution) {
    let [a, b, _] = held.wait_for(count(2, Distinct::Waitpoints, &["a", "b", "c"]), ["a", "b", "c"]).await;
    assert_eq!(a.effect("first").await, Effect::Appended);
    assert_eq!(a.effect("again").await, Effect::Recounted);
    still_waits(&world, &held).await;
    assert_eq!(b.effect("second").await, Effect::Satisfied);
    assert_resumed_with(&world, &["first", "second"]).await;
}

pub(crate) async fn a_count_of_signals_counts_every_one(world: World, held: LeasedExecution) {
    let [a, b] = held.wait_for(count(3, Distinct::Signals, &["a", "b"]), ["a", "b"]).await;
    assert_eq!(a.effect("one").await, Effect::Appended);
    assert_eq!(a.effect("two").await, Effect::Appended);
    still_waits(&world, &held).await;
    assert_eq!(b.effect("three").await, Effect::Satisfied);
    assert_resumed_with(&world, &["one", "two", "three"]).await;
}

pub(crate) async fn a_count_of_sources_counts_each_once(world: World, held: LeasedExecution) {
    let [a, b] = held.wait_for(count(2, Distinct::Sources, &["a", "b"]), ["a", "b"]).await;
    assert_eq!(a.effect_from("ada", "one").await, Effect::Appended);
    assert_eq!(b.effect_from("ada", "two").await, Effect::Recounted);
    still_waits(&world, &held).await;
    assert_eq!(a.effect_from("grace", "three").await, Effect::Satisfied);
    assert_resumed_with(&world, &["one", "three"]).await;
}

/// The source of a signal is its kind and its name: two kinds are two sources.
pub(crate) async fn a_source_is_its_kind_and_its_name(world: World) {
    let held = world.held().await;
    let [a] = held.wait_for(count(2, Distinct::Sources, &["a"]), ["a"]).await;
    assert_eq!(a.effect("unnamed").await, Effect::Appended);
    assert_eq!(a.effect("unnamed-again").await, Effect::Recounted);
    assert_eq!(a.effect_from("ada", "from-ada").await, Effect::Satisfied);
}

pub(crate) async fn a_count_may_be_of_one_name(world: World, held: LeasedExecution) {
    let votes = Condition::Count {
        n: 2,
        of: Distinct::Signals,
        waitpoints: vec![key("a")],
        name: SignalName::parse("yes").ok(),
    };
    let [a] = held.wait_for(votes, ["a"]).await;
    assert_eq!(a.effect("yes").await, Effect::Appended);
    assert_eq!(a.effect("no").await, Effect::MatcherFailed);
    still_waits(&world, &held).await;
    assert_eq!(a.effect("yes").await, Effect::Satisfied);
    assert_resumed_with(&world, &["yes", "yes"]).await;
}

pub(crate) async fn two_count_nodes_do_not_see_each_others_signals(world: World, held: LeasedExecution) {
    let of = Distinct::Signals;
    let [a, b] = held.wait_for(all([count(2, of, &["a"]), count(2, of, &["b"])]), ["a", "b"]).await;
    assert_eq!(a.effect("a1").await, Effect::Appended);
    assert_eq!(a.effect("a2").await, Effect::Appended);
    assert_eq!(a.effect("a3").await, Effect::Recounted);
    assert_eq!(b.effect("b1").await, Effect::Appended);
    still_waits(&world, &held).await;
    assert_eq!(b.effect("b2").await, Effect::Satisfied);
    assert_resumed_with(&world, &["a1", "a2", "b1", "b2"]).await;
}

/// Two nodes over one waitpoint count independently, each by its own distinction.
pub(crate) async fn nodes_over_one_waitpoint_count_for_themselves(world: World, held: LeasedExecution) {
    let both = all([count(2, Distinct::Signals, &["a"]), count(2, Distinct::Sources, &["a"])]);
    let [a] = held.wait_for(both, ["a"]).await;
    assert_eq!(a.effect_from("ada", "one").await, Effect::Appended);
    assert_eq!(a.effect_from("ada", "two").await, Effect::Appended, "a second signal, though not a second source");
    assert_eq!(a.effect_from("ada", "three").await, Effect::Recounted);
    still_waits(&world, &held).await;
    assert_eq!(a.effect_from("grace", "four").await, Effect::Satisfied);
    assert_resumed_with(&world, &["one", "two", "four"]).await;
}

pub(crate) async fn all_of_inside_all_of_inside_all_of_can_be_met(world: World, held: LeasedExecution) {
    let inner = all([signal("a"), count(2, Distinct::Sources, &["b"])]);
    let [a, b, c] = held.wait_for(all([all([inner, signal("c")])]), ["a", "b", "c"]).await;
    assert_eq!(c.effect("c").await, Effect::Appended);
    assert_eq!(b.effect_from("ada", "b1").await, Effect::Appended);
    assert_eq!(b.effect_from("grace", "b2").await, Effect::Appended);
    still_waits(&world, &held).await;
    assert_eq!(a.effect("a").await, Effect::Satisfied);
    assert_resumed_with(&world, &["a", "b1", "b2", "c"]).await;
}

pub(crate) async fn one_signal_may_count_for_several_nodes_and_is_handed_once(world: World, held: LeasedExecution) {
    let [a] = held.wait_for(all([signal("a"), named("a", "go"), count(1, Distinct::Sources, &["a"])]), ["a"]).await;
    assert_eq!(a.effect("go").await, Effect::Satisfied);
    assert_resumed_with(&world, &["go"]).await;
}

pub(crate) async fn no_signal_meets_what_only_an_operator_can(world: World, held: LeasedExecution) {
    let [waitpoint] = held.wait_for(Condition::OperatorOnly, ["review"]).await;
    assert_eq!(waitpoint.effect("operator_only").await, Effect::NotInCondition);
    still_waits(&world, &held).await;
}

async fn still_waits(world: &World, held: &LeasedExecution) {
    assert_eq!(world.state(&held.id()).await, PublicState::Suspended);
}

/// Checks that a worker continues the execution with signals of these names in this order.
async fn assert_resumed_with(world: &World, names: &[&str]) {
    assert_eq!(world.worker("next").claim().await.signal_names(), names);
}
