//! Quotas over several partitions. Policies are decided at the home of their namespace and copied to every partition. A claim asks
//! the home of each policy that applies before it takes executions, and gives back unused slots.

mod definition;

use std::collections::{BTreeMap, BTreeSet};

use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{
    AdmissionRelease, AdmissionRequest, AdmissionVerdict, AdmitArgs, AdmittedClaimArgs, AdmittedClaims, AllotArgs,
    BlockArgs, BlockTarget, ClaimArgs, Claims, CopyQuotasArgs, Head, ReleaseGuard, SettleAdmissionsArgs,
    SettleLaneArgs, SlotRequest, UnblockArgs, WokenExecution,
};
use ff_core::execution::{BlockDetail, Blocker};
use ff_core::fairness::step_of;
use ff_core::limits;
use ff_core::quota::QuotaSlot;
use ff_core::types::{ClaimId, ExecutionId, LeaseEpoch, Namespace, QuotaPolicyId, TimestampMs};
use futures_util::future::join;
use futures_util::{StreamExt, TryStreamExt, stream};

use self::definition::define;
use super::lane::seek_grant;
use super::{AT_ONCE, if_there};

pub(super) use definition::{copy_everywhere, define_budget, describe, look_after_keys, put, put_policy, wake_blocked};

/// The outcome for listed executions that were not claimed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuotaProgress {
    /// Number of executions blocked, and so out of the queues.
    pub(super) blocked: usize,
    /// Whether some are still ready: a missing definition has been repaired, or an admission was not used.
    pub(super) left_ready: bool,
}

/// Claims the listed executions that every policy admits, and blocks the rest.
pub(super) async fn claim_listed<S: EngineStore + ?Sized>(
    store: &S,
    args: ClaimArgs,
    mut claims: Claims,
    is_limited: bool,
) -> Answer<(Claims, QuotaProgress)> {
    let mut admissions = Admissions::of(ClaimId::new());
    let listed = std::mem::take(&mut claims.admissions);
    let answer = admissions.ask_all(store, &args.namespace, args.partition, listed).await;
    if let Err(error) = answer {
        // While a home does not answer, nothing is claimed and nothing is blocked.
        admissions.give_back(store, |_| true).await;
        return Err(error);
    }
    let blocks = block(store, args.partition, std::mem::take(&mut admissions.refused));
    let (taken, blocked) = join(take(store, args, &admissions, is_limited), blocks).await;
    let taken = taken?;
    let AdmittedClaims { claims: taken, running, .. } = taken;
    let in_use = taken.claimed.iter().map(|claimed| claimed.task.execution_id).chain(running);
    let in_use: BTreeSet<_> = in_use.collect();
    let left_ready = admissions.was_healed || admissions.admitted.iter().any(|one| !in_use.contains(&one.execution_id));
    admissions.give_back(store, |id| !in_use.contains(id)).await;
    claims.claimed.extend(taken.claimed);
    // More executions may have arrived since the list was made.
    let last = claims.claimed.last().map(|claimed| Head::new(claimed.task.priority, claimed.task.created_at));
    let next = claims.next.into_iter().chain(taken.next).min();
    // Admitted executions have used turns too, at most one per claimed execution.
    let used = step_of(1) * claims.claimed.len() as u64;
    claims.next = next.map(|next| if next.is_fair() { Head::fair(used) } else { next }).or(last);
    claims.limited |= taken.limited;
    let progress = QuotaProgress { blocked, left_ready: left_ready && !claims.limited };
    Ok((claims, progress))
}

