//! A SQL store as callers see it: mutations go to its writers, questions to its readers. The traits are implemented here once; a
//! database provides its connections as a [`Driver`].

use std::future::ready;
use std::ops::Deref;
use std::time::Duration;

use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::backend::{Answer, BoxedAnswer, EngineStore, Handle, Perform};
use ff_core::operation::query::{self, Now, Query, QueryReply};
use ff_core::operation::{Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::types::TimestampMs;
use futures_util::future::BoxFuture;

use crate::queue::WriterHandle;
use crate::session::{Question, ReadContext};
use crate::worker::CheckCapacity;

/// The connections to one database.
pub trait Driver: Send + Sync + 'static {
    /// Returns the partition counts that the store was created with.
    fn partitions(&self) -> PartitionConfig;

    /// Returns the handle that queues mutations.
    fn writer(&self) -> &WriterHandle;

    /// Answers a question from the committed state.
    fn read<Q: Question>(&self, question: Q, at: ReadContext) -> impl Future<Output = Answer<Q::Answer>> + Send;

    /// Returns the store's time.
    fn now(&self) -> impl Future<Output = Answer<TimestampMs>> + Send;

    /// Returns a stream of the hints from now on.
    fn hints(&self) -> Hints;

    /// Passes hints to every process that uses the store, including this one.
    fn announce(&self, hints: Vec<Hint>);

    /// Returns the log of the database's outages.
    fn outages(&self) -> &OutageLog;

    /// Returns how often every partition must be swept because hints can be lost; none if they cannot be lost.
    fn sweep_every(&self) -> Option<Duration>;

    /// Returns how many claims one worker should have under way.
    fn claims_at_once(&self) -> usize;
}

/// A store in a SQL database. It dereferences to the driver, which has the parts specific to the database, such as closing and counters.
pub struct SqlStore<D>(D);

impl<D: Driver> SqlStore<D> {
    pub fn new(driver: D) -> Self {
        Self(driver)
    }

    pub(crate) fn driver(&self) -> &D {
        &self.0
    }

    pub(crate) async fn read<Q: Question>(&self, question: Q) -> Answer<Q::Answer> {
        let now = if Q::IS_TIMED { self.0.now().await? } else { TimestampMs::default() };
        self.0.read(question, ReadContext { partitions: self.0.partitions(), now }).await
    }
}

impl<D> Deref for SqlStore<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0
    }
}

impl<D: Driver> Perform for SqlStore<D> {
    fn partitions(&self) -> PartitionConfig {
        self.0.partitions()
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        match &operation {
            Operation::RegisterWorker(args) => {
                let args = args.clone();
                Box::pin(async move {
                    args.check()?;
                    self.read(CheckCapacity(args)).await?;
                    self.0.writer().perform(operation).await
                })
            }
            _ => self.0.writer().perform(operation),
        }
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        match query.check(&self.0.partitions()) {
            Ok(()) => query::dispatch(self, query),
            Err(refusal) => Box::pin(async { Err(refusal.into()) }),
        }
    }
}

/// Queries are answered from rows, each in a transaction of its own.
impl<D: Driver, Q: Question> Handle<Q, Q::Answer> for SqlStore<D> {
    async fn handle(&self, question: Q) -> Answer<Q::Answer> {
        self.read(question).await
    }
}

impl<D: Driver> Handle<Now, TimestampMs> for SqlStore<D> {
    async fn handle(&self, _: Now) -> Answer<TimestampMs> {
        self.0.now().await
    }
}

impl<D: Driver> EngineStore for SqlStore<D> {
    fn sweep_every(&self) -> Option<Duration> {
        self.0.sweep_every()
    }

    fn claims_at_once(&self) -> usize {
        self.0.claims_at_once()
    }

    fn hints(&self) -> Hints {
        self.0.hints()
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        self.0.announce(hints);
        Box::pin(async { Ok(()) })
    }

    fn flush_hints(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn outages(&self) -> &OutageLog {
        self.0.outages()
    }
}
