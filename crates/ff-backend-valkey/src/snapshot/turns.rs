//! The turns of keys in fair lanes.

use std::collections::BTreeSet;

use ff_core::backend::Answer;
use ff_core::backend::snapshot::Snapshot;
use ff_core::engine_error::EngineError;
use ff_core::fairness::{Turn, TurnQueue};
use ff_core::keys::IndexKeys;
use ff_core::types::{FairKey, Kind, LaneId, RequirementClass};
use redis::{FromRedisValue, cmd};

use crate::ValkeyBackend;

impl ValkeyBackend {
    /// Adds the turns of lanes whose work has keys. The executions and lanes must be in the snapshot already.
    pub(super) async fn add_turns(&self, snapshot: &mut Snapshot, keys: &IndexKeys) -> Answer<()> {
        let lanes: Vec<_> = snapshot.lanes.iter().filter(|(_, lane)| lane.keyed).map(|(key, _)| key.clone()).collect();
        for lane in lanes {
            let mut known = BTreeSet::from([FairKey::default()]);
            for queue in queues(snapshot, &lane) {
                let list = match &queue {
                    TurnQueue::Idle => keys.lane_turns_idle(&lane),
                    TurnQueue::Of(None, class) => keys.lane_turns(&lane, class),
                    TurnQueue::Of(Some(kind), class) => keys.lane_turns_kind(&lane, kind, class),
                };
                let members = self.scores::<FairKey>(&list).await?;
                known.extend(members.keys().cloned());
                if !members.is_empty() {
                    let members = members.into_iter().map(|(key, at)| (key, at.unsigned_abs()));
                    snapshot.turn_queues.insert((lane.clone(), queue), members.collect());
                }
            }
            let of_lane = snapshot.executions.values().filter(|execution| execution.lane_key() == lane);
            known.extend(of_lane.map(|execution| execution.fair_key.clone()));
            for key in known {
                if let Some(turn) = self.turn(&keys.lane_turn(&lane, &key)).await? {
                    snapshot.turns.insert((lane.clone(), key), turn);
                }
            }
        }
        Ok(())
    }

    async fn turn(&self, name: &str) -> Answer<Option<Turn>> {
        let reply = self.calls.plain(name, cmd("HGETALL").arg(name)).await?;
        let fields = Vec::<(String, String)>::from_redis_value(reply).unwrap_or_default();
        if fields.is_empty() {
            return Ok(None);
        }
        let mut turn = Turn::default();
        for (field, value) in fields {
            let unreadable = || EngineError::Corrupt(format!("{name} has a field {field:?} of {value:?}"));
            match field.split_once(' ') {
                None if field == "at" => turn.at = value.parse().map_err(|_| unreadable())?,
                None => turn.clock = value.parse().map_err(|_| unreadable())?,
                Some((kind, class)) => {
                    let kind = Kind::parse(kind).map_err(|_| unreadable())?;
                    let class = RequirementClass::parse(class).map_err(|_| unreadable())?;
                    turn.waiting.insert((kind, class), value.parse().map_err(|_| unreadable())?);
                }
            }
        }
        Ok(Some(turn))
    }
}

/// Returns every list of keys that a lane may have, from its executions and its requirement classes.
fn queues(snapshot: &Snapshot, lane: &LaneId) -> BTreeSet<TurnQueue> {
    let of_lane = snapshot.executions.values().filter(|execution| execution.lane_key() == *lane);
    let of_kind = of_lane.map(|execution| TurnQueue::Of(Some(execution.kind.clone()), execution.class()));
    let classes = snapshot.lanes.get(lane).into_iter().flat_map(|lane| lane.classes.iter().cloned());
    let of_class = classes.chain([RequirementClass::PLAIN]).map(|class| TurnQueue::Of(None, class));
    of_kind.chain(of_class).chain([TurnQueue::Idle]).collect()
}
