//! The domain of workers, on Valkey.

use std::collections::BTreeSet;

use ff_core::backend::hint::Hint;
use ff_core::backend::{Answer, EngineStore, Handle};
use ff_core::contracts::{
    HeartbeatArgs, LeaveArgs, LeftWorker, ListWorkersArgs, RegisterWorkerArgs, RegisteredWorker, SeenWorker,
    SweepWorkerArgs, SweptWorker, WorkersPage,
};
use ff_core::engine_error::EngineError;
use ff_core::keys::{worker_caps_key, worker_key, workers_capability_key, workers_index_key};
use ff_core::limits;
use ff_core::operation::query::ListSweepableWorkers;
use ff_core::partition::worker_partition;
use ff_core::types::{Capability, TimestampMs, WorkerInstanceId};
use ff_core::worker::Worker;
use ff_script::engine::ff_now;
use ff_script::worker::{ff_heartbeat_worker, ff_leave_worker, ff_register_worker, ff_sweep_worker, read_worker};
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::cmd;

use crate::ValkeyBackend;
use crate::link::value;

/// Maximum number of worker instances read at the same time.
const AT_ONCE: usize = 64;

impl Handle<RegisterWorkerArgs, RegisteredWorker> for ValkeyBackend {
    async fn handle(&self, args: RegisterWorkerArgs) -> Answer<RegisteredWorker> {
        let id = &args.worker_instance_id;
        self.check_capacity(&args).await?;
        // Write the directory first, so that no registered worker is missing from listings.
        let index = workers_index_key();
        self.calls.plain(&index, cmd("SADD").arg(&index).arg(id.as_str())).await?;
        let registered = ff_register_worker(&*self.calls, &args, self.time_of(id).await?).await?;
        self.list_capabilities(id, &args.capabilities).await?;
        if !args.capabilities.is_empty() {
            self.announce(vec![Hint::WorkersChanged]).await?;
        }
        Ok(registered)
    }
}

impl Handle<HeartbeatArgs, SeenWorker> for ValkeyBackend {
    async fn handle(&self, args: HeartbeatArgs) -> Answer<SeenWorker> {
        let now = self.time_of(&args.worker_instance_id).await?;
        Ok(ff_heartbeat_worker(&*self.calls, &args, now).await?)
    }
}

impl Handle<LeaveArgs, LeftWorker> for ValkeyBackend {
    async fn handle(&self, args: LeaveArgs) -> Answer<LeftWorker> {
        let left = ff_leave_worker(&*self.calls, &args).await?;
        if !left.already {
            self.unlist(&args.worker_instance_id).await?;
        }
        Ok(left)
    }
}

impl Handle<ListWorkersArgs, WorkersPage> for ValkeyBackend {
    async fn handle(&self, args: ListWorkersArgs) -> Answer<WorkersPage> {
        let mut ids = self.listed_workers().await?;
        ids.retain(|id| args.after.as_ref().is_none_or(|after| id > after));
        let mut page = WorkersPage { workers: Vec::new(), next: None };
        let wanted = |id: WorkerInstanceId| async {
            let Some(worker) = self.worker(id).await? else { return Answer::Ok(None) };
            let now = self.time_of(&worker.worker_instance_id).await?;
            Ok(args.wants(&worker, now).then_some(worker))
        };
        // The loop awaits nothing else, because these reads are not polled meanwhile.
        let mut read = stream::iter(ids).map(wanted).buffered(AT_ONCE);
        while let Some(worker) = read.try_next().await? {
            let Some(worker) = worker else { continue };
            if page.workers.len() == args.limit {
                page.next = page.workers.last().map(|last: &Worker| last.worker_instance_id.clone());
                break;
            }
            page.workers.push(worker);
        }
        Ok(page)
    }
}

impl Handle<ListSweepableWorkers, Vec<WorkerInstanceId>> for ValkeyBackend {
    async fn handle(&self, _: ListSweepableWorkers) -> Answer<Vec<WorkerInstanceId>> {
        self.listed_workers().await
    }
}

