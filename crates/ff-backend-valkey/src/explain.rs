//! Reads that explain an execution or a lane, on Valkey.

use ff_core::backend::{Answer, Handle};
use ff_core::contracts::LaneInfo;
use ff_core::engine_error::EngineError;
use ff_core::explain::{AHEAD_MAX, HOLDERS_MAX, QueueArgs, QueueFacts};
use ff_core::operation::query::DescribeLiveLane;
use ff_core::partition::lane_partition;
use ff_core::rule::index::{Index, eligible_score};
use ff_core::types::{ExecutionId, LaneId};
use ff_script::execution::index_keys;
use ff_script::lane::ff_read_lanes;
use futures_util::{StreamExt, TryStreamExt, stream};
use redis::{Cmd, FromRedisValue, cmd};

use crate::ValkeyBackend;
use crate::backend::functions;

/// Maximum number of partitions asked at the same time.
const AT_ONCE: usize = 64;

impl Handle<QueueArgs, QueueFacts> for ValkeyBackend {
    async fn handle(&self, args: QueueArgs) -> Answer<QueueFacts> {
        let key = args.lane.within(&args.namespace);
        let home = lane_partition(&key, &self.partitions);
        let at_home = ff_read_lanes(&*self.calls, home, std::slice::from_ref(&key)).await?.pop();
        let settings = at_home.and_then(|fields| fields.lane).map(|lane| lane.settings).unwrap_or_default();
        let is_limited = settings.concurrency.is_some();
        let mut facts = QueueFacts { settings, ..QueueFacts::default() };
        facts.keys_ahead = self.keys_ahead(&args).await?;
        let partitions: Vec<_> = self.partitions_of(&args.namespace).await?.collect();
        let ahead = partitions.iter().map(|partition| self.ahead_on(*partition, &key, &args));
        let ahead: Vec<u64> = stream::iter(ahead.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
        facts.ahead = ahead.iter().sum::<u64>().min(AHEAD_MAX + 1);
        if is_limited {
            let held = partitions.iter().map(|partition| self.held_on(*partition, &key));
            let held: Vec<_> = stream::iter(held.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
            facts.active = held.iter().map(|(count, _)| count).sum();
            let mut first: Vec<_> = held.into_iter().flat_map(|(_, first)| first).collect();
            first.sort_unstable();
            facts.running = first.into_iter().take(HOLDERS_MAX).map(|(_, id)| id).collect();
        }
        Ok(facts)
    }
}

functions! {
    DescribeLiveLane => LaneInfo: |store, DescribeLiveLane { namespace, lane }|
        store.lane_info(lane.within(&namespace), false);
}

impl ValkeyBackend {
    /// Returns the number of executions in a queue of a partition that come before an execution. On the execution's own
    /// partition these include those of the same score with a smaller id.
    async fn ahead_on(&self, partition: u16, lane: &LaneId, args: &QueueArgs) -> Answer<u64> {
        let keys = index_keys(partition);
        let queue = Index::queue(lane.clone(), args.kind.clone(), args.class.clone(), args.key.clone()).key(&keys);
        if partition == args.execution_id.partition() {
            let rank = self.read(&queue, cmd("ZRANK").arg(&queue).arg(args.execution_id.to_string())).await?;
            if let Some(rank) = rank {
                return Ok(rank);
            }
        }
        let score = eligible_score(args.priority, args.created_at);
        self.read(&queue, cmd("ZCOUNT").arg(&queue).arg("-inf").arg(format!("({score}"))).await
    }

    /// Returns the number of keys whose turn comes before that of an execution's key, at most one more than is
    /// reported.
    async fn keys_ahead(&self, args: &QueueArgs) -> Answer<Option<u64>> {
        if args.key.is_empty() {
            return Ok(None);
        }
        let name = args.turn();
        let keys = index_keys(name.partition);
        let list = keys.lane_turns_kind(&name.lane, &args.kind, &args.class);
        let rank: Option<u64> = self.read(&list, cmd("ZRANK").arg(&list).arg(args.key.as_str())).await?;
        Ok(rank.map(|rank| rank.min(AHEAD_MAX + 1)))
    }

    /// Returns the number of running executions of a lane on a partition, and the first of them with the times of their
    /// claims.
    async fn held_on(&self, partition: u16, lane: &LaneId) -> Answer<(u64, Vec<(i64, ExecutionId)>)> {
        let keys = index_keys(partition);
        let active = Index::LaneActive(lane.clone()).key(&keys);
        let count = self.read(&active, cmd("ZCARD").arg(&active)).await?;
        let last = HOLDERS_MAX - 1;
        let first: Vec<(String, f64)> =
            self.read(&active, cmd("ZRANGE").arg(&active).arg(0).arg(last).arg("WITHSCORES")).await?;
        #[allow(clippy::cast_possible_truncation, reason = "scores are whole and exact in a double")]
        let row = |(id, at): (String, f64)| match id.parse() {
            Ok(id) => Ok((at as i64, id)),
            Err(error) => Err(EngineError::Corrupt(format!("{active} has a member {id:?}: {error}"))),
        };
        Ok((count, first.into_iter().map(row).collect::<Result<_, _>>()?))
    }

    async fn read<T: FromRedisValue>(&self, key: &str, command: &Cmd) -> Answer<T> {
        let reply = self.calls.plain(key, command).await?;
        T::from_redis_value(reply).map_err(|error| EngineError::Corrupt(format!("{key}: {error}")))
    }
}
