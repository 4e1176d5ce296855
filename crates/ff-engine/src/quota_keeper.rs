//! Gives back quota slots when leases end, and compares slots with leases at intervals: hints may be lost, and a process may die
//! between a reservation and its claim.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ff_core::backend::hint::Hint;
use ff_core::backend::{Answer, EngineStore};
use ff_core::budget::Budget;
use ff_core::contracts::{
    AdmissionRelease, Cursor, ExecutionInfo, Filter, Head, HeldSlot, ListArgs, QuotaKeysArgs, QuotaSlotsArgs,
    ReadBudgetLedger, ReleaseGuard, SettleAdmissionsArgs, UsageBacklogArgs,
};
use ff_core::execution::{BlockDetail, Blocker};
use ff_core::limits;
use ff_core::partition::quota_home;
use ff_core::quota::{QuotaPolicy, QuotaSlot};
use ff_core::state::PublicState;
use ff_core::types::{ExecutionId, LeaseEpoch, Namespace, QuotaPolicyId, TimestampMs};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::orchestration::{Orchestration, QuotaSettlement, if_there};
use crate::sweep::finished;

/// Maximum number of pages of slots, and of keys, that one turn reads for a policy. The next turn continues there.
const PAGES: usize = 4;

/// Minimum time between two turns.
const TURN_MIN: Duration = Duration::from_secs(1);

/// The pump's messages to a keeper.
pub(crate) enum QuotaNews {
    Freed { execution_id: ExecutionId, epoch: LeaseEpoch, slots: Vec<QuotaSlot> },
    Defined,
}

/// The partitions an engine owns; `None` means all of them.
pub(crate) type OwnedPartitions = Option<BTreeSet<u16>>;

pub(crate) struct QuotaKeeper {
    store: Arc<dyn EngineStore>,
    news: mpsc::UnboundedReceiver<QuotaNews>,
    owned: watch::Receiver<OwnedPartitions>,
    /// Slots to give back, by policy. Slots that arrive during a call for their policy go together in the next call.
    freed: BTreeMap<QuotaPolicyId, Vec<AdmissionRelease>>,
    busy: BTreeSet<QuotaPolicyId>,
    settling: JoinSet<(QuotaPolicyId, Answer<QuotaSettlement>)>,
    /// Whether there may be a policy. A store that never had one is asked once if its hints cannot be lost.
    is_used: bool,
    reconciling: JoinSet<Reconciler>,
    reconciler: Option<Reconciler>,
}

impl QuotaKeeper {
    pub(crate) fn new(
        store: Arc<dyn EngineStore>,
        news: mpsc::UnboundedReceiver<QuotaNews>,
        owned: watch::Receiver<OwnedPartitions>,
        corrected: Arc<AtomicU64>,
    ) -> Self {
        let reconciler = Reconciler {
            store: store.clone(),
            places: HashMap::new(),
            waiting: HashMap::new(),
            corrected,
            found_any: true,
            look_again_in: None,
        };
        Self {
            store,
            news,
            owned,
            freed: BTreeMap::new(),
            busy: BTreeSet::new(),
            settling: JoinSet::new(),
            is_used: true,
            reconciling: JoinSet::new(),
            reconciler: Some(reconciler),
        }
    }

