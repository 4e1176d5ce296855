//! The room of workers, over the model.

use async_trait::async_trait;
use ff_core::backend::{Answer, WorkerRoom};
use ff_core::clock::Clock;
use ff_core::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    WorkersPage,
};
use ff_core::limits;

use crate::MemoryBackend;

#[async_trait]
impl WorkerRoom for MemoryBackend {
    async fn register_worker(&self, args: RegisterWorkerArgs) -> Answer<RegisteredWorker> {
        args.check()?;
        // As long as all tenants together have fewer than one may, nobody need be counted.
        let (model, now) = (self.model()?, self.clock.now());
        if model.workers().len() >= limits::WORKERS {
            args.check_room(model.workers().filter(|worker| args.is_beside(worker, now)).count())?;
        }
        drop(model);
        self.ask(args)
    }

    async fn heartbeat(&self, args: HeartbeatArgs) -> Answer<SeenWorker> {
        self.ask(args)
    }

    async fn leave(&self, args: LeaveArgs) -> Answer<LeftWorker> {
        self.ask(args)
    }

    async fn list_workers(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        args.check()?;
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

    use ff_core::backend::Upkeep;
    use ff_core::clock::ManualClock;
    use ff_core::dice::SeededDice;
    use ff_core::partition::PartitionConfig;
    use ff_core::types::{LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

    use super::*;

    fn worker(name: &str, namespace: &str) -> RegisterWorkerArgs {
        RegisterWorkerArgs {
            worker_instance_id: WorkerInstanceId::parse(name).unwrap(),
            worker_id: WorkerId::parse("resizer").unwrap(),
            namespace: Namespace::parse(namespace).unwrap(),
            lanes: [LaneId::default_name()].into(),
            kinds: [].into(),
            capabilities: [].into(),
            ttl_ms: 1_000,
        }
    }

    #[tokio::test]
    async fn workers_are_listed_while_they_are_there_and_swept_when_they_are_gone() {
        let clock = Arc::new(ManualClock::at(TimestampMs(1)));
        let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SeededDice::new(1)));
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
