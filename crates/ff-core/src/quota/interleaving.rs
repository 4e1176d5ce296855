//! Invariant I14 under random interleavings: concurrent claims of several callers, each aborted at any point, and
//! leases that end with or without a hint.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::contracts::*;
use super::fixture::{QuotaFixture, freed};
use super::{QuotaPolicy, Rate};
use crate::execution::Phase;
use crate::execution::contracts::SubmitArgs;
use crate::lease::Holder;
use crate::lease::contracts::{AdmissionRequest, ClaimArgs, Task};
use crate::limits;
use crate::payload::Payload;
use crate::rule::samples::at;
use crate::types::{ClaimId, ExecutionId, Kind, LeaseEpoch, TimestampMs};

/// Returns a policy with waiting work of one customer.
fn work_under(
    name: &str,
    rate: Option<Rate>,
    max_concurrent: Option<u32>,
    count: usize,
) -> (QuotaFixture, QuotaPolicy) {
    let mut fixture = QuotaFixture::new();
    let policy = fixture.put(name, rate, max_concurrent);
    (0..count).for_each(|_| fixture.submit(1));
    (fixture, policy)
}

/// Returns the release of the first slot of a request.
fn release_of(request: &AdmissionRequest, is_unused: bool, guard: ReleaseGuard) -> AdmissionRelease {
    let AdmissionRequest { execution_id, epoch, slots } = request;
    AdmissionRelease { key: slots[0].key.clone(), execution_id: *execution_id, epoch: *epoch, is_unused, guard }
}

#[test]
fn a_slot_goes_to_the_first_that_waits_for_it() {
    let (mut fixture, policy) = work_under("two", None, Some(2), 8);
    let (first, verdicts) = fixture.claim_whole(&policy, 0, 24);
    let refused: Vec<_> = verdicts.verdicts.iter().filter(|verdict| **verdict != AdmissionVerdict::Admitted).collect();
    assert_eq!(first.len(), 2);
    assert!(
        refused.iter().all(
            |verdict| **verdict == AdmissionVerdict::Refused { used: 2, limit: 2, retry_at: None, dimension: None }
        )
    );
    fixture.complete(&first[0]);
    let releases = freed(&mut fixture.hints, &policy);
    let settled = fixture.settle(&policy, releases.clone());
    assert_eq!((settled.released, settled.woken.len()), (1, 1));
    assert_eq!(fixture.settle(&policy, releases), AdmissionsSettled::default(), "it is given back once");
    let (next, _) = fixture.claim_whole(&policy, 0, 24);
    assert_eq!(next.iter().map(|task| task.execution_id).collect::<Vec<_>>(), [settled.woken[0].execution_id]);
}

#[test]
fn an_admission_that_is_repeated_counts_once() {
    let (mut fixture, policy) = work_under("rate", Some(Rate { limit: 2, window_ms: 1_000 }), Some(5), 2);
    let mut requests = fixture.claim(0, 24);
    requests.extend(fixture.claim(1, 24));
    let first = fixture.admit(&policy, &requests);
    assert_eq!(fixture.admit(&policy, &requests), first);
    let keys = QuotaKeysArgs { policy_id: policy.id, after: None, limit: 9 };
    let used = fixture.model.quota_keys(&keys).keys;
    assert_eq!(used, [KeyUse { key: "c1".into(), in_window: 2, held: 2, waiting: 0 }]);
}

