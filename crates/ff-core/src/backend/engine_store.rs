//! The interface between an engine and its store.

use std::time::Duration;

use futures_core::future::BoxFuture;

use super::perform::{run, typed_calls};
use super::{BoxedAnswer, Perform};
use crate::api_key::ApiKey;
use crate::backend::hint::{Hint, Hints};
use crate::backend::outage::OutageLog;
use crate::backend::snapshot::Snapshot;
use crate::contracts::*;
use crate::event::Feed;
use crate::lane::Lane;
use crate::operation::query::*;
use crate::operation::{Ask, operations};
use crate::quota::QuotaSet;
use crate::rule::due::PumpedPartition;
use crate::schedule::Schedule;
use crate::token::{KeyRing, PresentedToken};
use crate::types::*;

/// A store in this process: hints, and the operations and queries that only an engine uses.
pub trait EngineStore: Perform {
    /// Returns how often every partition must be swept because hints can be lost; `None` if they cannot.
    fn sweep_every(&self) -> Option<Duration>;

    /// Returns how many claims one worker should have under way: several if the store works on one while it waits for the
    /// storage of another.
    fn claims_at_once(&self) -> usize;

    /// Returns the hints from now on.
    fn hints(&self) -> Hints;

    /// Sends hints to every process that uses the store, including this one.
    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()>;

    /// Waits until the hints of all calls answered to this process have arrived at [`hints`](Self::hints), but only for
    /// a short time if the server does not send them. Returns at once if the hints of this process do not pass through a
    /// server.
    fn flush_hints(&self) -> BoxFuture<'_, ()>;

    /// Returns the log in which every loop over this store records that the store does not answer.
    fn outages(&self) -> &OutageLog;

    fn pump(&self, partition: u16) -> BoxedAnswer<'_, PumpedPartition> {
        self.pump_partition(PumpArgs { partition })
    }

    operations!(calls_of_engines);
    queries!(calls_of_engines);
}

macro_rules! calls_of_engines {
    (callers $callers:tt engine { $($rows:tt)* }) => { typed_calls! { $($rows)* } };
}
use calls_of_engines;

/// The ready and the unroutable work of a partition, and its next due time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionStatus {
    pub ready: Vec<ReadyLane>,
    /// Queues with executions that are blocked because no live worker meets their requirements.
    pub unroutable: Vec<WorkQueue>,
    pub next_due: Option<TimestampMs>,
}

/// The ready executions of one kind and requirement class on a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyLane {
    /// The lane's name in indexes.
    pub lane: LaneId,
    pub kind: Kind,
    pub class: RequirementClass,
    pub head: Head,
}

impl ReadyLane {
    /// Creates the value for ready executions with a fair key.
    pub fn keyed(lane: LaneId, kind: Kind, class: RequirementClass) -> Self {
        Self { lane, kind, class, head: Head::fair(0) }
    }

    pub fn queue(&self) -> WorkQueue {
        WorkQueue { lane: self.lane.clone(), kind: self.kind.clone(), class: self.class.clone() }
    }

    /// Returns the hint that announces these executions.
    pub fn hint(self, partition: u16) -> Hint {
        let Self { lane, kind, class, head } = self;
        Hint::Ready { partition, lane, kind, class, head }
    }
}
