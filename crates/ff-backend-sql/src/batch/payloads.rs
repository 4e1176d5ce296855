//! What a batch's claims bring along, read in the same transaction: payloads, and the signals workers are handed.

use std::collections::HashMap;

use ff_core::backend::Answer;
use ff_core::change::Write;
use ff_core::contracts::Task;
use ff_core::engine_error::EngineError;
use ff_core::operation::Reply;
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use super::Answered;
use super::signals::Handed;
use crate::desk::Desk;
use crate::error::SqlError;
use crate::execution::read_body;
use crate::schema::PAYLOAD;
use crate::session::{Read, key_of};

/// Gives every claim the payloads of what it took, and the signals its workers are handed: from the desk what the batch
/// itself brought, all others with one query per table.
pub(super) async fn attach<R: Read>(
    reader: &mut R,
    desk: &Desk,
    replies: Vec<Answer<Reply>>,
) -> Result<Vec<Answer<Answered>>, SqlError> {
    let mut payloads = HashMap::new();
    let mut stored = Vec::new();
    for id in replies.iter().flatten().flat_map(tasks).map(|task| task.execution_id) {
        match desk.beside.payloads.get(&id) {
            Some(Write::Put(payload)) => {
                payloads.insert(id, payload.clone());
            }
            _ => stored.push(id),
        }
    }
    if !stored.is_empty() {
        let keys: Vec<_> = stored.iter().map(key_of).collect();
        let rows = reader.load(&PAYLOAD, PAYLOAD.all(), &keys).await?;
        for (id, row) in stored.into_iter().zip(rows) {
            if let Some(row) = row {
                payloads.insert(id, read_body(&row)?);
            }
        }
    }
    let signals = Handed::find(reader, desk, replies.iter().flatten().flat_map(tasks)).await?;
    Ok(replies.into_iter().map(|reply| reply.and_then(|reply| answered(reply, &payloads, &signals))).collect())
}

fn tasks(reply: &Reply) -> &[Task] {
    match reply {
        Reply::Taken(taken) => &taken.tasks,
        _ => &[],
    }
}

fn answered(reply: Reply, payloads: &HashMap<ExecutionId, Payload>, signals: &Handed) -> Answer<Answered> {
    let lost = |id| EngineError::Corrupt(format!("{id} has lost its payload"));
    let payload = |task: &Task| payloads.get(&task.execution_id).cloned().ok_or_else(|| lost(task.execution_id));
    let payloads = tasks(&reply).iter().map(payload).collect::<Answer<_>>()?;
    let signals = tasks(&reply).iter().map(|task| signals.to(task)).collect::<Answer<_>>()?;
    Ok(Answered { reply, payloads, signals })
}
