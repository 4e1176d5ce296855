//! The payloads of what a batch has claimed, read in the same transaction.

use std::collections::HashMap;

use ff_core::backend::Answer;
use ff_core::change::Write;
use ff_core::engine_error::EngineError;
use ff_core::operation::Reply;
use ff_core::payload::Payload;
use ff_core::types::ExecutionId;

use super::Answered;
use crate::desk::Desk;
use crate::error::SqlError;
use crate::execution::read_body;
use crate::schema::PAYLOAD;
use crate::session::{Read, key_of};

/// Gives every claim the payloads of what it took: from the desk what the batch itself submitted, all others with one query.
pub(super) async fn attach<R: Read>(
    reader: &mut R,
    desk: &Desk,
    replies: Vec<Answer<Reply>>,
) -> Result<Vec<Answer<Answered>>, SqlError> {
    let mut payloads = HashMap::new();
    let mut stored = Vec::new();
    for id in replies.iter().flatten().flat_map(claimed) {
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
    Ok(replies.into_iter().map(|reply| reply.and_then(|reply| answered(reply, &payloads))).collect())
}

fn claimed(reply: &Reply) -> Vec<ExecutionId> {
    match reply {
        Reply::Taken(taken) => taken.tasks.iter().map(|task| task.execution_id).collect(),
        _ => Vec::new(),
    }
}

fn answered(reply: Reply, payloads: &HashMap<ExecutionId, Payload>) -> Answer<Answered> {
    let lost = |id| EngineError::Corrupt(format!("{id} has lost its payload"));
    let payload = |id| payloads.get(&id).cloned().ok_or_else(|| lost(id));
    let payloads = claimed(&reply).into_iter().map(payload).collect::<Answer<_>>()?;
    Ok(Answered { reply, payloads })
}