    /// Runs while it is polled and the pump runs.
    pub(crate) async fn run(mut self) {
        let mut turn = interval(Duration::from_millis(limits::QUOTA_RECONCILE_MS));
        turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.settle_freed();
            tokio::select! {
                news = self.news.recv() => match news {
                    Some(news) => self.take(news),
                    None => return,
                },
                Some((policy_id, answer)) = finished(&mut self.settling) => self.settled(policy_id, &answer),
                Some(reconciler) = finished(&mut self.reconciling) => {
                    if let Some(soon) = reconciler.look_again_in {
                        turn.reset_after(soon);
                    }
                    // Where hints can be lost, a policy may appear without a hint.
                    self.is_used &= reconciler.found_any || self.store.sweep_every().is_some();
                    self.reconciler = Some(reconciler);
                }
                _ = turn.tick() => self.reconcile(),
            }
        }
    }

    fn take(&mut self, news: QuotaNews) {
        self.is_used = true;
        let QuotaNews::Freed { execution_id, epoch, slots } = news else { return };
        for QuotaSlot { policy_id, key, .. } in slots {
            let release = AdmissionRelease { key, execution_id, epoch, is_unused: false, guard: ReleaseGuard::Any };
            self.freed.entry(policy_id).or_default().push(release);
        }
    }

    /// Starts a call for each policy that has none under way.
    fn settle_freed(&mut self) {
        let idle: Vec<_> = self.freed.keys().filter(|policy_id| !self.busy.contains(policy_id)).copied().collect();
        for policy_id in idle {
            let Some(mut releases) = self.freed.remove(&policy_id) else { continue };
            if releases.len() > limits::QUOTA_SETTLE {
                self.freed.insert(policy_id, releases.split_off(limits::QUOTA_SETTLE));
            }
            self.busy.insert(policy_id);
            let store = self.store.clone();
            let args = SettleAdmissionsArgs { policy_id, releases, keys: Vec::new() };
            self.settling.spawn(async move { (policy_id, store.settle_quota(args).await) });
        }
    }

    fn settled(&mut self, policy_id: QuotaPolicyId, answer: &Answer<QuotaSettlement>) {
        self.busy.remove(&policy_id);
        if let Err(error) = answer {
            // The reconciler finds these slots.
            self.store.outages().log_failure("quotas", error);
        }
    }

    fn reconcile(&mut self) {
        if !self.is_used {
            return;
        }
        // The previous turn may still be under way.
        let Some(mut reconciler) = self.reconciler.take() else { return };
        let owned = self.owned.borrow().clone();
        self.reconciling.spawn(async move {
            if let Err(error) = reconciler.run(owned.as_ref()).await {
                reconciler.store.outages().log_failure("quotas", &error);
            }
            reconciler
        });
    }
}

/// The cursors at which a turn ended for a policy.
#[derive(Default)]
struct Place {
    slots: Option<String>,
    keys: Option<String>,
}

/// Corrects the slots and waiting executions that lost hints and dead callers leave behind.
struct Reconciler {
    store: Arc<dyn EngineStore>,
    places: HashMap<QuotaPolicyId, Place>,
    /// The cursor at which the last turn ended among the blocked executions of a namespace.
    waiting: HashMap<(Namespace, Blocker), Cursor>,
    corrected: Arc<AtomicU64>,
    found_any: bool,
    /// Delay until a slot without a lease that is too young now may be a leftover, if that is before the next turn.
    look_again_in: Option<Duration>,
}

/// The use of a held slot.
enum SlotUse {
    /// A live lease.
    Lease,
    /// No lease yet. Without a lease by `until`, the slot is a leftover.
    Claim { until: TimestampMs },
    /// Neither. While the slot was held, claims of its execution took nothing, so workers must claim again if the execution is
    /// ready.
    Leftover { ready: Option<Hint> },
}

