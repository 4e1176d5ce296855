//! The domain of workers, over the model.

use ff_core::backend::clock::Clock;
use ff_core::backend::{Answer, Handle};
use ff_core::contracts::{ListWorkersArgs, RegisterWorkerArgs, WorkersPage};
use ff_core::limits;
use ff_core::model::Model;
use ff_core::operation::query::ListSweepableWorkers;
use ff_core::types::WorkerInstanceId;

use crate::MemoryBackend;

impl MemoryBackend {
    /// Refuses a worker that would exceed the limit of its tenant. As long as all tenants together are below that limit, it
    /// counts none.
    pub(crate) fn check_worker_room(&self, model: &Model, args: &RegisterWorkerArgs) -> Answer<()> {
        if model.workers().len() < limits::WORKERS {
            return Ok(());
        }
        args.check()?;
        let now = self.clock.now();
        Ok(args.check_capacity(model.workers().filter(|worker| args.counts_towards_limit(worker, now)).count())?)
    }
}

impl Handle<ListSweepableWorkers, Vec<WorkerInstanceId>> for MemoryBackend {
    async fn handle(&self, _: ListSweepableWorkers) -> Answer<Vec<WorkerInstanceId>> {
        let (model, now) = (self.model()?, self.clock.now());
        let gone = model.workers().filter(|worker| worker.is_gone(now));
        Ok(gone.map(|worker| worker.worker_instance_id.clone()).collect())
    }
}

impl Handle<ListWorkersArgs, WorkersPage> for MemoryBackend {
    async fn handle(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        let (model, now) = (self.model()?, self.clock.now());
        let mut rest = model.workers().filter(|worker| args.wants(worker, now));
        let workers: Vec<_> = rest.by_ref().take(args.limit).cloned().collect();
        let next = workers.last().map(|last| last.worker_instance_id.clone()).filter(|_| rest.next().is_some());
        Ok(WorkersPage { workers, next })
    }
}
