//! The domain of singletons: the queues of singleton and debounce keys.

use std::collections::BTreeMap;

use ff_core::singleton::KeyQueue;
use ff_core::types::{ExecutionId, Namespace, QueueName};

use crate::error::{SqlError, unreadable};
use crate::session::{Key, Put, Read};
use crate::table::record;
use crate::table::value::Row;

/// Selects every key queue of a partition.
pub(crate) const KEY_QUEUES_ON: &str = "SELECT namespace, name, executions FROM key_queue WHERE partition = $1";

/// The name of a key queue: its partition, its namespace and its name.
pub(crate) type QueueId = (u16, Namespace, QueueName);

pub(crate) fn key_of_queue((partition, namespace, name): &QueueId) -> Key {
    vec![(*partition).into(), namespace.as_str().into(), name.as_str().into()]
}

pub(crate) fn id_of_queue(queue: &KeyQueue) -> QueueId {
    (queue.partition, queue.namespace.clone(), queue.name.clone())
}

pub(crate) fn queue_put(queue: &KeyQueue) -> Result<Put, SqlError> {
    Put::record(key_of_queue(&id_of_queue(queue)), &queue.executions)
}

/// Reads a key queue from the column `executions`.
pub(crate) fn read_queue((partition, namespace, name): &QueueId, row: &Row) -> Result<KeyQueue, SqlError> {
    let (namespace, name) = (namespace.clone(), name.clone());
    Ok(KeyQueue { partition: *partition, namespace, name, executions: record::read(row.text(0)?)? })
}

/// Returns the key queues of a partition, for its snapshot.
pub(crate) async fn queues_on(
    reader: &mut dyn Read,
    partition: u16,
) -> Result<BTreeMap<(Namespace, QueueName), Vec<ExecutionId>>, SqlError> {
    let rows = reader.query(KEY_QUEUES_ON, &[vec![partition.into()]]).await?;
    let queue = |row: &Row| {
        let namespace = Namespace::parse(row.text(0)?).map_err(unreadable("a namespace"))?;
        let name = QueueName::parse(row.text(1)?).map_err(unreadable("the name of a queue"))?;
        Ok(((namespace, name), record::read(row.text(2)?)?))
    };
    rows.iter().flatten().map(queue).collect()
}
