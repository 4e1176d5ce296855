//! The domain of workers, over the model.

use ff_core::backend::{Answer, Handle};
use ff_core::clock::Clock;
use ff_core::contracts::{ListWorkersArgs, RegisterWorkerArgs, WorkersPage};
use ff_core::limits;
use ff_core::model::Model;
use ff_core::query::ListSweepableWorkers;
use ff_core::types::WorkerInstanceId;

use crate::MemoryBackend;

impl MemoryBackend {
    /// Refuses one worker more than a tenant may have. As long as all tenants together have fewer than that, none is counted.
    pub(crate) fn check_worker_room(&self, model: &Model, args: &RegisterWorkerArgs) -> Answer<()> {
        if model.workers().len() < limits::WORKERS {
            return Ok(());
        }
        args.check()?;
        let now = self.clock.now();
        Ok(args.check_room(model.workers().filter(|worker| args.is_beside(worker, now)).count())?)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ff_core::backend::Perform;
    use ff_core::clock::ManualClock;
    use ff_core::contracts::HeartbeatArgs;
    use ff_core::entropy::SeededEntropy;
    use ff_core::partition::PartitionConfig;
    use ff_core::types::{Namespace, TimestampMs, WorkerId};
    use ff_engine::Orchestration;

    use super::*;

    fn worker(name: &str, namespace: &str) -> RegisterWorkerArgs {
        RegisterWorkerArgs {
            namespace: Namespace::parse(namespace).unwrap(),
            ttl_ms: 1_000,
            ..RegisterWorkerArgs::new(WorkerInstanceId::parse(name).unwrap(), WorkerId::parse("resizer").unwrap())
        }
    }

    #[tokio::test]
    async fn workers_are_listed_while_they_are_there_and_swept_when_they_are_gone() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededEntropy::new(1)));
        for (name, namespace) in [("a", "default"), ("b", "default"), ("c", "acme")] {
            store.register_worker(worker(name, namespace)).await.unwrap();
        }
        let mut args = ListWorkersArgs { namespace: Some(Namespace::default_name()), after: None, limit: 1 };
        let first = store.list_workers(args.clone()).await.unwrap();
        assert_eq!((first.workers[0].worker_instance_id.as_str(), first.next.as_ref().unwrap().as_str()), ("a", "a"));
        args.after = first.next;
        let second = store.list_workers(args.clone()).await.unwrap();
        assert_eq!((second.workers[0].worker_instance_id.as_str(), second.next), ("b", None));

        clock.advance(600);
        let b = HeartbeatArgs {
            namespace: Namespace::default_name(),
            worker_instance_id: WorkerInstanceId::parse("b").unwrap(),
        };
        store.heartbeat(b).await.unwrap();
        clock.advance(600);
        let all = ListWorkersArgs { namespace: None, after: None, limit: 9 };
        let there = store.list_workers(all).await.unwrap().workers;
        assert_eq!(there.iter().map(|worker| worker.worker_instance_id.as_str()).collect::<Vec<_>>(), ["b"]);
        let gone = store.sweep_workers().await.unwrap();
        assert_eq!(gone.iter().map(WorkerInstanceId::as_str).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(store.sweep_workers().await.unwrap(), []);
    }
}
