//! The domain of suspensions: waitpoints, remembered answers and secrets as rows, and their queries.

mod ring;

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::WaitpointInfo;
use ff_core::engine_error::{Code, EngineError};
use ff_core::execution::{Execution, Phase};
use ff_core::operation::query::{ListWaitpoints, MintToken, VerifyToken};
use ff_core::suspension::{SuspendKeyEntry, Waitpoint, WaitpointState};
use ff_core::token::{KeyRing, WaitpointToken};
use ff_core::types::{ExecutionId, IdempotencyKey, WaitpointId};

use crate::ReadContext;
use crate::error::SqlError;
use crate::execution::found;
use crate::session::{Key, Put, Question, Read, key_of, longer};
use crate::table::record;
use crate::table::schema::WAITPOINT;
use crate::table::value::{Row, Value};

pub use ring::missing_rings;
pub(crate) use ring::{load_ring, read_ring, ring_of};

/// Returns the key of a waitpoint's row.
pub(crate) fn key_of_waitpoint(id: &ExecutionId, waitpoint: &WaitpointId) -> Key {
    longer(key_of(id), [Value::Uuid(*waitpoint.as_uuid())])
}

/// Returns the row of a waitpoint.
pub(crate) fn waitpoint_of(waitpoint: &Waitpoint) -> Result<Put, SqlError> {
    Put::record(key_of_waitpoint(&waitpoint.execution_id, &waitpoint.id), waitpoint)
}

/// Returns the row of a suspension's idempotency key.
pub(crate) fn suspend_key_of(entry: &SuspendKeyEntry) -> Result<Put, SqlError> {
    let values = [entry.key.as_str().into(), entry.until.into(), record::written(&entry.answer)?];
    Ok(Put::under(key_of(&entry.execution_id), values))
}

/// Reads the entry of an idempotency key from the columns `until` and `answer`, beginning at `from`.
pub(crate) fn read_suspend_key(
    execution_id: ExecutionId,
    key: IdempotencyKey,
    row: &Row,
    from: usize,
) -> Result<SuspendKeyEntry, SqlError> {
    let (until, answer) = (row.moment(from)?, record::read(row.text(from + 1)?)?);
    Ok(SuspendKeyEntry { execution_id, key, until, answer })
}

#[async_trait]
impl Question for ListWaitpoints {
    type Answer = Vec<WaitpointInfo>;

    const IS_TIMED: bool = true;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<Vec<WaitpointInfo>> {
        let execution = found(reader, &self.execution_id).await?;
        let named = named(&execution);
        let mut open = Vec::with_capacity(named.len());
        for (id, waitpoint) in named.iter().zip(waitpoints(reader, &self.execution_id, &named).await?) {
            let lost = || EngineError::Corrupt(format!("{} has lost the waitpoint {id}", self.execution_id));
            let waitpoint = waitpoint.ok_or_else(lost)?;
            let state = execution.waitpoint_state(&waitpoint, at.now);
            if matches!(state, WaitpointState::Pending | WaitpointState::Active) {
                open.push(WaitpointInfo::of(&waitpoint, state));
            }
        }
        open.sort_by_key(|info| (info.created_at, info.waitpoint_id));
        Ok(open)
    }
}

#[async_trait]
impl Question for MintToken {
    type Answer = WaitpointToken;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<WaitpointToken> {
        found(reader, &self.execution_id).await?;
        let (waitpoint, ring) = with_ring(reader, &self.execution_id, self.waitpoint_id).await?;
        Ok(waitpoint.ok_or(Code::WaitpointNotFound)?.mint(ring.as_ref())?)
    }
}

#[async_trait]
impl Question for VerifyToken {
    type Answer = ();

    const IS_TIMED: bool = true;

    async fn ask(self, reader: &mut dyn Read, at: &ReadContext) -> Answer<()> {
        let (waitpoint, ring) = with_ring(reader, &self.execution_id, self.waitpoint_id).await?;
        Ok(waitpoint.ok_or(Code::InvalidToken)?.verify(ring.as_ref(), &self.token, at.now)?)
    }
}

/// Returns a waitpoint, and the secrets of its partition.
async fn with_ring(
    reader: &mut dyn Read,
    execution: &ExecutionId,
    waitpoint: WaitpointId,
) -> Result<(Option<Waitpoint>, Option<KeyRing>), SqlError> {
    let found = waitpoints(reader, execution, &[waitpoint]).await?.pop().flatten();
    Ok((found, load_ring(reader, execution.partition()).await?))
}

/// Returns the waitpoints that the record of an execution names. No other waitpoint can be open.
fn named(execution: &Execution) -> Vec<WaitpointId> {
    let bound = match &execution.phase {
        Phase::Suspended { suspension } => suspension.waitpoints.as_slice(),
        _ => &[],
    };
    let pending = execution.pending_waitpoints.iter().map(|pending| pending.id);
    pending.chain(bound.iter().map(|bound| bound.id)).collect()
}

async fn waitpoints(
    reader: &mut dyn Read,
    execution: &ExecutionId,
    ids: &[WaitpointId],
) -> Result<Vec<Option<Waitpoint>>, SqlError> {
    let keys: Vec<_> = ids.iter().map(|id| key_of_waitpoint(execution, id)).collect();
    let rows = reader.load(&WAITPOINT, WAITPOINT.named(&["record"]), &keys).await?;
    rows.into_iter().map(|row| row.map(|row| record::read(row.text(0)?)).transpose()).collect()
}
