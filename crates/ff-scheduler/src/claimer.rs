//! Claims ready work for callers that may be cancelled at any moment.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::backend::outage::is_away;
use ff_core::backend::{Answer, EngineStore};
use ff_core::contracts::{DelayArgs, Start};
use ff_core::engine_error::EngineError;
use ff_core::lease::contracts::{ClaimArgs, ClaimedExecution, Claims, Head, NextArgs};
use ff_core::limits;
use ff_engine::Orchestration;
use futures_util::future::join_all;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::matchmaker::{Matchmaker, Offer};
use crate::ready::WorkFilter;
use crate::shares::{Depth, Sizes, shares};

/// Maximum number of failed rounds of claims before the caller gets the error.
const ATTEMPTS_MAX: usize = 3;

/// Time for which work is set aside after its partition did not answer. A part of a store may be away while the rest answers.
const SET_ASIDE: Duration = Duration::from_millis(250);

/// Maximum number of executions claimed from a partition of a fair lane before others have their turn.
const FAIR_AT_ONCE: usize = 8;

/// Claims ready work from the store.
pub(crate) struct Claimer {
    store: Arc<dyn EngineStore>,
    matchmaker: Arc<Matchmaker>,
    sizes: Sizes,
    depth: Depth,
    tasks: TaskTracker,
    /// The last time a partition did not answer, and its error.
    away: Mutex<Option<(Instant, EngineError)>>,
}

impl Claimer {
    pub(crate) fn new(store: Arc<dyn EngineStore>, matchmaker: Arc<Matchmaker>, tasks: TaskTracker) -> Arc<Self> {
        let (sizes, depth, away) = (Sizes::default(), Depth::default(), Mutex::default());
        Arc::new(Self { store, matchmaker, sizes, depth, tasks, away })
    }

    /// Returns the number of partitions to claim `executions` executions from.
    pub(crate) fn partitions(&self, executions: usize) -> usize {
        self.depth.partitions(executions)
    }

    /// Waits until the hints of calls that were answered before this one have arrived.
    pub(crate) async fn hints_arrived(&self) {
        self.store.flush_hints().await;
    }

    /// Claims the offers even if the caller goes away. Executions without a receiver are given back, so that they need not wait for
    /// their leases to expire.
    pub(crate) async fn claim_for(
        self: &Arc<Self>,
        args: &Arc<NextArgs>,
        wanted: &Arc<WorkFilter>,
        offers: Vec<Offer>,
    ) -> Answer<Vec<ClaimedExecution>> {
        if offers.is_empty() {
            return Ok(Vec::new());
        }
        let (caller, answered) = oneshot::channel();
        let (claimer, args, wanted) = (self.clone(), args.clone(), wanted.clone());
        self.tasks.spawn(async move {
            let claimed = claimer.claim(&args, &wanted, offers).await;
            // If the caller is gone, the claimed executions are dropped, which gives them back.
            caller.send(claimed.map(|claimed| UndeliveredClaim { claimer, claimed })).ok();
        });
        let broken = |_| EngineError::Unknown("the claim was aborted".into());
        Ok(answered.await.map_err(broken)??.deliver())
    }

    /// Claims the offered work, then other ready work, up to the maximum. After an error it still returns executions claimed
    /// before.
    async fn claim(
        &self,
        args: &NextArgs,
        wanted: &WorkFilter,
        mut offers: Vec<Offer>,
    ) -> Answer<Vec<ClaimedExecution>> {
        let mut claimed: Vec<ClaimedExecution> = Vec::new();
        let (mut bytes, mut failures) = (0, 0);
        while let Some(first) = offers.first() {
            let lane = first.lane().clone();
            let fitting = self.sizes.fitting(&lane, limits::CLAIM_BYTES - bytes);
            if fitting == 0 && !claimed.is_empty() {
                break;
            }
            let room = (args.max - claimed.len()).min(fitting.max(1));
            offers.truncate(room);
            let (round, failed) = self.round(args, offers, room).await;
            self.sizes.saw(&lane, &round);
            bytes += round.iter().map(|one| one.payload.bytes.len()).sum::<usize>();
            claimed.extend(round);
            match failed {
                // Partitions that do not answer do not delay the others.
                Some(error) if claimed.is_empty() => {
                    failures += 1;
                    if failures == ATTEMPTS_MAX || !is_away(&error) {
                        return Err(error);
                    }
                    offers = self.matchmaker.take(wanted, self.partitions(args.max));
                    if offers.is_empty() {
                        return Err(error);
                    }
                }
                Some(_) => break,
                // Claimed executions do not wait for the last quarter; the worker asks again for the rest.
                None if 4 * claimed.len() >= 3 * args.max || bytes >= limits::CLAIM_BYTES => break,
                None => offers = self.matchmaker.take(wanted, self.partitions(args.max - claimed.len())),
            }
        }
        Ok(claimed)
    }

