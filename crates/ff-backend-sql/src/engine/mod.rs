//! The queries of an engine: the state of a partition, and its whole contents.

mod flows;
mod snapshot;
mod steps;
mod streams;
mod suspensions;

use async_trait::async_trait;
use ff_core::backend::{Answer, PartitionStatus, ReadyLane};
use ff_core::contracts::{Head, ListQueueArgs, QueueState, QueuedExecution, WorkQueue};
use ff_core::fairness::{TurnQueue, TurnsQuery};
use ff_core::operation::query::Sweep;
use ff_core::types::{FairKey, Kind, Priority};

use crate::ReadContext;
use crate::error::{SqlError, unreadable};
use crate::execution::{class_of_queue, class_word, lane_of, read_execution, unroutable_class};
use crate::fairness::{keyed_queues_on, keys_of};
use crate::queries::NEXT_DUE;
use crate::session::{Question, Read};
use crate::table::value::{Row, Value};

/// Selects the first executions of a queue on a partition, with their records.
pub(crate) const QUEUE: &str = "\
    SELECT execution.record, submission.definition FROM (\
        SELECT uuid, partition, priority, created_at FROM ready \
        WHERE partition = $1 AND lane = $2 AND class = $3 AND kind = $4 \
        ORDER BY priority DESC, created_at, uuid LIMIT $5) AS ready \
    JOIN execution ON execution.uuid = ready.uuid AND execution.partition = ready.partition \
    LEFT JOIN submission ON submission.uuid = ready.uuid AND submission.partition = ready.partition \
    ORDER BY ready.priority DESC, ready.created_at, ready.uuid";

/// Selects the first waiting execution of the next queue, ordered by lane, class and kind.
pub(crate) const NEXT_READY: &str = "\
    SELECT lane, class, kind, priority, created_at FROM ready \
    WHERE partition = $1 AND (lane, class, kind) > ($2, $3, $4) \
    ORDER BY lane, class, kind, priority DESC, created_at LIMIT 1";

#[async_trait]
impl Question for Sweep {
    type Answer = PartitionStatus;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<PartitionStatus> {
        let (ready, unroutable) = queues_on(reader, self.partition).await?;
        let mut swept = PartitionStatus { ready, unroutable, next_due: None };
        for row in reader.query(NEXT_DUE, &[vec![self.partition.into()]]).await?.iter().flatten() {
            let at = row.moment(0)?;
            swept.next_due = Some(swept.next_due.map_or(at, |earliest| earliest.min(at)));
        }
        Ok(swept)
    }
}

#[async_trait]
impl Question for ListQueueArgs {
    type Answer = Vec<QueuedExecution>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Vec<QueuedExecution>> {
        let class = match self.state {
            QueueState::Ready => self.queue.class.to_string(),
            QueueState::Unroutable => unroutable_class(&self.queue.class),
        };
        let WorkQueue { lane, kind, .. } = &self.queue;
        let parameters = vec![
            self.partition.into(),
            text(lane.as_str()),
            Value::Text(class),
            text(kind.as_str()),
            Value::number(self.limit),
        ];
        let mut rows: Vec<_> =
            reader.query(QUEUE, std::slice::from_ref(&parameters)).await?.into_iter().flatten().collect();
        if self.state == QueueState::Ready && rows.len() < self.limit {
            rows.extend(keyed(reader, &self, parameters).await?);
        }
        let queued = |row: &Row| Ok(QueuedExecution::of(&read_execution(row, 0)?));
        rows.iter().take(self.limit).map(queued).collect()
    }
}

/// Returns the first executions with a key of a queue, in the order of the keys' turns. Only a fair lane has any.
async fn keyed(reader: &mut dyn Read, args: &ListQueueArgs, plain: Vec<Value>) -> Result<Vec<Row>, SqlError> {
    let WorkQueue { lane, kind, class } = &args.queue;
    let queue = TurnQueue::Of(Some(kind.clone()), class.clone());
    let keys = TurnsQuery { partition: args.partition, lane: lane.clone(), queue, limit: args.limit };
    let keys = keys_of(reader, &keys).await?;
    let of_key = |key: &FairKey| {
        let mut parameters = plain.clone();
        parameters[2] = class_word(class, key);
        parameters
    };
    let parameters: Vec<_> = keys.iter().map(of_key).collect();
    Ok(reader.query(QUEUE, &parameters).await?.into_iter().flatten().collect())
}

/// Returns the first waiting execution of each class and kind of each lane on a partition.
pub(crate) async fn ready_on(reader: &mut dyn Read, partition: u16) -> Result<Vec<ReadyLane>, SqlError> {
    Ok(queues_on(reader, partition).await?.0)
}

/// Returns the same, and the queues of executions that are blocked because no live worker meets their requirements.
async fn queues_on(reader: &mut dyn Read, partition: u16) -> Result<(Vec<ReadyLane>, Vec<WorkQueue>), SqlError> {
    let (mut all, mut unroutable) = (Vec::new(), Vec::new());
    // Goes from each queue to the next and skips the other executions of a queue.
    let (mut last, mut has_keys) = ([text(""), text(""), text("")], false);
    while let Some(row) = first(reader, NEXT_READY, [vec![partition.into()], last.to_vec()].concat()).await? {
        // Executions with keys are found by their turns, so all of them in a class are skipped at once.
        if let Some((class, _)) = row.text(1)?.split_once(' ') {
            (last, has_keys) = ([text(row.text(0)?), Value::Text(format!("{class}!")), text("")], true);
            continue;
        }
        last = [text(row.text(0)?), text(row.text(1)?), text(row.text(2)?)];
        let (class, is_unroutable) = class_of_queue(row.text(1)?).map_err(unreadable("a requirement class"))?;
        let kind = Kind::parse(row.text(2)?).map_err(unreadable("a kind"))?;
        let lane = lane_of(row.text(0)?)?;
        if is_unroutable {
            unroutable.push(WorkQueue { lane, kind, class });
        } else {
            let priority = Priority::new(row.int(3)?).map_err(unreadable("a priority"))?;
            all.push(ReadyLane { lane, kind, class, head: Head::new(priority, row.moment(4)?) });
        }
    }
    if has_keys {
        let queues = keyed_queues_on(reader, partition).await?.into_iter();
        all.extend(queues.map(|(lane, kind, class)| ReadyLane::keyed(lane, kind, class)));
    }
    Ok((all, unroutable))
}

async fn first(reader: &mut dyn Read, sql: &'static str, parameters: Vec<Value>) -> Result<Option<Row>, SqlError> {
    Ok(reader.query(sql, &[parameters]).await?.into_iter().flatten().next())
}

fn text(text: &str) -> Value {
    text.into()
}
