//! The order of a claim: the executions that come first, and the later turns of the keys that were served.

use std::collections::{BTreeMap, BTreeSet};

use super::{Turn, TurnName, TurnQueue, TurnWrite, TurnsQuery};
use crate::lane::Lane;
use crate::limits;
use crate::rule::view::{EligibleQuery, Stop, View, require_all};
use crate::types::{ExecutionId, FairKey, Kind, RequirementClass};

/// A key with waiting executions that a claim may take.
struct Candidate {
    at: u64,
    key: FairKey,
    step: u64,
    /// Number of its executions that may be taken.
    available: usize,
    query: EligibleQuery,
    taken: usize,
}

/// Returns the first executions for a claim of a fair lane, in the order of the turns and at most `plain.limit`. `plain`
/// is the claim's query for the empty key.
pub(crate) fn first(view: &dyn View, lane: &Lane, plain: &EligibleQuery) -> Result<Vec<ExecutionId>, Stop> {
    let (partition, limit) = (plain.partition, plain.limit);
    let name = |key: FairKey| TurnName { partition, lane: plain.lane.clone(), key };
    let queries = queries(plain);
    let idle = idle(partition, lane);
    let lists = queries.iter().chain([&idle]).map(|query| view.turns(query).map(drop));
    let known = [view.turn(&name(FairKey::default())).map(drop), view.eligible(plain).map(drop)];
    require_all(lists.chain(known))?;
    let mut keys = BTreeSet::new();
    for query in &queries {
        keys.extend(view.turns(query)?);
    }
    let keys: Vec<_> = keys.into_iter().take(limit).collect();
    require_all(keys.iter().map(|(_, key)| view.turn(&name(key.clone())).map(drop)))?;
    let clock = view.turn(&name(FairKey::default()))?.cloned().unwrap_or_default();
    let mut candidates = vec![Candidate {
        at: clock.at.max(clock.clock),
        key: FairKey::default(),
        step: lane.settings.step_of(&FairKey::default()),
        available: view.eligible(plain)?.len(),
        query: plain.clone(),
        taken: 0,
    }];
    for (at, key) in keys {
        let Some(turn) = view.turn(&name(key.clone()))? else { continue };
        candidates.push(candidate(lane, turn, at, key, plain));
    }
    let order = in_turn(&mut candidates, limit);
    let mut queues = Vec::with_capacity(candidates.len());
    for candidate in &mut candidates {
        candidate.query.limit = if candidate.key.is_empty() { limit } else { candidate.taken };
    }
    let served = || candidates.iter().filter(|candidate| candidate.taken > 0);
    require_all(served().map(|candidate| view.eligible(&candidate.query).map(drop)))?;
    for candidate in &candidates {
        let first = if candidate.taken > 0 { view.eligible(&candidate.query)? } else { Vec::new() };
        queues.push(first.into_iter());
    }
    Ok(order.into_iter().filter_map(|nth| queues[nth].next()).collect())
}

/// Returns the queries of the lists that contain the keys a claim may serve.
fn queries(plain: &EligibleQuery) -> Vec<TurnsQuery> {
    let kinds: BTreeSet<_> = plain.kinds.iter().cloned().map(Some).collect();
    let kinds = if kinds.is_empty() { [None].into() } else { kinds };
    let lists = plain.classes.iter().flat_map(|class| kinds.iter().map(|kind| (kind.clone(), class.clone())));
    let query = |(kind, class): (Option<Kind>, RequirementClass)| TurnsQuery {
        partition: plain.partition,
        lane: plain.lane.clone(),
        queue: TurnQueue::Of(kind, class),
        limit: plain.limit,
    };
    lists.map(query).collect()
}

fn idle(partition: u16, lane: &Lane) -> TurnsQuery {
    TurnsQuery { partition, lane: lane.key(), queue: TurnQueue::Idle, limit: limits::IDLE_TURNS }
}

/// Returns a key as a candidate of a claim, with those of its waiting kinds and classes that the claim takes.
fn candidate(lane: &Lane, turn: &Turn, at: u64, key: FairKey, plain: &EligibleQuery) -> Candidate {
    let is_wanted = |kind: &Kind, class: &RequirementClass| {
        (plain.kinds.is_empty() || plain.kinds.contains(kind)) && plain.classes.contains(class)
    };
    let wanted = || turn.waiting.iter().filter(|((kind, class), _)| is_wanted(kind, class));
    let kinds: BTreeSet<_> = wanted().map(|((kind, _), _)| kind.clone()).collect();
    let classes: BTreeSet<_> = wanted().map(|((_, class), _)| class.clone()).collect();
    let (kinds, classes) = (kinds.into_iter().collect(), classes.into_iter().collect());
    Candidate {
        at,
        step: lane.settings.step_of(&key),
        available: wanted().map(|(_, count)| *count as usize).sum(),
        query: EligibleQuery { kinds, classes, key: key.clone(), ..plain.clone() },
        key,
        taken: 0,
    }
}

/// Returns the keys in the order in which they are served, as indexes of `candidates`.
fn in_turn(candidates: &mut [Candidate], limit: usize) -> Vec<usize> {
    let mut order = Vec::new();
    while order.len() < limit {
        let able = candidates.iter().enumerate().filter(|(_, candidate)| candidate.available > 0);
        let Some((nth, _)) = able.min_by_key(|(_, candidate)| (candidate.at, &candidate.key)) else { break };
        let served = &mut candidates[nth];
        (served.at, served.available, served.taken) = (served.at + served.step, served.available - 1, served.taken + 1);
        order.push(nth);
    }
    order
}

/// Returns the writes of turns after executions of these keys have been taken in this order, and by how much the clock
/// has advanced. The clock moves to the served turns, and the next turn of each served key moves later. Idle keys whose
/// next turn is not after the clock are deleted.
pub(crate) fn charge(
    view: &dyn View,
    partition: u16,
    lane: &Lane,
    served: &[FairKey],
) -> Result<(Vec<TurnWrite>, u64), Stop> {
    if served.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let name = |key: FairKey| TurnName { partition, lane: lane.key(), key };
    let idle = idle(partition, lane);
    let keys: BTreeSet<_> = served.iter().cloned().chain([FairKey::default()]).collect();
    let known = keys.iter().map(|key| view.turn(&name(key.clone())).map(drop));
    require_all(known.chain([view.turns(&idle).map(drop)]))?;
    let mut clock = view.turn(&name(FairKey::default()))?.cloned().unwrap_or_default();
    let (mut turns, began) = (BTreeMap::new(), clock.clock);
    for key in served {
        let step = lane.settings.step_of(key);
        if key.is_empty() {
            clock.clock = clock.clock.max(clock.at);
            clock.at = clock.clock + step;
            continue;
        }
        if !turns.contains_key(key) {
            turns.insert(key.clone(), view.turn(&name(key.clone()))?.cloned().unwrap_or_default());
        }
        let Some(turn) = turns.get_mut(key) else { continue };
        clock.clock = clock.clock.max(turn.at);
        turn.at += step;
    }
    let used = clock.clock - began;
    let over = view.turns(&idle)?.into_iter().filter(|(at, key)| *at <= clock.clock && !turns.contains_key(key));
    let over: Vec<_> = over.map(|(_, key)| (name(key), None)).collect();
    let paid = turns.into_iter().map(|(key, turn)| (name(key), Some(turn)));
    Ok((paid.chain([(name(FairKey::default()), Some(clock))]).chain(over).collect(), used))
}
