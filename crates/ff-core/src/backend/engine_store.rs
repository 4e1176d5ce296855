//! A store as an engine sees it.

use std::time::Duration;

use futures_core::future::BoxFuture;

use super::perform::run;
use super::{BoxedAnswer, Perform};
use crate::api_key::ApiKey;
use crate::contracts::*;
use crate::due::PumpedPartition;
use crate::event::Feed;
use crate::hint::{Hint, Hints};
use crate::lane::Lane;
use crate::operation::{Ask, operations};
use crate::outage::OutageLog;
use crate::query::*;
use crate::quota::QuotaSet;
use crate::schedule::Schedule;
use crate::snapshot::Snapshot;
use crate::token::{KeyRing, PresentedToken};
use crate::types::*;

/// A store in this process: hints, and the operations and queries only an engine asks for.
pub trait EngineStore: Perform {
    /// How often every partition must be swept because hints can be lost; never, where they cannot.
    fn sweep_every(&self) -> Option<Duration>;

    /// Hints from now on.
    fn hints(&self) -> Hints;

    /// Gives hints to every process that uses the store, this one included.
    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()>;

    /// Waits until the hints of all calls answered to this process have arrived at [`hints`](Self::hints), or only for a short
    /// time if the server does not send them. Returns at once where hints of this process do not pass through a server.
    fn flush_hints(&self) -> BoxFuture<'_, ()>;

    /// Where every loop over this store logs that it does not answer.
    fn outages(&self) -> &OutageLog;

    fn pump(&self, partition: u16) -> BoxedAnswer<'_, PumpedPartition> {
        self.pump_partition(PumpArgs { partition })
    }

    operations!(operation_calls);
    queries!(query_calls);
}

macro_rules! operation_calls {
    (
        callers { $($callers:tt)* }
        engine { $($(#[$doc:meta])* $call:ident: $name:ident($args:ty) -> $reply:ident($answer:ty) $(from $from:ident($decision:ty))?;)* }
        $($rest:tt)*
    ) => {$(
        $(#[$doc])*
        fn $call(&self, args: $args) -> BoxedAnswer<'_, $answer> {
            run(self.perform(args.into_operation()), <$args>::answer)
        }
    )*};
}
use operation_calls;

macro_rules! query_calls {
    (
        callers { $($callers:tt)* }
        engine { $($(#[$doc:meta])* $call:ident($($arg:ident: $type:ty),*) -> $answer:ty = $name:ident($query:ty): $value:expr;)* }
    ) => {$(
        $(#[$doc])*
        fn $call(&self $(, $arg: $type)*) -> BoxedAnswer<'_, $answer> {
            run(self.query(Query::$name($value)), |reply| match reply {
                QueryReply::$name(answer) => Some(answer),
                _ => None,
            })
        }
    )*};
}
use query_calls;

/// How a partition stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionStatus {
    pub ready: Vec<ReadyLane>,
    /// Queues of which something is blocked because no live worker meets its requirements.
    pub unroutable: Vec<WorkQueue>,
    pub next_due: Option<TimestampMs>,
}

/// Executions of one kind and requirement class are ready on a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyLane {
    /// As indexes name it.
    pub lane: LaneId,
    pub kind: Kind,
    pub class: RequirementClass,
    pub head: Head,
}

impl ReadyLane {
    /// Work with keys is ready.
    pub fn keyed(lane: LaneId, kind: Kind, class: RequirementClass) -> Self {
        Self { lane, kind, class, head: Head::fair(0) }
    }

    pub fn queue(&self) -> WorkQueue {
        WorkQueue { lane: self.lane.clone(), kind: self.kind.clone(), class: self.class.clone() }
    }

    /// The hint that announces it.
    pub fn hint(self, partition: u16) -> Hint {
        let Self { lane, kind, class, head } = self;
        Hint::Ready { partition, lane, kind, class, head }
    }
}