/// Claims the admitted executions, with a grant where the lane has a limit.
async fn take<S: EngineStore + ?Sized>(
    store: &S,
    claim: ClaimArgs,
    admissions: &Admissions,
    is_limited: bool,
) -> Answer<AdmittedClaims> {
    let nothing = |limited| {
        let claims = Claims { limited, ..Claims::default() };
        Ok(AdmittedClaims { claims, count: None, running: Vec::new() })
    };
    if admissions.admitted.is_empty() {
        return nothing(false);
    }
    let (namespace, lane) = (claim.namespace.clone(), claim.lane.clone());
    let mut grant = None;
    if is_limited {
        let want = ClaimArgs { max: admissions.admitted.len(), ..claim.clone() };
        grant = seek_grant(store, &AllotArgs::of(&want)).await?;
        if grant.is_none() {
            return nothing(true);
        }
    }
    let admitted_at = admissions.since.unwrap_or_default();
    let args = AdmittedClaimArgs { claim, admitted: admissions.admitted.clone(), admitted_at, grant };
    let taken = store.claim_admitted(args).await?;
    if let Some(count) = taken.count
        && let Err(error) = store.settle_lane(SettleLaneArgs { namespace, lane, counts: vec![count] }).await
    {
        tracing::warn!(%error, "the claims could not be reported to the home partition of the lane");
    }
    Ok(taken)
}

/// The verdicts of the policies on the executions of one claim.
struct Admissions {
    claim_id: ClaimId,
    /// Executions admitted by every policy so far.
    admitted: Vec<AdmissionRequest>,
    refused: Vec<RefusedExecution>,
    /// Earliest time at which a policy was asked.
    since: Option<TimestampMs>,
    /// Slots reserved for the claim.
    reserved: Vec<(QuotaPolicyId, AdmissionRelease)>,
    was_healed: bool,
}

impl Admissions {
    fn of(claim_id: ClaimId) -> Self {
        let (admitted, refused, reserved) = (Vec::new(), Vec::new(), Vec::new());
        Self { claim_id, admitted, refused, since: None, reserved, was_healed: false }
    }

    /// Asks every policy in turn about the executions that no policy has refused yet.
    async fn ask_all<S: EngineStore + ?Sized>(
        &mut self,
        store: &S,
        namespace: &Namespace,
        partition: u16,
        listed: Vec<AdmissionRequest>,
    ) -> Answer<()> {
        let slots = listed.iter().flat_map(|request| &request.slots);
        let policies: BTreeSet<_> = slots.map(|slot| (slot.policy_id, slot.revision)).collect();
        self.admitted = listed;
        for (policy_id, revision) in policies {
            let slot_of =
                |request: &AdmissionRequest| request.slots.iter().find(|slot| slot.policy_id == policy_id).cloned();
            let mut with_policy = Vec::new();
            self.admitted.retain(|request| match slot_of(request) {
                Some(slot) => {
                    with_policy.push((request.clone(), slot));
                    false
                }
                None => true,
            });
            if with_policy.is_empty() {
                continue;
            }
            let requests = with_policy.iter().map(|(request, slot)| SlotRequest {
                key: slot.key.clone(),
                execution_id: request.execution_id,
                epoch: request.epoch,
            });
            let args = AdmitArgs { policy_id, revision, claim_id: Some(self.claim_id), requests: requests.collect() };
            let answer = store.admit(args).await?;
            self.since = Some(self.since.map_or(answer.at, |since| since.min(answer.at)));
            match answer.name {
                Some(name) => self.note(policy_id, &name, with_policy, answer.verdicts),
                // The home has another definition than the partition: one of them missed a change.
                None => {
                    heal(store, namespace, partition, &policy_id).await?;
                    self.was_healed = true;
                }
            }
        }
        Ok(())
    }