#[test]
fn a_window_that_is_full_says_when_it_has_room_to_each_in_turn() {
    let (mut fixture, policy) = work_under("rate", Some(Rate { limit: 2, window_ms: 1_000 }), None, 20);
    let (first, _) = fixture.claim_whole(&policy, 0, 1);
    fixture.now = fixture.now + 300;
    let (second, _) = fixture.claim_whole(&policy, 0, 1);
    assert_eq!((first.len(), second.len()), (1, 1));
    fixture.now = fixture.now + 100;
    let (_, verdicts) = fixture.claim_whole(&policy, 0, 3);
    let retry_at = verdicts.verdicts.iter().map(|verdict| match verdict {
        AdmissionVerdict::Refused { used: 2, limit: 2, retry_at: Some(retry_at), .. } => retry_at.since(at(0)),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        retry_at.collect::<Vec<_>>(),
        [1_000, 1_300, 2_000],
        "one admission leaves the window, then the other, then what took its place"
    );
    fixture.now = at(1_000);
    assert_eq!(fixture.claim_whole(&policy, 0, 1).0.len(), 1);
    assert_eq!(fixture.claim_whole(&policy, 0, 1).0.len(), 0);
}

#[test]
fn an_unused_admission_does_not_count_in_the_window() {
    let (mut fixture, policy) = work_under("rate", Some(Rate { limit: 1, window_ms: 1_000 }), None, 4);
    let requests = fixture.claim(0, 1);
    fixture.admit(&policy, &requests);
    let release = release_of(&requests[0], true, ReleaseGuard::Any);
    assert_eq!(fixture.settle(&policy, vec![release]).released, 1);
    assert_eq!(fixture.claim_whole(&policy, 0, 1).0.len(), 1);
}

#[test]
fn a_slot_that_was_reserved_anew_is_not_given_back_for_what_it_was_before() {
    let (mut fixture, policy) = work_under("one", None, Some(1), 4);
    let requests = fixture.claim(0, 1);
    let (first, second) = (ClaimId::new(), ClaimId::new());
    let before = fixture.admit_for(Some(first), &policy, &requests);
    assert_eq!(fixture.admit_for(Some(second), &policy, &requests).verdicts, [AdmissionVerdict::ReservedForOther]);
    fixture.now = fixture.now + limits::QUOTA_RESERVED_MS;
    assert_eq!(fixture.admit_for(Some(second), &policy, &requests).verdicts, [AdmissionVerdict::Admitted]);
    for guard in [ReleaseGuard::Claim(first), ReleaseGuard::Since(before.at)] {
        let release = release_of(&requests[0], true, guard);
        assert_eq!(fixture.settle(&policy, vec![release]).released, 0, "{guard:?}");
    }
}

/// A claim counts from the time when it is made, not from the time when room was reserved for an earlier claim.
#[test]
fn a_reservation_that_is_used_late_counts_when_it_is_used() {
    let (mut fixture, policy) = work_under("rate", Some(Rate { limit: 1, window_ms: 1_000 }), None, 4);
    let requests = fixture.claim(0, 2);
    fixture.admit_for(Some(ClaimId::new()), &policy, &requests[..1]);
    fixture.now = fixture.now + limits::QUOTA_RESERVED_MS;
    assert_eq!(fixture.admit(&policy, &requests[1..]).verdicts, [AdmissionVerdict::Admitted]);
    let full = AdmissionVerdict::Refused { used: 1, limit: 1, retry_at: Some(fixture.now + 1_000), dimension: None };
    let late = Some(ClaimId::new());
    assert_eq!(fixture.admit_for(late, &policy, &requests[..1]).verdicts, [full]);
    fixture.now = fixture.now + 1_000;
    assert_eq!(fixture.admit_for(late, &policy, &requests[..1]).verdicts, [AdmissionVerdict::Admitted]);
}

#[test]
fn a_turn_that_is_used_late_counts_when_it_is_used() {
    let (mut fixture, policy) = work_under("both", Some(Rate { limit: 2, window_ms: 1_000 }), Some(2), 16);
    let (first, _) = fixture.claim_whole(&policy, 0, 24);
    assert_eq!(first.len(), 2);
    fixture.now = fixture.now + 1_000;
    for task in &first {
        fixture.complete(task);
        let releases = freed(&mut fixture.hints, &policy);
        fixture.settle(&policy, releases);
    }
    // Both slots are given to waiting executions; no worker claims these executions while the window passes.
    fixture.now = fixture.now + 1_000;
    assert_eq!(fixture.claim_whole(&policy, 0, 24).0.len(), 2);
    let keys = QuotaKeysArgs { policy_id: policy.id, after: None, limit: 9 };
    let used = fixture.model.quota_keys(&keys).keys;
    assert_eq!((used[0].in_window, used[0].held), (2, 2));
}

#[test]
fn an_admission_of_another_definition_or_from_long_ago_takes_nothing() {
    let (mut fixture, policy) = work_under("two", None, Some(2), 4);
    let requests = fixture.claim(0, 1);
    let verdicts = fixture.admit(&policy, &requests);
    let wrong_epoch =
        requests.iter().map(|one| AdmissionRequest { epoch: LeaseEpoch(7), ..one.clone() }).collect::<Vec<_>>();
    assert_eq!(fixture.take(0, wrong_epoch, verdicts.at), []);
    fixture.put("two", None, Some(3));
    assert_eq!(fixture.take(0, requests.clone(), verdicts.at), [], "the policy is another");
    assert_eq!(fixture.admit(&policy, &requests).name, None);
    let requests = fixture.claim(0, 1);
    let policy = QuotaPolicy { revision: requests[0].slots[0].revision, ..policy };
    let verdicts = fixture.admit(&policy, &requests);
    fixture.now = fixture.now + limits::QUOTA_RESERVED_MS;
    assert_eq!(fixture.take(0, requests, verdicts.at), [], "the slot may be another's");
}

#[test]
fn work_no_policy_applies_to_is_taken_at_once() {
    let mut fixture = QuotaFixture::new();
    fixture.put("two", None, Some(1));
    let work = SubmitArgs::new(Kind::parse("send").unwrap(), Payload::json("1"));
    let id = fixture.ask(SubmitArgs { uuid: Uuid::from_u128(99), ..work }).unwrap().execution_id;
    let claim = ClaimArgs::new(id.partition(), Holder::parse("w", "w-1").unwrap());
    let taken = fixture.ask(claim).unwrap();
    assert_eq!((taken.tasks.len(), taken.admissions.len()), (1, 0));
}

/// A claim in progress: its listed executions, and the index of the policy to ask next.
struct ClaimUnderWay {
    partition: u16,
    claim_id: ClaimId,
    requests: Vec<AdmissionRequest>,
    next_policy: usize,
    admitted_at: TimestampMs,
}

/// The admissions of a rate under each key, as a caller observes them.
#[derive(Default)]
struct Admissions {
    /// The claim of the last admission of each execution and epoch.
    live: BTreeMap<(ExecutionId, LeaseEpoch), ClaimId>,
    admitted_at: BTreeMap<String, Vec<(ExecutionId, LeaseEpoch, TimestampMs)>>,
}

impl Admissions {
    fn add(&mut self, request: &AdmissionRequest, claim_id: ClaimId, at: TimestampMs) {
        if self.live.insert((request.execution_id, request.epoch), claim_id) != Some(claim_id) {
            let admitted_at = self.admitted_at.entry(request.slots[0].key.clone()).or_default();
            admitted_at.push((request.execution_id, request.epoch, at));
        }
    }

    fn release(&mut self, release: &AdmissionRelease) {
        let (id, epoch) = (release.execution_id, release.epoch);
        if self.live.remove(&(id, epoch)).is_some() && release.is_unused {
            let admitted_at = self.admitted_at.get_mut(&release.key).unwrap();
            let last = admitted_at.iter().rposition(|one| (one.0, one.1) == (id, epoch)).unwrap();
            admitted_at.remove(last);
        }
    }

    /// Returns the highest number of admissions under one key within any window.
    fn most_within(&self, window_ms: u64) -> usize {
        let most = |admitted_at: &Vec<(ExecutionId, LeaseEpoch, TimestampMs)>| {
            let from = |first: usize| {
                admitted_at[first..].iter().take_while(|one| one.2.since(admitted_at[first].2) < window_ms).count()
            };
            (0..admitted_at.len()).map(from).max().unwrap_or(0)
        };
        self.admitted_at.values().map(most).max().unwrap_or(0)
    }
}

const RATE: Rate = Rate { limit: 3, window_ms: 500 };
const MOST: u32 = 2;

#[test]
fn no_window_and_no_slot_count_is_exceeded_however_claims_interleave_and_break_off() {
    for seed in 1..60 {
        interleave(seed);
    }
}

fn interleave(seed: u64) {
    let mut fixture = QuotaFixture::new();
    let policies = [fixture.put("a-rate", Some(RATE), None), fixture.put("b-slots", None, Some(MOST))];
    let state = std::cell::Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let roll = |below: u64| {
        state.set(state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        (state.get() >> 33) % below
    };
    let (mut claims, mut held, mut admissions) = (Vec::new(), Vec::<Task>::new(), Admissions::default());
    for _ in 0..400 {
        match roll(8) {
            0 => fixture.submit(roll(3)),
            1 => {
                let partition = u16::try_from(roll(2)).unwrap();
                let requests = fixture.claim(partition, 1 + usize::try_from(roll(4)).unwrap());
                let claim_id = ClaimId::new();
                claims.push(ClaimUnderWay { partition, claim_id, requests, next_policy: 0, admitted_at: fixture.now });
            }
            2..=4 if !claims.is_empty() => {
                let claim = claims.swap_remove(usize::try_from(roll(claims.len() as u64)).unwrap());
                // A caller that dies makes no further call.
                if roll(6) > 0 {
                    match step(&mut fixture, &policies, claim, &mut admissions) {
                        Ok(tasks) => held.extend(tasks),
                        Err(claim) => claims.push(claim),
                    }
                }
            }
            5 if !held.is_empty() => {
                let task = held.swap_remove(usize::try_from(roll(held.len() as u64)).unwrap());
                fixture.hints.clear();
                fixture.complete(&task);
                let hints = std::mem::take(&mut fixture.hints);
                // The hint may be lost.
                for policy in policies.iter().filter(|_| roll(3) > 0) {
                    let releases = freed(&mut hints.clone(), policy);
                    if policy.rate.is_some() {
                        releases.iter().for_each(|release| admissions.release(release));
                    }
                    fixture.settle(policy, releases);
                }
            }
            // Sometimes all reservations expire.
            7 if roll(8) == 0 => fixture.now = fixture.now + limits::QUOTA_RESERVED_MS,
            6 => reconcile(&mut fixture, &policies, &mut admissions),
            _ => fixture.now = fixture.now + roll(120),
        }
        for (customer, running) in fixture.running() {
            assert!(running <= MOST as usize, "seed {seed}: {running} of {customer} run");
        }
        let most = admissions.most_within(RATE.window_ms);
        assert!(most <= usize::try_from(RATE.limit).unwrap(), "seed {seed}: {most} within a window");
    }
    held.iter().for_each(|task| fixture.complete(task));
    for _ in 0..40 {
        fixture.now = fixture.now + 2 * limits::QUOTA_RESERVED_MS;
        reconcile(&mut fixture, &policies, &mut admissions);
    }
    for policy in &policies {
        let all = QuotaSlotsArgs { policy_id: policy.id, after: None, limit: 99 };
        assert_eq!(fixture.model.quota_slots(&all).slots, [], "seed {seed}: nothing leaks");
    }
}

/// Continues a claim: asks the next policy, or takes the executions that all policies have admitted.
fn step(
    fixture: &mut QuotaFixture,
    policies: &[QuotaPolicy; 2],
    mut claim: ClaimUnderWay,
    admissions: &mut Admissions,
) -> Result<Vec<Task>, ClaimUnderWay> {
    let unused = |one: &AdmissionRequest| release_of(one, true, ReleaseGuard::Claim(claim.claim_id));
    let Some(policy) = policies.get(claim.next_policy) else {
        let answer = fixture.claim_admitted(claim.partition, claim.requests.clone(), claim.admitted_at);
        let is_in_use = |one: &&AdmissionRequest| {
            answer.running.contains(&one.execution_id)
                || answer.decision.tasks.iter().any(|task| task.execution_id == one.execution_id)
        };
        let releases: Vec<_> = claim.requests.iter().filter(|one| !is_in_use(one)).map(unused).collect();
        for policy in policies {
            let before = held(fixture, policy);
            fixture.settle(policy, releases.clone());
            note_releases(admissions, policy, &before, &held(fixture, policy));
        }
        return Ok(answer.decision.tasks);
    };
    let verdicts = fixture.admit_for(Some(claim.claim_id), policy, &claim.requests);
    let (mut admitted, mut refused) = (Vec::new(), Vec::new());
    for (request, verdict) in claim.requests.drain(..).zip(&verdicts.verdicts) {
        if *verdict == AdmissionVerdict::Admitted { admitted.push(request) } else { refused.push(request) }
    }
    if claim.next_policy == 0 {
        claim.admitted_at = verdicts.at;
        admitted.iter().for_each(|request| admissions.add(request, claim.claim_id, verdicts.at));
    } else {
        let before = held(fixture, &policies[0]);
        fixture.settle(&policies[0], refused.iter().map(unused).collect());
        note_releases(admissions, &policies[0], &before, &held(fixture, &policies[0]));
    }
    Err(ClaimUnderWay { requests: admitted, next_policy: claim.next_policy + 1, ..claim })
}

/// Returns the held slots of a policy.
fn held(fixture: &QuotaFixture, policy: &QuotaPolicy) -> Vec<HeldSlot> {
    fixture.model.quota_slots(&QuotaSlotsArgs { policy_id: policy.id, after: None, limit: 999 }).slots
}

/// Records the unused admissions of a rate that were released.
fn note_releases(admissions: &mut Admissions, policy: &QuotaPolicy, before: &[HeldSlot], after: &[HeldSlot]) {
    for HeldSlot { key, execution_id, epoch, .. } in before.iter().filter(|slot| !after.contains(slot)) {
        if policy.rate.is_some() {
            let (key, execution_id, epoch, guard) = (key.clone(), *execution_id, *epoch, ReleaseGuard::Any);
            admissions.release(&AdmissionRelease { key, execution_id, epoch, is_unused: true, guard });
        }
    }
}

/// Releases the slots of executions that do not run under the epoch of their slot.
fn reconcile(fixture: &mut QuotaFixture, policies: &[QuotaPolicy], admissions: &mut Admissions) {
    for policy in policies {
        let page = fixture.model.quota_slots(&QuotaSlotsArgs { policy_id: policy.id, after: None, limit: 99 });
        let is_stale = |slot: &HeldSlot| {
            let runs = fixture.model.find(&slot.execution_id).is_some_and(|execution| {
                matches!(&execution.phase, Phase::Running { lease } if lease.fence.lease_epoch == slot.epoch)
            });
            slot.at + 2 * limits::QUOTA_RESERVED_MS <= fixture.now && !runs
        };
        let stale = page.slots.into_iter().filter(is_stale).map(|HeldSlot { key, execution_id, epoch, at }| {
            AdmissionRelease { key, execution_id, epoch, is_unused: false, guard: ReleaseGuard::Since(at) }
        });
        let releases: Vec<_> = stale.collect();
        if policy.rate.is_some() {
            releases.iter().for_each(|release| admissions.release(release));
        }
        fixture.settle(policy, releases);
    }
}
