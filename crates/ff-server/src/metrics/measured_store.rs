//! A store wrapper that counts and times every call. The engine, the scheduler and the handlers all use the same wrapper, so no
//! call is counted twice and none is left out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::backend::{BoxedAnswer, EngineStore, Perform};
use ff_core::contracts::{
    AdmittedClaims, ClaimArgs, GrantIssued, GrantedClaims, HoldPlaced, ScheduleWritten, UsageSettled,
};
use ff_core::operation::query::{Query, QueryReply};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::state::BlockingReason;
use ff_core::types::{Kind, LeaseId, TimestampMs};
use futures_util::future::BoxFuture;

use super::labels::LaneLabel;
use super::metric_set::{MetricSet, lane_of};
use super::ticks::TickNote;

/// A store whose calls are counted and timed.
pub(super) struct MeasuredStore {
    store: Arc<dyn EngineStore>,
    gathered: Arc<MetricSet>,
}

impl MeasuredStore {
    pub(super) fn new(store: Arc<dyn EngineStore>, gathered: Arc<MetricSet>) -> Self {
        Self { store, gathered }
    }

    /// Records how far a reader of a feed is behind.
    async fn record_feed(&self, feed: &'static str, last: Option<TimestampMs>, missed: bool) {
        if missed {
            self.gathered.missed(feed);
        }
        let Some(last) = last else { return };
        let now = match self.gathered.clock.now() {
            Some(now) => Ok(now),
            None => self.now().await,
        };
        // A failed read of the store's clock is counted as a failed call.
        if let Ok(now) = now {
            self.gathered.feed_read(feed, last, now);
        }
    }
}

/// The parts of an operation that are needed after its reply.
enum Subject {
    Claim(LaneLabel),
    Completion(LeaseId),
    Failure(LeaseId, Kind),
    /// The engine blocks and unblocks for one reason at a time.
    Block(BlockingReason),
    Ticks(Vec<TickNote>),
    /// Number of soft limits that were crossed for the first time in a period.
    SoftLimits(usize),
    Other,
}

impl Subject {
    fn of(operation: &Operation) -> Self {
        let lane = |args: &ClaimArgs| Self::Claim(lane_of(args));
        match operation {
            Operation::Claim(args) => lane(args),
            Operation::ClaimGranted(args) => lane(&args.claim),
            Operation::ClaimAdmitted(args) => lane(&args.claim),
            Operation::Complete(args) => Self::Completion(args.fence.lease_id),
            Operation::Fail(args) => Self::Failure(args.fence.lease_id, args.failure.category.clone()),
            Operation::Block(args) => {
                let reason = args.executions.first().map(|target| target.detail.blocker().reason());
                reason.map_or(Self::Other, Self::Block)
            }
            Operation::WriteSchedule(args) => Self::Ticks(TickNote::of(args)),
            Operation::Unblock(args) => Self::Block(args.from.reason()),
            Operation::SettleUsage(args) if !args.crossed.is_empty() => Self::SoftLimits(args.crossed.len()),
            Operation::Hold(_) => Self::Block(BlockingReason::PausedByOperator),
            Operation::Assign(_) => Self::Block(BlockingReason::WaitingForLocalityMatch),
            _ => Self::Other,
        }
    }
}

impl Perform for MeasuredStore {
    fn partitions(&self) -> PartitionConfig {
        self.store.partitions()
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        Box::pin(async move {
            let (name, subject, began) = (operation.name(), Subject::of(&operation), Instant::now());
            let reply = self.store.perform(operation).await;
            self.gathered.note_answer(name, began.elapsed(), &reply);
            let reply = reply?;
            let (gathered, admission) = (&self.gathered, &self.gathered.admission);
            match (subject, &reply) {
                (
                    Subject::Claim(lane),
                    Reply::Claimed(claims)
                    | Reply::GrantClaimed(GrantedClaims { claims, .. })
                    | Reply::AdmittedClaimed(AdmittedClaims { claims, .. }),
                ) => gathered.claimed(&lane, &claims.claimed),
                (_, Reply::AdmissionsEvaluated(answer)) => admission.count_verdicts(answer),
                (Subject::Completion(lease), _) => gathered.completed(lease),
                (Subject::Failure(lease, category), Reply::Failed(failed)) => gathered.failed(lease, category, failed),
                (Subject::SoftLimits(count), Reply::UsageSettled(UsageSettled { settled: true })) => {
                    admission.soft_exceeded(count);
                }
                (Subject::Block(reason), Reply::BlockedCount(count)) => admission.blocked(reason, count.blocked),
                (
                    Subject::Block(reason),
                    Reply::HoldPlaced(HoldPlaced { already, .. }) | Reply::GrantIssued(GrantIssued { already, .. }),
                ) => admission.blocked(reason, usize::from(!already)),
                (Subject::Block(reason), Reply::UnblockedExecutions(count)) => admission.unblocked(reason, count),
                (Subject::Ticks(notes), Reply::ScheduleWritten(ScheduleWritten { written: true })) => {
                    gathered.ticks.count(&notes);
                }
                (_, Reply::Pumped(pumped)) => gathered.pumped(pumped),
                _ => {}
            }
            Ok(reply)
        })
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        Box::pin(async move {
            let (name, began) = (query.name(), Instant::now());
            let reply = self.store.query(query).await;
            self.gathered.note_answer(name, began.elapsed(), &reply);
            let reply = reply?;
            match &reply {
                QueryReply::Now(now) => self.gathered.clock.set(*now),
                QueryReply::Events(page) => {
                    self.record_feed(name, page.events.last().map(|event| event.position.at), page.missed).await;
                }
                QueryReply::Deliveries(page) => {
                    self.record_feed(name, page.deliveries.last().map(|delivery| delivery.position.at), page.missed)
                        .await;
                }
                _ => {}
            }
            Ok(reply)
        })
    }
}

impl EngineStore for MeasuredStore {
    fn sweep_every(&self) -> Option<Duration> {
        self.store.sweep_every()
    }

    fn claims_at_once(&self) -> usize {
        self.store.claims_at_once()
    }

    fn hints(&self) -> Hints {
        self.store.hints()
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        self.store.announce(hints)
    }

    fn flush_hints(&self) -> BoxFuture<'_, ()> {
        self.store.flush_hints()
    }

    fn outages(&self) -> &OutageLog {
        self.store.outages()
    }
}
