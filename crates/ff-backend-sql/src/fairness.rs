//! The domain of fairness: the turns of keys, and the keys by their turns.

use ff_core::backend::snapshot::Snapshot;
use ff_core::explain::{AHEAD_MAX, QueueArgs};
use ff_core::fairness::{Turn, TurnName, TurnQueue, TurnsQuery};
use ff_core::types::{FairKey, Kind, LaneId, RequirementClass};

use crate::batch_state::{BatchState, IndexPrefix, RecordSet, TurnList};
use crate::error::{SqlError, unreadable};
use crate::execution::lane_of;
use crate::session::{Key, Put, Read, Session, delete_all, load_record, put_all};
use crate::table::record;
use crate::table::schema::{TURN, TURN_QUEUE};
use crate::table::value::{Row, Value};

/// Selects the keys of a list with the first turns, each with its turn. With a join, Postgres may read all turns of the lane
/// while it believes that they are few.
pub(crate) const TURNS: &str = "\
    SELECT turn_at, fair_key, (SELECT record FROM turn \
        WHERE turn.partition = keys.partition AND turn.lane = keys.lane AND turn.fair_key = keys.fair_key) FROM (\
        SELECT partition, lane, turn_at, fair_key FROM turn_queue \
        WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 ORDER BY turn_at, fair_key LIMIT $5) AS keys \
    ORDER BY turn_at, fair_key";

/// Selects the next list with a key, ordered by lane, class and kind.
pub(crate) const NEXT_TURNS: &str = "\
    SELECT lane, class, kind FROM turn_queue WHERE partition = $1 AND (lane, class, kind) > ($2, $3, $4) \
    ORDER BY lane, class, kind LIMIT 1";

/// Counts the keys of a list with an earlier turn than a key, up to a limit.
pub(crate) const KEYS_AHEAD: &str = "\
    SELECT count(*) FROM (SELECT 1 FROM turn_queue \
        WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 AND (turn_at, fair_key) < ($5, $6) LIMIT $7) AS ahead";

/// Select the turns and the turn queues of a partition. Used only by the doctor.
pub(crate) const TURNS_ON: &str = "SELECT lane, fair_key, record FROM turn WHERE partition = $1";
pub(crate) const TURN_QUEUES_ON: &str =
    "SELECT lane, class, kind, turn_at, fair_key FROM turn_queue WHERE partition = $1";

/// The class of the list of keys without waiting executions. No requirement class is equal to it.
const IDLE: &str = ",";

/// Returns the key of a turn's row.
pub(crate) fn key_of_turn(name: &TurnName) -> Key {
    vec![name.partition.into(), name.lane.as_str().into(), name.key.as_str().into()]
}

/// Returns the class and the kind under which a list is stored.
fn words_of(queue: &TurnQueue) -> (&str, &str) {
    match queue {
        TurnQueue::Of(kind, class) => (class.as_str(), kind.as_ref().map_or("", Kind::as_str)),
        TurnQueue::Idle => (IDLE, ""),
    }
}

fn queue_of(class: &str, kind: &str) -> Result<TurnQueue, SqlError> {
    if class == IDLE {
        return Ok(TurnQueue::Idle);
    }
    let class = RequirementClass::parse(class).map_err(unreadable("a requirement class"))?;
    let kind = if kind.is_empty() { None } else { Some(Kind::parse(kind).map_err(unreadable("a kind"))?) };
    Ok(TurnQueue::Of(kind, class))
}

fn fair_key(text: &str) -> Result<FairKey, SqlError> {
    FairKey::parse(text).map_err(unreadable("a key of a fair lane"))
}

/// Returns the rows of a key in the lists.
fn rows_of(name: &TurnName, turn: &Turn) -> Vec<Key> {
    let row = |queue: TurnQueue| {
        let (class, kind) = words_of(&queue);
        let list = [name.partition.into(), name.lane.as_str().into(), class.into(), kind.into()];
        [&list[..], &[Value::number(turn.at), name.key.as_str().into()]].concat()
    };
    turn.queues(&name.key).into_iter().map(row).collect()
}

/// Loads lists of keys, each up to its limit, with the turns of the keys.
pub(crate) async fn load_turns(
    reader: &mut dyn Read,
    state: &mut BatchState,
    lists: Vec<(TurnList, usize)>,
) -> Result<(), SqlError> {
    let parameters = |((partition, lane, queue), limit): &(TurnList, usize)| {
        let (class, kind) = words_of(queue);
        vec![(*partition).into(), lane.as_str().into(), class.into(), kind.into(), Value::number(*limit)]
    };
    let found = reader.query(TURNS, &lists.iter().map(parameters).collect::<Vec<_>>()).await?;
    for ((list, limit), rows) in lists.into_iter().zip(found) {
        let mut keys = Vec::with_capacity(rows.len());
        for row in &rows {
            let key = fair_key(row.text(1)?)?;
            let name = TurnName { partition: list.0, lane: list.1.clone(), key: key.clone() };
            keys.push((row.count(0)?, key));
            let stored = row.text(2).and_then(record::read).map(Some);
            state.turns.turns.lay(name, stored.map_err(|error| error.to_string()));
        }
        state.turns.lay(list, IndexPrefix::new(keys, limit));
    }
    Ok(())
}

