//! Reads that explain an execution: its lane's configuration, the work ahead of it, and a limited lane's running work.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::LaneInfo;
use ff_core::explain::{AHEAD_MAX, HOLDERS_MAX, LANE_COUNT_MAX, QueueArgs, QueueFacts};
use ff_core::lane::Lane;
use ff_core::operation::query::DescribeLiveLane;
use ff_core::partition::lane_partition;
use uuid::Uuid;

use crate::ReadContext;
use crate::error::SqlError;
use crate::execution::class_word;
use crate::fairness::keys_ahead;
use crate::lane::{Counting, describe, growing_spans, key_of_lane};
use crate::queries::LEASES_ON;
use crate::session::{Question, Read, load_record};
use crate::table::schema::LANE;
use crate::table::value::Value;

/// Counts the waiting executions of a queue on a partition with a higher priority, up to a limit.
pub(crate) const AHEAD_BY_PRIORITY: &str = "\
    SELECT count(*) FROM (SELECT 1 FROM ready \
        WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 AND priority > $5 LIMIT $6) AS ahead";

/// Counts those with the same priority that are older, or as old with a smaller id, up to a limit.
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
        let known: Option<Lane> = load_record(reader, &LANE, home).await?;
        let settings = known.map(|lane| lane.settings).unwrap_or_default();
        let is_limited = settings.concurrency.is_some();
        let mut facts = QueueFacts { settings, ..QueueFacts::default() };
        facts.keys_ahead = keys_ahead(reader, &self).await?;
        facts.ahead = ahead_of(reader, &self, key.as_str(), at.partitions.num_flow_partitions).await?;
        if is_limited {
            let mut held = Vec::new();
            let partitions = 0..at.partitions.num_flow_partitions;
            let parameters: Vec<_> = partitions.clone().map(|partition| vec![partition.into()]).collect();
            for (partition, rows) in partitions.zip(reader.query(LEASES_ON, &parameters).await?) {
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
        let counting = Counting { finished: false, most: LANE_COUNT_MAX + 1 };
        Ok(describe(reader, self.lane.within(&self.namespace), &at.partitions, counting).await?.0)
    }
}

/// Counts the executions that are claimed before a given one, up to one more than is reported.
async fn ahead_of(reader: &mut dyn Read, one: &QueueArgs, lane: &str, partitions: u16) -> Result<u64, SqlError> {
    let mut ahead = 0;
    // A long queue reaches the limit after few partitions, and a short one takes few queries.
    for span in growing_spans(partitions, true) {
        if ahead > AHEAD_MAX {
            break;
        }
        let left = || Value::number(AHEAD_MAX + 1 - ahead);
        let (class, kind) = (class_word(&one.class, &one.key), one.kind.as_str());
        let queue =
            |partition: u16| [partition.into(), lane.into(), class.clone(), kind.into(), one.priority.get().into()];
        let by_priority = span.clone().map(|partition| [&queue(partition)[..], &[left()]].concat());
        let by_age = span.map(|partition| {
            let own = partition == one.execution_id.partition();
            let before = if own { one.execution_id.uuid() } else { Uuid::nil() };
            [&queue(partition)[..], &[one.created_at.into(), Value::Uuid(before), left()]].concat()
        });
        let asked_for = [(AHEAD_BY_PRIORITY, by_priority.collect::<Vec<_>>()), (AHEAD_BY_AGE, by_age.collect())];
        for (sql, parameters) in asked_for {
            for row in reader.query(sql, &parameters).await?.iter().flatten() {
                let counted: u64 = row.count(0)?;
                ahead += counted;
            }
        }
    }
    Ok(ahead.min(AHEAD_MAX + 1))
}
