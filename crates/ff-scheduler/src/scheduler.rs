//! The scheduler: brings ready work to the workers that ask for it.

use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{Answer, Upkeep};
use ff_core::engine_error::EngineError;
use ff_core::lease::contracts::{ClaimArgs, Claimed, Head, NextArgs};
use ff_core::limits;
use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::exchange::{Exchange, Offer};
use crate::listener::{Asker, Listener};
use crate::shares::{AT_ONCE, Sizes, shares};
use crate::wanted::Wanted;

/// Hands out work from all partitions of a store, to workers that wait for it.
///
/// Lanes are asked in the order they are preferred, and within a lane the partitions with the better heads first, so that
/// order is strict within a partition and nearly so across them. Work that becomes ready wakes one worker that can take
/// it, the one that has waited longest.
///
/// ```
/// # use std::sync::Arc;
/// # use ff_backend_memory::MemoryBackend;
/// # use ff_core::backend::{ExecutionRoom, Upkeep};
/// # use ff_core::contracts::{NextArgs, SubmitArgs};
/// # use ff_core::lease::Holder;
/// # use ff_core::payload::Payload;
/// # use ff_core::types::{Kind, LaneId, Namespace, WorkerId, WorkerInstanceId};
/// use ff_scheduler::Scheduler;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(MemoryBackend::default());
/// let scheduler = Scheduler::start(store.clone());
/// store.submit(SubmitArgs::new(Kind::parse("resize")?, Payload::json("1"))).await?;
/// let claimed = scheduler
///     .next(NextArgs {
///         namespace: Namespace::default_name(),
///         lanes: vec![LaneId::default_name()],
///         kinds: vec![],
///         max: 10,
///         holder: Holder {
///             worker_id: WorkerId::parse("example")?,
///             worker_instance_id: WorkerInstanceId::parse("example-1")?,
///         },
///         lease_ttl_ms: 30_000,
///         wait_ms: 5_000,
///     })
///     .await?;
/// assert_eq!(claimed.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct Scheduler {
    store: Arc<dyn Upkeep>,
    exchange: Arc<Exchange>,
    sizes: Sizes,
    askers: mpsc::UnboundedSender<Asker>,
    stopped: CancellationToken,
    _listening: DropGuard,
}

impl Scheduler {
    /// Starts a scheduler on the current runtime. It listens until it is stopped or dropped.
    ///
    /// It looks at every partition once and then asks the store only for claims, unless the store's hints can be lost.
    pub fn start(store: Arc<dyn Upkeep>) -> Arc<Self> {
        let exchange = Arc::new(Exchange::default());
        let stopped = CancellationToken::new();
        let (askers, asked) = mpsc::unbounded_channel();
        // Made here rather than in the task, so that no hint given from now on is missed.
        let listener = Listener::new(store.clone(), exchange.clone(), asked);
        tokio::spawn({
            let stopped = stopped.clone();
            async move { stopped.run_until_cancelled(listener.run()).await }
        });
        let listening = stopped.clone().drop_guard();
        Arc::new(Self { store, exchange, sizes: Sizes::default(), askers, stopped, _listening: listening })
    }

    /// Answers everybody who waits, at once and with nothing, and hands out nothing more.
    pub fn stop(&self) {
        self.stopped.cancel();
    }

    /// Takes work from wherever there is some, waiting for it up to `wait_ms`. Empty when there was none in time.
    ///
    /// A caller that goes away while it waits leaves nothing behind. One that goes away while the store is being asked may
    /// have been given executions it will never hear of; they wait again when their leases expire.
    pub async fn next(&self, args: NextArgs) -> Answer<Vec<Claimed>> {
        args.check()?;
        let deadline = Instant::now() + Duration::from_millis(args.wait_ms);
        let wanted = Arc::new(Wanted::by(&args));
        let most = args.max.min(AT_ONCE);
        if args.wait_ms == 0 {
            return self.next_at_once(&args, &wanted, most).await;
        }
        let place = self.exchange.place(wanted.clone());
        while !self.stopped.is_cancelled() {
            let offers = place.take_or_wait(most);
            if !offers.is_empty() {
                let claimed = self.claim(&args, &wanted, offers).await?;
                if !claimed.is_empty() {
                    return Ok(claimed);
                }
                continue;
            }
            tokio::select! {
                biased;
                () = self.stopped.cancelled() => break,
                () = place.called() => {}
                () = sleep_until(deadline) => break,
            }
        }
        Ok(Vec::new())
    }

    /// What is ready, down to what became so just before the call.
    async fn next_at_once(&self, args: &NextArgs, wanted: &Wanted, most: usize) -> Answer<Vec<Claimed>> {
        let mut claimed = Vec::new();
        if !self.stopped.is_cancelled() {
            claimed = self.claim(args, wanted, self.exchange.take(wanted, most)).await?;
        }
        if claimed.is_empty() && self.caught_up().await {
            claimed = self.claim(args, wanted, self.exchange.take(wanted, most)).await?;
        }
        Ok(claimed)
    }

    /// Waits until every hint given before this call has been heard. False when nobody listens any more.
    async fn caught_up(&self) -> bool {
        let (asker, answered) = oneshot::channel();
        self.askers.send(asker).is_ok() && answered.await.is_ok()
    }

    /// Claims what is offered, and then what else is ready, until there is as much as may be. What was claimed before an
    /// error is not lost to it.
    async fn claim(&self, args: &NextArgs, wanted: &Wanted, mut offers: Vec<Offer>) -> Answer<Vec<Claimed>> {
        let mut claimed: Vec<Claimed> = Vec::new();
        let mut bytes = 0;
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
                Some(error) if claimed.is_empty() => return Err(error),
                Some(_) => break,
                None if claimed.len() >= args.max || bytes >= limits::CLAIM_BYTES => break,
                None => offers = self.exchange.take(wanted, AT_ONCE.min(args.max - claimed.len())),
            }
        }
        Ok(claimed)
    }

    /// Asks the partitions offered, all at once, for so many executions together.
    async fn round(&self, args: &NextArgs, offers: Vec<Offer>, room: usize) -> (Vec<Claimed>, Option<EngineError>) {
        let shares = shares(room, offers.len());
        let asked = offers.into_iter().zip(shares).map(|(offer, share)| self.ask(args, offer, share));
        let (mut claimed, mut failed) = (Vec::new(), None);
        for answer in join_all(asked).await {
            match answer {
                Ok(some) => claimed.extend(some),
                Err(error) => {
                    tracing::warn!(%error, "a partition could not be asked for work");
                    failed = Some(error);
                }
            }
        }
        claimed.sort_by_key(|one| Head::new(one.task.priority, one.task.created_at));
        (claimed, failed)
    }

    async fn ask(&self, args: &NextArgs, offer: Offer, share: usize) -> Answer<Vec<Claimed>> {
        let claims = self
            .store
            .claim(ClaimArgs {
                partition: offer.partition(),
                namespace: args.namespace.clone(),
                lane: args.lanes[offer.preference()].clone(),
                kinds: args.kinds.clone(),
                max: share,
                holder: args.holder.clone(),
                lease_ttl_ms: args.lease_ttl_ms,
            })
            .await?;
        // A partition that gave nothing has nothing to give, whatever it says; asking it again would go on for ever.
        offer.settle(claims.next.filter(|_| !claims.claimed.is_empty()));
        Ok(claims.claimed)
    }
}
