//! Tests of fair lanes, on one partition of the model.

use std::collections::BTreeMap;

use super::*;
use crate::doctor::violated;
use crate::engine_error::{Code, Refusal};
use crate::execution::contracts::{CancelArgs, SubmitArgs};
use crate::lane::Lane;
use crate::lane::contracts::{ConfigureLaneArgs, Setting};
use crate::lane::fixture::{LaneFixture, lane};
use crate::lease::Holder;
use crate::lease::contracts::{ClaimArgs, Task};
use crate::types::{ExecutionId, FairKey, Kind, Priority, TagKey, TagValue};

fn key(text: &str) -> FairKey {
    FairKey::parse(text).unwrap()
}

fn fair() -> (LaneFixture, Lane) {
    let mut fixture = LaneFixture::new();
    let known = fixture.configure(by_customer());
    (fixture, known)
}

fn by_customer() -> ConfigureLaneArgs {
    ConfigureLaneArgs { fair_by: Setting::To("tag:customer".parse().unwrap()), ..lane() }
}

fn weights(of: &[(&str, u32)]) -> BTreeMap<FairKey, Setting<u32>> {
    of.iter().map(|(name, weight)| (key(name), Setting::To(*weight))).collect()
}

/// Submits work of a customer, if there is one, to the first partition.
fn submit(fixture: &mut LaneFixture, customer: &str, change: impl FnOnce(&mut SubmitArgs)) -> ExecutionId {
    let mut work = fixture.work(0);
    if !customer.is_empty() {
        work.tags = [(TagKey::parse("customer").unwrap(), TagValue::parse(customer).unwrap())].into();
    }
    change(&mut work);
    fixture.ask(work).unwrap().execution_id
}

fn many(fixture: &mut LaneFixture, customer: &str, count: usize) {
    for _ in 0..count {
        submit(fixture, customer, |_| {});
    }
}

fn customer(task: &Task) -> String {
    task.tags.values().next().map_or(String::new(), ToString::to_string)
}

/// Returns the customers whose executions are taken by successive claims of `max`, in this order.
fn served(fixture: &mut LaneFixture, claims: usize, max: usize) -> Vec<String> {
    (0..claims).flat_map(|_| fixture.claim(0, max).tasks).map(|task| customer(&task)).collect()
}

#[test]
fn a_key_with_much_work_does_not_delay_a_key_with_little() {
    for max in [1, 3] {
        let (mut fixture, _) = fair();
        many(&mut fixture, "hog", 50);
        many(&mut fixture, "mouse", 1);
        many(&mut fixture, "mole", 2);
        let order = served(&mut fixture, 6 / max, max);
        assert_eq!(order, ["hog", "mole", "mouse", "hog", "mole", "hog"], "{max} at once");
    }
}

#[test]
fn shares_follow_the_weights() {
    let (mut fixture, _) = fair();
    fixture.configure(ConfigureLaneArgs { weights: weights(&[("gold", 5), ("silver", 2)]), ..lane() });
    for customer in ["gold", "silver", "other"] {
        many(&mut fixture, customer, 60);
    }
    let order = served(&mut fixture, 10, 8);
    let share = |name: &str| order.iter().filter(|one| *one == name).count();
    assert_eq!((share("gold"), share("silver"), share("other")), (50, 20, 10));
}

#[test]
fn priority_and_age_decide_within_a_key_and_not_between_keys() {
    let (mut fixture, _) = fair();
    many(&mut fixture, "a", 1);
    let urgent = submit(&mut fixture, "a", |work| work.priority = Priority::new(9).unwrap());
    let patient = submit(&mut fixture, "b", |_| {});
    let taken: Vec<_> = fixture.claim(0, 2).tasks.iter().map(|task| task.execution_id).collect();
    assert_eq!(taken, [urgent, patient]);
}

#[test]
fn a_key_gains_nothing_by_running_dry() {
    let (mut fixture, _) = fair();
    many(&mut fixture, "steady", 9);
    many(&mut fixture, "trickle", 1);
    let mut order = Vec::new();
    for _ in 0..8 {
        let task = fixture.claim(0, 1).tasks.remove(0);
        if customer(&task) == "trickle" {
            many(&mut fixture, "trickle", 1);
        }
        order.push(customer(&task));
    }
    let share = order.iter().filter(|one| *one == "trickle").count();
    assert_eq!(share, 4, "{order:?}");
}

#[test]
fn a_key_that_comes_late_begins_where_the_others_are() {
    let (mut fixture, _) = fair();
    many(&mut fixture, "early", 20);
    served(&mut fixture, 1, 10);
    many(&mut fixture, "late", 20);
    let order = served(&mut fixture, 1, 10);
    assert_eq!(order.iter().filter(|one| *one == "late").count(), 5, "{order:?}");
}

#[test]
fn a_worker_sees_only_the_keys_it_can_serve_and_what_it_takes_counts_for_all_kinds() {
    let (mut fixture, _) = fair();
    let kind = Kind::parse("other").unwrap();
    for customer in ["a", "a", "b"] {
        let kind = kind.clone();
        submit(&mut fixture, customer, |work| work.kind = kind);
        many(&mut fixture, customer, 2);
    }
    let mut claim = |kinds: &[&str], max| {
        let kinds = kinds.iter().map(|kind| Kind::parse(kind).unwrap()).collect();
        let args = ClaimArgs { kinds, max, ..ClaimArgs::new(0, Holder::parse("w", "w-1").unwrap()) };
        fixture.ask(args).unwrap().tasks.iter().map(customer).collect::<Vec<_>>()
    };
    assert_eq!(claim(&["other"], 9), ["a", "b", "a"]);
    assert_eq!(claim(&["resize", "other"], 1), ["b"], "a has had two turns, and b one");
    assert_eq!(claim(&["resize"], 2), ["a", "b"]);
    assert_eq!(claim(&["none"], 9), <[String; 0]>::default());
}