impl Handle<SweepWorkerArgs, SweptWorker> for ValkeyBackend {
    /// Also removes the instance from the list when it is no longer registered.
    async fn handle(&self, SweepWorkerArgs { worker_instance_id: id }: SweepWorkerArgs) -> Answer<SweptWorker> {
        let (swept, is_known) = ff_sweep_worker(&*self.calls, &id, self.time_of(&id).await?).await?;
        if !is_known {
            self.unlist(&id).await?;
        }
        Ok(swept)
    }
}

impl ValkeyBackend {
    /// Refuses a worker instance when its namespace has too many. The workers of the namespace are counted only if all
    /// namespaces together have as many as one may have.
    async fn check_capacity(&self, args: &RegisterWorkerArgs) -> Answer<()> {
        let index = workers_index_key();
        if self.calls.read::<usize>(&index, cmd("SCARD").arg(&index), "is not a set").await? < limits::WORKERS {
            return Ok(());
        }
        let now = self.time_of(&args.worker_instance_id).await?;
        let listed = stream::iter(self.listed_workers().await?);
        let mut read = listed.map(|id| self.worker(id)).buffer_unordered(AT_ONCE);
        let mut others = 0;
        while let Some(worker) = read.try_next().await? {
            others += usize::from(worker.is_some_and(|worker| args.counts_towards_limit(&worker, now)));
        }
        Ok(args.check_capacity(others)?)
    }

    /// Returns every listed worker instance, in the order of the names.
    pub(crate) async fn listed_workers(&self) -> Answer<Vec<WorkerInstanceId>> {
        self.calls.members(&workers_index_key(), "names something that is not a worker").await
    }

    /// Returns a worker instance, if it is known.
    pub(crate) async fn worker(&self, id: WorkerInstanceId) -> Answer<Option<Worker>> {
        let key = worker_key(&id);
        let partition = worker_partition(&id, &self.partitions);
        let ff_script::Value::List(fields) = value(self.calls.plain(&key, cmd("HGETALL").arg(&key)).await?) else {
            return Err(EngineError::Corrupt(format!("{key} is not a hash")));
        };
        Ok(read_worker(id, partition, fields)?)
    }

    /// Removes a worker instance from the lists. An instance that registers again meanwhile is only missing from
    /// listings until its next registration.
    async fn unlist(&self, id: &WorkerInstanceId) -> Answer<()> {
        let index = workers_index_key();
        self.list_capabilities(id, &BTreeSet::new()).await?;
        self.calls.plain(&index, cmd("SREM").arg(&index).arg(id.as_str())).await?;
        Ok(())
    }

    /// Adds a worker instance to the lists of its capabilities, and removes it from the lists of capabilities that it
    /// no longer has. The lists may name too many instances, but never too few.
    async fn list_capabilities(&self, id: &WorkerInstanceId, capabilities: &BTreeSet<Capability>) -> Answer<()> {
        let listed = |command: &'static str, capability: Capability| async move {
            let (key, value) = capability.parts();
            let index = workers_capability_key(key, value);
            self.calls.plain(&index, cmd(command).arg(&index).arg(id.as_str())).await
        };
        for capability in capabilities {
            listed("SADD", capability.clone()).await?;
        }
        let (caps, words) = (worker_caps_key(id), capabilities.iter().map(Capability::as_str).collect::<Vec<_>>());
        let command = match words.is_empty() {
            true => cmd("GETDEL").arg(&caps).clone(),
            false => cmd("SET").arg(&caps).arg(words.join(",")).arg("GET").clone(),
        };
        let before: Option<String> = self.calls.read(&caps, &command, "is not a text").await?;
        let before = before.iter().flat_map(|before| before.split(',')).filter_map(|word| Capability::parse(word).ok());
        for dropped in before.filter(|capability| !capabilities.contains(capability)) {
            listed("SREM", dropped).await?;
        }
        Ok(())
    }

    /// Returns the time on the partition that orders the changes of a worker instance.
    async fn time_of(&self, id: &WorkerInstanceId) -> Answer<TimestampMs> {
        Ok(ff_now(&*self.calls, worker_partition(id, &self.partitions)).await?)
    }
}
