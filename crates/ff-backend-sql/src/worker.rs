//! The domain of workers: their rows and queries.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{ListWorkersArgs, RegisterWorkerArgs, WorkersPage};
use ff_core::limits;
use ff_core::operation::query::ListSweepableWorkers;
use ff_core::types::WorkerInstanceId;
use ff_core::worker::Worker;

use crate::ReadContext;
use crate::error::SqlError;
use crate::queries::{WORKERS_AFTER, WORKERS_BEYOND};
use crate::session::{Put, Question, Read};
use crate::table::record;
use crate::table::value::{Row, Value};

/// Returns the row of a worker instance.
pub(crate) fn worker_of(worker: &Worker) -> Result<Put, SqlError> {
    let values = vec![worker.worker_instance_id.as_str().into(), worker.partition.into(), record::written(worker)?];
    Ok(Put::whole(values))
}

#[async_trait]
impl Question for ListWorkersArgs {
    type Answer = WorkersPage;

    const IS_TIMED: bool = true;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<WorkersPage> {
        let args = self;
        let mut page = WorkersPage { workers: Vec::new(), next: None };
        let mut all = Workers { last: args.after.clone(), ended: false };
        while let Some(workers) = all.next(reader).await? {
            for worker in workers.into_iter().filter(|worker| args.wants(worker, at.now)) {
                if page.workers.len() == args.limit {
                    page.next = page.workers.last().map(|last| last.worker_instance_id.clone());
                    return Ok(page);
                }
                page.workers.push(worker);
            }
        }
        Ok(page)
    }
}

/// The question whether a namespace may have another worker instance.
pub(crate) struct CheckCapacity(pub RegisterWorkerArgs);

#[async_trait]
impl Question for CheckCapacity {
    type Answer = ();

    const IS_TIMED: bool = true;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<()> {
        // If the whole store has fewer workers than one namespace may have, no namespace has to be counted.
        let many = vec!["".into(), Value::number(limits::WORKERS - 1)];
        if reader.query(WORKERS_BEYOND, &[many]).await?.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let mut others = 0;
        let mut all = Workers { last: None, ended: false };
        while let Some(workers) = all.next(reader).await? {
            others += workers.iter().filter(|worker| self.0.counts_towards_limit(worker, at.now)).count();
        }
        Ok(self.0.check_capacity(others)?)
    }
}

#[async_trait]
impl Question for ListSweepableWorkers {
    type Answer = Vec<WorkerInstanceId>;

    const IS_TIMED: bool = true;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Vec<WorkerInstanceId>> {
        let mut gone = Vec::new();
        let mut all = Workers { last: None, ended: false };
        while let Some(workers) = all.next(reader).await? {
            let here = workers.into_iter().filter(|worker| worker.is_gone(at.now));
            gone.extend(here.map(|worker| worker.worker_instance_id));
        }
        Ok(gone)
    }
}

/// A page-by-page read of all known worker instances.
struct Workers {
    last: Option<WorkerInstanceId>,
    ended: bool,
}

impl Workers {
    async fn next(&mut self, reader: &mut dyn Read) -> Result<Option<Vec<Worker>>, SqlError> {
        if self.ended {
            return Ok(None);
        }
        let after = self.last.as_ref().map_or("", WorkerInstanceId::as_str);
        let rows = reader.query(WORKERS_AFTER, &[vec![after.into(), Value::number(limits::PAGE)]]).await?;
        let worker = |row: &Row| record::read(row.text(0)?);
        let workers = rows.iter().flatten().map(worker).collect::<Result<Vec<Worker>, SqlError>>()?;
        self.ended = workers.len() < limits::PAGE;
        self.last = workers.last().map(|last| last.worker_instance_id.clone());
        Ok(Some(workers))
    }
}