    /// Claims from the offered partitions concurrently, up to `room` executions in total.
    async fn round(
        &self,
        args: &NextArgs,
        offers: Vec<Offer>,
        room: usize,
    ) -> (Vec<ClaimedExecution>, Option<EngineError>) {
        let shares = shares(room, offers.len());
        let claims = offers.into_iter().zip(shares).map(|(offer, share)| self.ask(args, offer, share));
        let (mut claimed, mut failed) = (Vec::new(), None);
        for answer in join_all(claims).await {
            match answer {
                Ok(some) => claimed.extend(some),
                Err(error) => {
                    self.store.outages().log_failure("claim", &error);
                    failed = Some(error);
                }
            }
        }
        claimed.sort_by_key(|one| Head::new(one.task.priority, one.task.created_at));
        (claimed, failed)
    }

    async fn ask(&self, args: &NextArgs, offer: Offer, share: usize) -> Answer<Vec<ClaimedExecution>> {
        let share = if offer.is_fair() { share.min(FAIR_AT_ONCE) } else { share };
        let claims = self.claim_on(args, &offer, share).await;
        let claims = match claims {
            Ok(claims) => claims,
            Err(error) if !is_away(&error) => return Err(error),
            Err(error) => {
                *self.away() = Some((Instant::now(), error.clone()));
                // Set aside, so that no worker is called to it again at once. Dropping the offer makes it ready.
                self.tasks.spawn(async move {
                    #[allow(clippy::disallowed_methods, reason = "nothing signals that a part of a store is back")]
                    tokio::time::sleep(SET_ASIDE).await;
                    drop(offer);
                });
                return Err(error);
            }
        };
        if claims.limited {
            offer.hold_back();
            return Ok(claims.claimed);
        }
        self.depth.saw(claims.claimed.len(), claims.next.is_some());
        // A partition that returned no execution counts as empty, even with a head: asking it again could loop for ever.
        offer.settle(claims.next.filter(|_| !claims.claimed.is_empty()));
        Ok(claims.claimed)
    }

    async fn claim_on(&self, args: &NextArgs, offer: &Offer, share: usize) -> Answer<Claims> {
        self.store
            .claim_within_limit(ClaimArgs {
                partition: offer.partition(),
                namespace: args.namespace.clone(),
                lane: args.lanes[offer.preference()].clone(),
                kinds: args.kinds.clone(),
                capabilities: args.capabilities.clone(),
                assigned: offer.is_assigned(),
                max: share,
                holder: args.holder.clone(),
                lease_ttl_ms: args.lease_ttl_ms,
            })
            .await
    }

    /// Returns the error of a partition whose ready work is set aside now.
    pub(crate) fn lately_away(&self) -> Option<EngineError> {
        let lately = self.away().clone().filter(|(at, _)| at.elapsed() <= SET_ASIDE);
        lately.map(|(_, error)| error)
    }

    fn away(&self) -> MutexGuard<'_, Option<(Instant, EngineError)>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back executions for other workers.
    async fn give_back(&self, claimed: Vec<ClaimedExecution>) {
        for ClaimedExecution { task, .. } in claimed {
            let args = DelayArgs { execution_id: task.execution_id, fence: task.fence, start: Start::Now };
            if let Err(error) = self.store.delay(args).await {
                self.store.outages().log_failure("give back", &error);
            }
        }
    }
}

/// Executions claimed for a caller that has not received them yet.
struct UndeliveredClaim {
    claimer: Arc<Claimer>,
    claimed: Vec<ClaimedExecution>,
}

impl UndeliveredClaim {
    fn deliver(mut self) -> Vec<ClaimedExecution> {
        std::mem::take(&mut self.claimed)
    }
}

impl Drop for UndeliveredClaim {
    fn drop(&mut self) {
        if !self.claimed.is_empty() {
            let (claimer, claimed) = (self.claimer.clone(), std::mem::take(&mut self.claimed));
            self.claimer.tasks.spawn(async move { claimer.give_back(claimed).await });
        }
    }
}