    fn note(
        &mut self,
        policy_id: QuotaPolicyId,
        name: &str,
        requests: Vec<(AdmissionRequest, QuotaSlot)>,
        verdicts: Vec<AdmissionVerdict>,
    ) {
        for ((request, slot), verdict) in requests.into_iter().zip(verdicts) {
            match verdict {
                AdmissionVerdict::Admitted => {
                    let (execution_id, epoch) = (request.execution_id, request.epoch);
                    let guard = ReleaseGuard::Claim(self.claim_id);
                    let release = AdmissionRelease { key: slot.key, execution_id, epoch, is_unused: true, guard };
                    self.reserved.push((policy_id, release));
                    self.admitted.push(request);
                }
                AdmissionVerdict::ReservedForOther => {}
                AdmissionVerdict::Refused { used, limit, retry_at, dimension } => {
                    let QuotaSlot { key, revision, .. } = slot;
                    let (name, execution_id) = (name.to_owned(), request.execution_id);
                    let admission = SlotRequest { key: key.clone(), execution_id, epoch: request.epoch };
                    let detail = match dimension {
                        Some(dimension) => BlockDetail::Budget { name, dimension: dimension.to_string(), retry_at },
                        None => BlockDetail::Quota { policy_id, name, key, used, limit, retry_at },
                    };
                    self.refused.push(RefusedExecution { policy_id, revision, request: admission, detail });
                }
            }
        }
    }

    /// Gives back the slots reserved for some of the executions.
    async fn give_back<S: EngineStore + ?Sized>(&self, store: &S, is_unused: impl Fn(&ExecutionId) -> bool) {
        let mut releases = BTreeMap::<_, Vec<_>>::new();
        for (policy_id, release) in self.reserved.iter().filter(|(_, release)| is_unused(&release.execution_id)) {
            releases.entry(*policy_id).or_default().push(release.clone());
        }
        for (policy_id, releases) in releases {
            // The quota keeper finds a slot that is not given back here.
            if let Err(error) = settle(store, SettleAdmissionsArgs { policy_id, releases, keys: Vec::new() }).await {
                tracing::warn!(%error, %policy_id, "an unused slot could not be released");
            }
        }
    }
}

/// Brings the home of a policy and a partition up to date with the home of the namespace.
async fn heal<S: EngineStore + ?Sized>(
    store: &S,
    namespace: &Namespace,
    partition: u16,
    policy_id: &QuotaPolicyId,
) -> Answer<()> {
    let set = store.quota_set(namespace).await?;
    match policy_id.budget() {
        Some(budget_id) => define_budget(store, &set, budget_id).await?,
        None => define(store, &set, policy_id).await?,
    }
    store.copy_quotas(CopyQuotasArgs { partition, set }).await.map(drop)
}

/// Blocks refused executions, and returns the number blocked. The others stay ready and ask again. The turn of an execution that
/// waits for a slot may have come before it was blocked, so the policy is asked once more.
async fn block<S: EngineStore + ?Sized>(store: &S, partition: u16, refused: Vec<RefusedExecution>) -> usize {
    let target = |one: &RefusedExecution| BlockTarget {
        execution_id: one.request.execution_id,
        lease_epoch: LeaseEpoch(one.request.epoch.0.saturating_sub(1)),
        detail: one.detail.clone(),
    };
    let targets: Vec<_> = refused.iter().map(target).collect();
    let mut blocked = 0;
    for executions in targets.chunks(limits::BLOCK) {
        match store.block(BlockArgs { partition, executions: executions.to_vec() }).await {
            Ok(count) => blocked += count.blocked,
            Err(error) => tracing::warn!(%error, partition, "executions that a quota refused could not be blocked"),
        }
    }
    let mut in_line = BTreeMap::<_, Vec<_>>::new();
    // An execution that a budget refused waits in line as well as for the next period.
    let is_in_line = |one: &RefusedExecution| one.policy_id.budget().is_some() || one.detail.retry_at().is_none();
    for one in refused.into_iter().filter(is_in_line) {
        in_line.entry((one.policy_id, one.revision)).or_default().push(one.request);
    }
    for ((policy_id, revision), requests) in in_line {
        if let Err(error) = ask_once_more(store, AdmitArgs { policy_id, revision, claim_id: None, requests }).await {
            tracing::warn!(%error, partition, "a quota could not be checked for free slots");
        }
    }
    blocked
}