impl Reconciler {
    async fn run(&mut self, owned: Option<&BTreeSet<u16>>) -> Answer<()> {
        self.look_again_in = None;
        let sets = self.store.all_quotas().await?;
        self.found_any = sets.iter().any(|set| !set.is_empty());
        let policies: Vec<_> = sets.iter().flat_map(|set| set.policies.values()).collect();
        let budgets: Vec<_> = sets.iter().flat_map(|set| set.budgets.values()).collect();
        let partitions = self.store.partitions();
        let own = |id: &QuotaPolicyId| owned.is_none_or(|owned| owned.contains(&quota_home(id, &partitions)));
        let mut unattended = BTreeMap::<&Namespace, Vec<(QuotaPolicyId, BTreeSet<String>)>>::new();
        for policy in policies.iter().filter(|policy| own(&policy.id)) {
            self.release_leftovers(policy.id, policy.name.as_str()).await?;
            if let Some(lines) = self.look_after(policy).await? {
                unattended.entry(&policy.namespace).or_default().push((policy.id, lines));
            }
        }
        for (namespace, policies) in unattended {
            let is_forgotten = |detail: &BlockDetail| match detail {
                BlockDetail::Quota { policy_id, key, retry_at: None, .. } => {
                    policies.iter().any(|(of, lines)| of == policy_id && !lines.contains(key))
                }
                _ => false,
            };
            self.release_forgotten(namespace, Blocker::Quota, is_forgotten).await?;
        }
        for budget in budgets.iter().filter(|budget| own(&budget.id.policy_id())) {
            self.attend_to_budget(budget).await?;
        }
        let ids = policies.iter().map(|policy| policy.id).chain(budgets.iter().map(|budget| budget.id.policy_id()));
        let ids: BTreeSet<_> = ids.collect();
        self.places.retain(|policy_id, _| ids.contains(policy_id));
        for set in sets.iter().filter(|set| !set.budgets.is_empty()) {
            self.settle_usage(&set.namespace).await?;
        }
        Ok(())
    }

    /// Gives back reservations without a lease, wakes waiting executions while there is room, and makes executions ready that have
    /// lost their place.
    async fn attend_to_budget(&mut self, budget: &Budget) -> Answer<()> {
        let policy_id = budget.id.policy_id();
        self.release_leftovers(policy_id, budget.name.as_str()).await?;
        self.store.settle_quota(SettleAdmissionsArgs { policy_id, releases: Vec::new(), keys: Vec::new() }).await?;
        let args = ReadBudgetLedger { budget_id: budget.id, with_draws: false };
        if self.store.budget_ledger(args).await?.balance.waiting() > 0 {
            return Ok(());
        }
        let is_forgotten =
            |detail: &BlockDetail| matches!(detail, BlockDetail::Budget { name, .. } if name == budget.name.as_str());
        self.release_forgotten(&budget.namespace, Blocker::Budget, is_forgotten).await
    }

    /// Settles reports of usage that a process left before every budget had counted them.
    async fn settle_usage(&mut self, namespace: &Namespace) -> Answer<()> {
        let args = UsageBacklogArgs { namespace: namespace.clone(), limit: limits::PAGE };
        let ids = self.store.usage_backlog(args).await?;
        self.store.settle_usage_of(ids).await.map(drop)
    }

