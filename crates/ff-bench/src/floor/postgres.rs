//! The floor on Postgres: one table with one index, an INSERT and two UPDATEs per lifecycle, each for a batch of jobs at once.

use std::time::{Duration, Instant};

use anyhow::ensure;
use futures_util::future::try_join_all;
use tokio_postgres::{Client, Statement};

use crate::store::{Database, FloorLoad};

const SCHEMA: &str = "
    DROP TABLE IF EXISTS flowfabric_floor;
    CREATE TABLE flowfabric_floor (
        id bigint PRIMARY KEY, state smallint NOT NULL, priority integer NOT NULL, created bigint NOT NULL,
        lease bigint, payload bytea NOT NULL
    )";

const CREATE: &str = "
    INSERT INTO flowfabric_floor (id, state, priority, created, payload)
    SELECT id, 0, 0, id, payload FROM unnest($1::int8[], $2::bytea[]) AS new(id, payload)";

const CLAIM: &str = "
    UPDATE flowfabric_floor AS job SET state = 1, lease = $1
    FROM unnest($2::int8[]) AS wanted(id) WHERE job.id = wanted.id AND job.state = 0 RETURNING job.id, job.payload";

const COMPLETE: &str = "
    UPDATE flowfabric_floor AS job SET state = 2, lease = NULL
    FROM unnest($1::int8[]) AS done(id) WHERE job.id = done.id AND job.state = 1";

/// A queue in a separate table, which is dropped at the end.
pub(crate) struct PostgresFloor<'d>(&'d Database);

impl<'d> PostgresFloor<'d> {
    pub(crate) fn over(database: &'d Database) -> Self {
        Self(database)
    }

    /// Takes every job through its lifecycle, over as many connections as the store has writers.
    pub(crate) async fn run(self, load: &FloorLoad) -> anyhow::Result<Duration> {
        let owner = self.0.another().await?;
        owner.batch_execute(SCHEMA).await?;
        let (writers, per_writer) = (self.0.writers(), load.count.div_ceil(self.0.writers()));
        let starts = (0..load.count).step_by(per_writer.max(1));
        let mut queues = Vec::with_capacity(writers);
        for first in starts {
            let jobs = per_writer.min(load.count - first);
            queues.push(Queue::prepare(self.0.another().await?, first, jobs).await?);
        }
        let began = Instant::now();
        try_join_all(queues.iter().map(|queue| queue.run(load))).await?;
        let took = began.elapsed();
        let undone = "SELECT count(*) FROM flowfabric_floor WHERE state <> 2";
        let undone: i64 = owner.query_one(undone, &[]).await?.get(0);
        owner.batch_execute("DROP TABLE flowfabric_floor").await?;
        ensure!(undone == 0, "the floor left {undone} jobs undone");
        Ok(took)
    }
}

/// The jobs of one connection.
struct Queue {
    client: Client,
    create: Statement,
    claim: Statement,
    complete: Statement,
    first: usize,
    jobs: usize,
}

impl Queue {
    async fn prepare(client: Client, first: usize, jobs: usize) -> anyhow::Result<Self> {
        // As in the store: statements are planned once, and use the index although the table is new.
        client.batch_execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off").await?;
        let (create, claim) = (client.prepare(CREATE).await?, client.prepare(CLAIM).await?);
        let complete = client.prepare(COMPLETE).await?;
        Ok(Self { client, create, claim, complete, first, jobs })
    }

    async fn run(&self, load: &FloorLoad) -> anyhow::Result<()> {
        let batch = load.batch.max(1);
        for from in (self.first..self.first + self.jobs).step_by(batch) {
            let jobs = batch.min(self.first + self.jobs - from);
            let ids = (from..from + jobs).map(i64::try_from).collect::<Result<Vec<_>, _>>()?;
            let payloads = vec![load.payload.as_slice(); jobs];
            self.client.execute(&self.create, &[&ids, &payloads]).await?;
            let claimed = self.client.query(&self.claim, &[&1_i64, &ids]).await?;
            let claimed: Vec<i64> = claimed.iter().map(|row| row.get(0)).collect();
            self.client.execute(&self.complete, &[&claimed]).await?;
        }
        Ok(())
    }
}
