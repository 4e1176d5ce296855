//! A SQL store as callers see it: mutations go to its writers, questions to its readers. The traits are implemented here once; a
//! database brings its connections as a [`Driver`].

use std::ops::Deref;
use std::time::Duration;

use ff_core::backend::{Answer, EngineBackend};
use ff_core::hint::Hints;
use ff_core::operation::check_id;
use ff_core::outage::OutageLog;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, TimestampMs};

use crate::queue::Asker;
use crate::session::Question;

/// The connections to one database.
pub trait Driver: Send + Sync + 'static {
    /// How many partitions the store was made with.
    fn partitions(&self) -> PartitionConfig;

    /// Where mutations are queued.
    fn writer(&self) -> &Asker;

    /// Answers a question from what is committed now.
    fn read<Q: Question>(&self, question: Q) -> impl Future<Output = Answer<Q::Answer>> + Send;

    /// What time it is for the store.
    fn now(&self) -> impl Future<Output = Answer<TimestampMs>> + Send;

    /// Hints from now on.
    fn hints(&self) -> Hints;

    /// What was logged of the database being away.
    fn outages(&self) -> &OutageLog;

    /// How often every partition must be swept because hints can be lost; never, where they cannot.
    fn sweep_every(&self) -> Option<Duration>;
}

/// A store in a SQL database. What is particular to the database (closing it, its counters) is asked of the driver, to which it
/// dereferences.
pub struct SqlStore<D>(D);

impl<D: Driver> SqlStore<D> {
    pub fn new(driver: D) -> Self {
        Self(driver)
    }

    pub(crate) fn driver(&self) -> &D {
        &self.0
    }

    /// Reads something of one execution, unless its id cannot be here.
    pub(crate) async fn look<Q: Question>(&self, id: &ExecutionId, question: Q) -> Answer<Q::Answer> {
        check_id(id, &self.0.partitions())?;
        self.0.read(question).await
    }
}

impl<D> Deref for SqlStore<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.0
    }
}

impl<D: Driver> EngineBackend for SqlStore<D> {
    fn partitions(&self) -> PartitionConfig {
        self.0.partitions()
    }
}