    /// Gives back slots of executions that do not run under the slot's epoch.
    async fn release_leftovers(&mut self, policy_id: QuotaPolicyId, name: &str) -> Answer<()> {
        for _ in 0..PAGES {
            let after = self.places.entry(policy_id).or_default().slots.take();
            let page = self.store.quota_slots(QuotaSlotsArgs { policy_id, after, limit: limits::QUOTA_SETTLE }).await?;
            let (mut releases, mut ready) = (Vec::new(), Vec::new());
            let now = self.store.now().await?;
            for slot in page.slots {
                match self.use_of(&slot, now).await? {
                    SlotUse::Lease => {}
                    SlotUse::Claim { until } => {
                        let left = Duration::from_millis(until.since(now)).max(TURN_MIN);
                        let is_sooner = self.look_again_in.is_none_or(|soon| left < soon);
                        if is_sooner && left < Duration::from_millis(limits::QUOTA_RECONCILE_MS) {
                            self.look_again_in = Some(left);
                        }
                    }
                    SlotUse::Leftover { ready: hint } => {
                        let HeldSlot { key, execution_id, epoch, at } = slot;
                        let guard = ReleaseGuard::Since(at);
                        releases.push(AdmissionRelease { key, execution_id, epoch, is_unused: false, guard });
                        ready.extend(hint);
                    }
                }
            }
            for releases in releases.chunks(limits::QUOTA_SETTLE) {
                let args = SettleAdmissionsArgs { policy_id, releases: releases.to_vec(), keys: Vec::new() };
                let released = self.store.settle_quota(args).await?.released;
                if released > 0 {
                    self.corrected.fetch_add(released.into(), Ordering::Relaxed);
                    tracing::warn!(corrected = released, quota = name, "slots without a lease were released");
                }
            }
            if !ready.is_empty() {
                self.store.announce(ready).await?;
            }
            self.places.entry(policy_id).or_default().slots.clone_from(&page.next);
            if page.next.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the use of a held slot. A claim takes nothing after its reservation; twice that time allows for clocks that differ.
    async fn use_of(&self, slot: &HeldSlot, now: TimestampMs) -> Answer<SlotUse> {
        let info = if_there(self.store.describe(&slot.execution_id).await)?;
        let has_lease = |info: &ExecutionInfo| info.lease.as_ref().is_some_and(|lease| lease.lease_epoch == slot.epoch);
        let until = slot.at + 2 * limits::QUOTA_RESERVED_MS;
        Ok(match info {
            Some(info) if has_lease(&info) => SlotUse::Lease,
            _ if now < until => SlotUse::Claim { until },
            info => SlotUse::Leftover { ready: info.and_then(|info| ready(&info)) },
        })
    }

    /// Drops starts outside the windows, and gives free slots to waiting executions. Returns the keys that executions wait for, if
    /// it has seen all keys.
    async fn look_after(&mut self, policy: &QuotaPolicy) -> Answer<Option<BTreeSet<String>>> {
        let policy_id = policy.id;
        let mut lines = BTreeSet::new();
        let began_at_first = self.places.entry(policy_id).or_default().keys.is_none();
        for _ in 0..PAGES {
            let after = self.places.entry(policy_id).or_default().keys.take();
            let page = self.store.quota_keys(QuotaKeysArgs { policy_id, after, limit: limits::QUOTA_SETTLE }).await?;
            lines.extend(page.keys.iter().filter(|used| used.waiting > 0).map(|used| used.key.clone()));
            let keys: Vec<_> = page.keys.into_iter().map(|used| used.key).collect();
            for keys in keys.chunks(limits::QUOTA_SETTLE) {
                let args = SettleAdmissionsArgs { policy_id, releases: Vec::new(), keys: keys.to_vec() };
                self.store.settle_quota(args).await?;
            }
            self.places.entry(policy_id).or_default().keys.clone_from(&page.next);
            if page.next.is_none() {
                return Ok(began_at_first.then_some(lines));
            }
        }
        Ok(None)
    }

    /// Makes blocked executions ready that are not in line, because their place was lost.
    async fn release_forgotten(
        &mut self,
        namespace: &Namespace,
        on: Blocker,
        is_forgotten: impl Fn(&BlockDetail) -> bool + Send + Sync,
    ) -> Answer<()> {
        let now = self.store.now().await?;
        let blocking_reason = Some(on.reason());
        let filter = Filter { blocking_reason, ..Filter::everything(namespace.clone()) };
        let after = self.waiting.remove(&(namespace.clone(), on));
        let page = self.store.list(ListArgs { filter, after, limit: limits::PAGE }).await?;
        self.waiting.extend(page.next.map(|next| ((namespace.clone(), on), next)));
        let old = page.executions.iter().filter(|one| one.changed_at + limits::QUOTA_RECONCILE_MS <= now);
        let forgotten = old.filter(|one| one.blocking_detail.as_deref().is_some_and(&is_forgotten));
        let forgotten: Vec<_> = forgotten.map(|one| one.execution_id).collect();
        if !forgotten.is_empty() {
            let corrected = self.store.unblock_from(on, forgotten).await?;
            self.corrected.fetch_add(corrected as u64, Ordering::Relaxed);
            tracing::warn!(corrected, %namespace, "repaired executions that waited for a slot without a place in the queue");
        }
        Ok(())
    }
}

/// Returns the hint that an execution is ready, if it waits for a worker.
fn ready(info: &ExecutionInfo) -> Option<Hint> {
    (info.public_state == PublicState::Waiting).then(|| Hint::Ready {
        partition: info.execution_id.partition(),
        lane: info.lane_id.within(&info.namespace),
        kind: info.kind.clone(),
        class: info.policy.class(),
        head: Head::new(info.priority, info.created_at),
    })
}
