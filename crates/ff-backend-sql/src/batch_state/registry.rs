//! Changes of workers, key queues, schedules and quotas.

use ff_core::backend::hint::{quota_hints, schedule_hints, worker_hints};
use ff_core::quota::QuotaWrites;
use ff_core::schedule::ScheduleWrite;
use ff_core::singleton::KeyQueue;
use ff_core::worker::WorkerChange;

use super::BatchState;
use crate::singleton::id_of_queue;

impl BatchState {
    /// Applies the change of a worker instance.
    pub(crate) fn apply_to_worker(&mut self, change: WorkerChange) {
        match change {
            WorkerChange::Put(worker) => {
                let before = self.workers.find(&worker.worker_instance_id).flatten();
                self.hints.extend(worker_hints(before, &worker));
                self.workers.write(worker.worker_instance_id.clone(), worker);
            }
            WorkerChange::Remove { worker_instance_id, .. } => self.workers.remove(worker_instance_id),
        }
    }

    /// Applies the change of a key queue.
    pub(crate) fn apply_to_key_queue(&mut self, queue: KeyQueue) {
        let id = id_of_queue(&queue);
        if queue.executions.is_empty() { self.key_queues.remove(id) } else { self.key_queues.write(id, queue) }
    }

    /// Applies the write of a schedule.
    pub(crate) fn apply_to_schedule(&mut self, write: ScheduleWrite) {
        self.hints.extend(schedule_hints(&write));
        let id = (write.partition, write.schedule);
        match write.record {
            Some(record) => self.schedules.write(id, *record),
            None => self.schedules.remove(id),
        }
    }

    /// Applies the writes of quotas.
    pub(crate) fn apply_to_quotas(&mut self, writes: QuotaWrites) {
        self.hints.extend(quota_hints(&writes));
        for (partition, set) in writes.sets {
            self.cache.quotas.write((partition, set.namespace.clone()), set);
        }
        for (policy_id, name, row) in writes.rows {
            match row {
                Some(row) => self.quota_rows.write((policy_id, name), row),
                None => self.quota_rows.remove((policy_id, name)),
            }
        }
    }
}