#[test]
fn work_without_the_tag_takes_turns_as_one_queue() {
    let (mut fixture, _) = fair();
    many(&mut fixture, "", 3);
    many(&mut fixture, "a", 3);
    assert_eq!(served(&mut fixture, 1, 6), ["", "a", "", "a", "", "a"]);
}

#[test]
fn work_keeps_its_key_when_its_lane_is_fair_by_another_or_by_none() {
    let mut fixture = LaneFixture::new();
    many(&mut fixture, "a", 3);
    let known = fixture.configure(by_customer());
    assert!(known.keyed);
    many(&mut fixture, "b", 3);
    assert_eq!(served(&mut fixture, 1, 2), ["a", "b"], "what waited before is one queue");
    let known = fixture.configure(ConfigureLaneArgs { fair_by: Setting::Default, ..lane() });
    assert!(known.keyed && known.settings.fair_by.is_none());
    many(&mut fixture, "c", 2);
    let mut rest = served(&mut fixture, 6, 1);
    rest.sort_unstable();
    assert_eq!(rest, ["a", "a", "b", "b", "c", "c"], "nothing is lost");
}

#[test]
fn a_key_is_forgotten_once_its_turn_has_passed() {
    let (mut fixture, _) = fair();
    let id = submit(&mut fixture, "gone", |_| {});
    many(&mut fixture, "a", 5);
    fixture.ask(CancelArgs { execution_id: id, reason: None, requested_by: None }).unwrap();
    let known =
        |fixture: &LaneFixture| fixture.model.snapshot(0).turns.into_keys().map(|(_, key)| key).collect::<Vec<_>>();
    assert_eq!(known(&fixture), [key("a")], "it was not served, so there is nothing to remember");
    many(&mut fixture, "once", 1);
    served(&mut fixture, 2, 1);
    assert_eq!(
        known(&fixture),
        [key(""), key("a"), key("once")],
        "it has been served, and begins no earlier than the others"
    );
    served(&mut fixture, 2, 1);
    assert_eq!(known(&fixture), [key(""), key("a")]);
}

#[test]
fn a_limit_and_turns_go_together() {
    let (mut fixture, _) = fair();
    fixture.limit(3);
    many(&mut fixture, "hog", 9);
    many(&mut fixture, "mouse", 1);
    assert!(fixture.claim(0, 3).limited);
    let grant = fixture.granted(0, 3).unwrap();
    let taken = fixture.claim_with(0, grant).decision.tasks;
    assert_eq!(taken.iter().map(customer).collect::<Vec<_>>(), ["hog", "mouse", "hog"]);
}

#[test]
fn weights_are_refused_that_mean_nothing() {
    let (mut fixture, _) = fair();
    let mut refused = |args: ConfigureLaneArgs| -> Refusal { fixture.ask(args).unwrap_err() };
    let zero = refused(ConfigureLaneArgs { weights: weights(&[("a", 0)]), ..lane() });
    assert_eq!((zero.field.as_deref(), zero.limit), (Some("weights.a"), Some((1, 0))));
    let most = refused(ConfigureLaneArgs { weights: weights(&[("a", 1_001)]), ..lane() });
    assert_eq!(most.limit, Some((1_000, 1_001)));
    let none = ConfigureLaneArgs { fair_by: Setting::Default, weights: weights(&[("a", 2)]), ..lane() };
    assert_eq!((refused(none).field.as_deref(), zero.code), (Some("weights"), Code::LimitExceeded));
    let names: Vec<_> = (0..257).map(|nth| nth.to_string()).collect();
    let some: Vec<_> = names.iter().map(|name| (name.as_str(), 2)).collect();
    assert_eq!(refused(ConfigureLaneArgs { weights: weights(&some), ..lane() }).limit, Some((256, 257)));
    fixture.configure(ConfigureLaneArgs { weights: weights(&some[..256]), ..lane() });
    let more = ConfigureLaneArgs { weights: weights(&some[256..]), ..lane() };
    assert_eq!(fixture.ask(more).unwrap_err().limit, Some((256, 257)));
    let by_kind = ConfigureLaneArgs { fair_by: Setting::To("kind".parse().unwrap()), ..lane() };
    assert_eq!(fixture.configure(by_kind).settings.weights.len(), 0, "they were those of customers");
}

#[test]
fn turns_that_do_not_follow_from_what_waits_are_found() {
    let (mut fixture, _) = fair();
    many(&mut fixture, "a", 1);
    let healthy = fixture.model.snapshot(0);
    let name = (lane().lane, key("a"));
    let found = |damage: &dyn Fn(&mut crate::backend::snapshot::Snapshot)| violated(examine, &healthy, damage);
    assert_eq!(found(&|snapshot| drop(snapshot.turns.remove(&name))), ["I8", "I8", "I8"]);
    assert_eq!(found(&|snapshot| drop(snapshot.turn_queues.pop_first())), ["I8"]);
    assert_eq!(found(&|snapshot| snapshot.executions.clear()), ["I8"]);
    assert_eq!(found(&|snapshot| snapshot.lanes.clear()), ["I9"]);
}

#[test]
fn a_turn_is_read_as_it_was_written() {
    let (mut fixture, _) = fair();
    many(&mut fixture, "a", 2);
    for turn in fixture.model.snapshot(0).turns.into_values() {
        let text = serde_json::to_string(&turn).unwrap();
        assert_eq!(serde_json::from_str::<Turn>(&text).unwrap(), turn, "{text}");
    }
}
