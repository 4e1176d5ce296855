//! Misses of lanes, turns, quotas, usage reports, schedules, key queues, workers, API keys and feeds, loaded with one query per
//! kind of record.

use std::collections::BTreeSet;

use ff_core::event::Feed;
use ff_core::fairness::TurnName;
use ff_core::quota::QuotaRowName;
use ff_core::schedule::ScheduleRef;
use ff_core::types::{ExecutionId, IdempotencyKey, KeyId, LaneId, Namespace, QuotaPolicyId, WorkerInstanceId};

use super::suspensions::{load, load_records};
use crate::batch_state::{BatchState, WriterCache};
use crate::budget::{key_of_report, read_report};
use crate::error::SqlError;
use crate::fairness::key_of_turn;
use crate::lane::key_of_lane;
use crate::queries::HELD_ON;
use crate::quota::{key_of_quota_row, key_of_quotas};
use crate::schedule::key_of_schedule;
use crate::session::Read;
use crate::singleton::{QueueId, key_of_queue, read_queue};
use crate::table::schema::{
    API_KEY, FEED, KEY_QUEUE, LANE, QUOTA_ROW, QUOTA_SET, SCHEDULE, TURN, USAGE_REPORT, WORKER,
};
use crate::table::value::Row;

/// The misses of a batch, each once, and always in the same order.
#[derive(Clone, Default)]
pub(super) struct RegistryMisses {
    pub(super) lanes: BTreeSet<(u16, LaneId)>,
    pub(super) held_counts: BTreeSet<(u16, LaneId)>,
    pub(super) key_queues: BTreeSet<QueueId>,
    pub(super) turns: BTreeSet<TurnName>,
    pub(super) quotas: BTreeSet<(u16, Namespace)>,
    pub(super) quota_rows: BTreeSet<(QuotaPolicyId, QuotaRowName)>,
    pub(super) schedules: BTreeSet<(u16, ScheduleRef)>,
    pub(super) usage_reports: BTreeSet<(ExecutionId, IdempotencyKey)>,
    pub(super) workers: BTreeSet<WorkerInstanceId>,
    pub(super) api_keys: BTreeSet<KeyId>,
    pub(super) feeds: BTreeSet<u16>,
}

impl RegistryMisses {
    /// Loads all misses. An unreadable record fails only the operations that need it.
    pub(super) async fn load(self, reader: &mut dyn Read, state: &mut BatchState) -> Result<(), SqlError> {
        let key = |(partition, lane): &(u16, LaneId)| key_of_lane(lane, *partition);
        load_records(reader, &mut state.cache.lanes, self.lanes, &LANE, key).await?;
        let table = (&KEY_QUEUE, &["executions"][..]);
        load(reader, &mut state.key_queues, self.key_queues, table, key_of_queue, read_queue).await?;
        load_records(reader, &mut state.turns.turns, self.turns, &TURN, key_of_turn).await?;
        let key = |(partition, namespace): &(u16, Namespace)| key_of_quotas(namespace, *partition);
        load_records(reader, &mut state.cache.quotas, self.quotas, &QUOTA_SET, key).await?;
        let key = |(policy_id, name): &(QuotaPolicyId, QuotaRowName)| key_of_quota_row(policy_id, name);
        load_records(reader, &mut state.quota_rows, self.quota_rows, &QUOTA_ROW, key).await?;
        load_records(reader, &mut state.schedules, self.schedules, &SCHEDULE, key_of_schedule).await?;
        let table = (&USAGE_REPORT, &["until"][..]);
        load(reader, &mut state.usage_reports, self.usage_reports, table, key_of_report, read_report).await?;
        let key = |instance: &WorkerInstanceId| vec![instance.as_str().into()];
        load_records(reader, &mut state.workers, self.workers, &WORKER, key).await?;
        load_records(reader, &mut state.api_keys, self.api_keys, &API_KEY, |id| vec![id.as_str().into()]).await?;
        load_feeds(reader, &mut state.cache, self.feeds).await?;
        load_held(reader, state, self.held_counts.into_iter().collect()).await
    }
}

/// Loads the feeds of these partitions.
pub(super) async fn load_feeds(
    reader: &mut dyn Read,
    cache: &mut WriterCache,
    partitions: BTreeSet<u16>,
) -> Result<(), SqlError> {
    let feed = |_: &u16, row: &Row| Ok(Feed { since: row.moment(0)?, until: row.moment(1)? });
    let table = (&FEED, &["since", "until"][..]);
    load(reader, &mut cache.feeds, partitions, table, |partition| vec![(*partition).into()], feed).await
}

async fn load_held(reader: &mut dyn Read, state: &mut BatchState, lanes: Vec<(u16, LaneId)>) -> Result<(), SqlError> {
    let parameters = |(partition, lane): &(u16, LaneId)| vec![(*partition).into(), lane.as_str().into()];
    let found = reader.query(HELD_ON, &lanes.iter().map(parameters).collect::<Vec<_>>()).await?;
    for ((partition, lane), rows) in lanes.into_iter().zip(found) {
        let count = rows.first().map_or(Ok(0), |row| row.count(0))?;
        state.lay_held(partition, lane, count);
    }
    Ok(())
}