async fn ask_once_more<S: EngineStore + ?Sized>(store: &S, args: AdmitArgs) -> Answer<()> {
    let (ids, from) = (args.requests.iter().map(|one| one.execution_id).collect::<Vec<_>>(), blocker(&args.policy_id));
    let answer = store.admit(args).await?;
    // An execution no longer in line must ask again: its turn came while the window had no room, or the policy has changed.
    let waits = |nth| match answer.verdicts.get(nth) {
        Some(AdmissionVerdict::Refused { retry_at, dimension, .. }) => retry_at.is_none() || dimension.is_some(),
        _ => false,
    };
    let ready = ids.into_iter().enumerate().filter(|(nth, _)| !waits(*nth)).map(|(_, id)| id);
    unblock(store, from, ready).await.map(drop)
}

/// An execution that a policy has refused.
struct RefusedExecution {
    policy_id: QuotaPolicyId,
    revision: u64,
    request: SlotRequest,
    detail: BlockDetail,
}

/// The result of settling.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuotaSettlement {
    /// Number of slots given back.
    pub released: u32,
    /// Number of executions whose turn has come.
    pub woken: usize,
}

/// Gives back slots, and makes executions ready whose turn has come. An execution that has ended passes its turn to the next.
pub(super) async fn settle<S: EngineStore + ?Sized>(store: &S, args: SettleAdmissionsArgs) -> Answer<QuotaSettlement> {
    let policy_id = args.policy_id;
    let first = store.settle_admissions(args).await?;
    let mut settled = QuotaSettlement { released: first.released, woken: first.woken.len() };
    let mut woken = first.woken;
    while !woken.is_empty() {
        let over = wake(store, blocker(&policy_id), woken).await?;
        if over.is_empty() {
            break;
        }
        // It may have run between its turn and its end, so its admission counts.
        let releases = over.into_iter().map(|WokenExecution { key, execution_id, epoch }| AdmissionRelease {
            key,
            execution_id,
            epoch,
            is_unused: false,
            guard: ReleaseGuard::Any,
        });
        let args = SettleAdmissionsArgs { policy_id, releases: releases.collect(), keys: Vec::new() };
        woken = store.settle_admissions(args).await?.woken;
        settled.woken += woken.len();
    }
    Ok(settled)
}

/// Makes executions ready. Returns those that have ended.
async fn wake<S: EngineStore + ?Sized>(
    store: &S,
    from: Blocker,
    woken: Vec<WokenExecution>,
) -> Answer<Vec<WokenExecution>> {
    let mut over = Vec::new();
    if unblock(store, from, woken.iter().map(|one| one.execution_id)).await? == woken.len() {
        return Ok(over);
    }
    for one in woken {
        let info = if_there(store.describe(&one.execution_id).await)?;
        // A live one is already ready, or the refused claim is about to block it and asks once more after that.
        if info.is_none_or(|info| info.public_state.is_terminal()) {
            over.push(one);
        }
    }
    Ok(over)
}

/// Returns the blocker of the executions that a policy blocks.
fn blocker(policy_id: &QuotaPolicyId) -> Blocker {
    if policy_id.budget().is_some() { Blocker::Budget } else { Blocker::Quota }
}

/// Makes executions ready that a quota or a budget blocks. Returns their number.
pub(super) async fn unblock<S: EngineStore + ?Sized>(
    store: &S,
    from: Blocker,
    ids: impl IntoIterator<Item = ExecutionId>,
) -> Answer<usize> {
    let mut by_partition = BTreeMap::<u16, Vec<_>>::new();
    ids.into_iter().for_each(|id| by_partition.entry(id.partition()).or_default().push(id));
    let calls = by_partition.into_iter().flat_map(|(partition, ids)| {
        let chunks: Vec<_> = ids.chunks(limits::BLOCK).map(<[_]>::to_vec).collect();
        chunks.into_iter().map(move |executions| UnblockArgs { partition, executions, from })
    });
    let answers = stream::iter(calls).map(|args| store.unblock(args)).buffer_unordered(AT_ONCE);
    answers.try_fold(0, |sum, count| async move { Ok(sum + count.count()) }).await
}
