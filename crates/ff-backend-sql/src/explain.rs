//! What is read to explain an execution: how its lane is configured, what is ahead of it, and what runs of a lane with a limit.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::LaneInfo;
use ff_core::explain::{AHEAD_MAX, HOLDERS_MAX, QueueArgs, QueueFacts};
use ff_core::lane::Lane;
use ff_core::partition::lane_partition;
use ff_core::query::DescribeLiveLane;
use uuid::Uuid;

use crate::lane::{describe, key_of_lane};
use crate::queries::LEASES_ON;
use crate::schema::LANE;
use crate::session::{Question, Read};
use crate::value::Value;
use crate::{ReadContext, record};

/// How many waiting executions of a lane and kind on a partition have a higher priority, at most so many.
pub(crate) const AHEAD_BY_PRIORITY: &str = "\
    SELECT count(*) FROM (SELECT 1 FROM ready \
        WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 AND priority > $5 LIMIT $6) AS ahead";

/// How many of them have the same priority and are older, or of the same age and of a smaller id.
pub(crate) const AHEAD_BY_AGE: &str = "\
    SELECT count(*) FROM (SELECT 1 FROM ready \
        WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 AND priority = $5 \
        AND (created_at, uuid) < ($6, $7) LIMIT $8) AS ahead";

#[async_trait]
impl Question for QueueArgs {
    type Answer = QueueFacts;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<QueueFacts> {
        let key = self.lane.within(&self.namespace);
        let home = key_of_lane(&key, lane_partition(&key, &at.partitions));
        let rows = reader.load(&LANE, LANE.named(&["record"]), &[home]).await?;
        let known = rows.iter().flatten().next().map(|row| record::read::<Lane>(row.text(0)?)).transpose()?;
        let settings = known.map(|lane| lane.settings).unwrap_or_default();
        let mut facts = QueueFacts { settings, ..QueueFacts::default() };
        let (own, most) = (self.execution_id.partition(), || Value::number(AHEAD_MAX + 1));
        let on_each = || 0..at.partitions.num_flow_partitions;
        let queue = |partition: u16| {
            let (lane, class, kind) = (key.as_str(), self.class.as_str(), self.kind.as_str());
            [partition.into(), lane.into(), class.into(), kind.into(), self.priority.get().into()]
        };
        let by_priority = on_each().map(|partition| [&queue(partition)[..], &[most()]].concat()).collect::<Vec<_>>();
        let by_age = on_each().map(|partition| {
            let before = if partition == own { self.execution_id.uuid() } else { Uuid::nil() };
            [&queue(partition)[..], &[self.created_at.into(), Value::Uuid(before), most()]].concat()
        });
        let by_age: Vec<_> = by_age.collect();
        for (sql, parameters) in [(AHEAD_BY_PRIORITY, by_priority), (AHEAD_BY_AGE, by_age)] {
            for row in reader.query(sql, &parameters).await?.iter().flatten() {
                let ahead: u64 = row.count(0)?;
                facts.ahead = (facts.ahead + ahead).min(AHEAD_MAX + 1);
            }
        }
        if settings.concurrency.is_some() {
            let mut held = Vec::new();
            let parameters: Vec<_> = on_each().map(|partition| vec![partition.into()]).collect();
            for (partition, rows) in on_each().zip(reader.query(LEASES_ON, &parameters).await?) {
                for row in rows.iter().filter(|row| row.text(2).is_ok_and(|lane| lane == key.as_str())) {
                    held.push((row.int(3)?, row.id(0, partition)?));
                }
            }
            held.sort_unstable();
            facts.active = held.len() as u64;
            facts.running = held.into_iter().take(HOLDERS_MAX).map(|(_, id)| id).collect();
        }
        Ok(facts)
    }
}

#[async_trait]
impl Question for DescribeLiveLane {
    type Answer = LaneInfo;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<LaneInfo> {
        Ok(describe(reader, self.lane.within(&self.namespace), &at.partitions, false).await?.0)
    }
}