/// Writes the turns of a batch, and the rows of their keys in the lists.
pub(crate) async fn write_turns(
    session: &mut dyn Session,
    turns: &RecordSet<TurnName, Turn>,
) -> Result<bool, SqlError> {
    let (mut put, mut left, mut entered) = (Vec::new(), Vec::new(), Vec::new());
    for (name, turn) in turns.written() {
        put.push(Put::record(key_of_turn(name), turn)?);
        let (before, after) =
            (turns.stored(name).map(|before| rows_of(name, before)).unwrap_or_default(), rows_of(name, turn));
        entered.extend(after.iter().filter(|row| !before.contains(row)).cloned().map(Put::new));
        left.extend(before.into_iter().filter(|row| !after.contains(row)));
    }
    let mut gone = Vec::new();
    for name in turns.removed() {
        left.extend(turns.stored(name).map(|before| rows_of(name, before)).unwrap_or_default());
        gone.push(key_of_turn(name));
    }
    if !left.is_empty() {
        session.remove(&TURN_QUEUE, left).await?;
    }
    put_all(session, &TURN_QUEUE, entered).await?;
    Ok(put_all(session, &TURN, put).await? | delete_all(session, &TURN, gone).await?)
}

/// Returns the lanes, kinds and classes that have waiting executions with keys on a partition.
pub(crate) async fn keyed_queues_on(
    reader: &mut dyn Read,
    partition: u16,
) -> Result<Vec<(LaneId, Kind, RequirementClass)>, SqlError> {
    let mut queues = Vec::new();
    // Goes from each list to the next and skips its other keys.
    let mut last: [Value; 3] = ["".into(), "".into(), "".into()];
    while let Some(row) = reader
        .query(NEXT_TURNS, &[[vec![partition.into()], last.to_vec()].concat()])
        .await?
        .into_iter()
        .flatten()
        .next()
    {
        last = [row.text(0)?.into(), row.text(1)?.into(), row.text(2)?.into()];
        if let TurnQueue::Of(Some(kind), class) = queue_of(row.text(1)?, row.text(2)?)? {
            queues.push((lane_of(row.text(0)?)?, kind, class));
        }
    }
    Ok(queues)
}

/// Returns the keys of a list with the first turns.
pub(crate) async fn keys_of(reader: &mut dyn Read, query: &TurnsQuery) -> Result<Vec<FairKey>, SqlError> {
    let (class, kind) = words_of(&query.queue);
    let list = vec![query.partition.into(), query.lane.as_str().into(), class.into(), kind.into()];
    let rows = reader.query(TURNS, &[[list, vec![Value::number(query.limit)]].concat()]).await?;
    rows.iter().flatten().map(|row| fair_key(row.text(1)?)).collect()
}

/// Counts the keys with an earlier turn than an execution's key, up to one more than is reported.
pub(crate) async fn keys_ahead(reader: &mut dyn Read, one: &QueueArgs) -> Result<Option<u64>, SqlError> {
    if one.key.is_empty() {
        return Ok(None);
    }
    let (name, queue) = (one.turn(), one.turn_queue());
    let turn: Option<Turn> = load_record(reader, &TURN, key_of_turn(&name)).await?;
    let Some(turn) = turn.filter(|turn| turn.queues(&name.key).contains(&queue)) else { return Ok(None) };
    let (class, kind) = words_of(&queue);
    let parameters = vec![
        name.partition.into(),
        name.lane.as_str().into(),
        class.into(),
        kind.into(),
        Value::number(turn.at),
        name.key.as_str().into(),
        Value::number(AHEAD_MAX + 1),
    ];
    let counted = reader.query(KEYS_AHEAD, &[parameters]).await?;
    counted.iter().flatten().next().map(|row: &Row| row.count(0)).transpose()
}

/// Adds the turns of a partition to its snapshot.
pub(crate) async fn add_turns(reader: &mut dyn Read, snapshot: &mut Snapshot, partition: u16) -> Result<(), SqlError> {
    let here = || [vec![partition.into()]];
    for row in reader.query(TURNS_ON, &here()).await?.iter().flatten() {
        snapshot.turns.insert((lane_of(row.text(0)?)?, fair_key(row.text(1)?)?), record::read(row.text(2)?)?);
    }
    for row in reader.query(TURN_QUEUES_ON, &here()).await?.iter().flatten() {
        let list = (lane_of(row.text(0)?)?, queue_of(row.text(1)?, row.text(2)?)?);
        snapshot.turn_queues.entry(list).or_default().insert(fair_key(row.text(4)?)?, row.count(3)?);
    }
    Ok(())
}
