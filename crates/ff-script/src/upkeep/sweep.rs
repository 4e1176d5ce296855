//! Looking at a partition without being told.

use ff_core::backend::{Ready, Swept};
use ff_core::contracts::Head;
use ff_core::types::TimestampMs;

use super::index_keys;
use crate::lane::lane_of_index;
use crate::server::ask;
use crate::signature::Sweep;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// What waits on a partition, and when something is due.
pub async fn ff_sweep(server: &dyn Server, partition: u16) -> Result<Swept, ScriptError> {
    ask(server, Sweep { lanes: index_keys(partition).lanes() }.call()).await
}

impl FromFcallResult for Swept {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let next_due = fields.maybe_read()?.map(TimestampMs);
        let mut queues = fields.nested()?;
        let mut ready = Vec::new();
        while !queues.is_empty() {
            let lane = lane_of_index(&queues.text()?).ok_or_else(|| ScriptError::parse("a lane cannot be read"))?;
            let kind = queues.read()?;
            let head = Head { behind: queues.read()?, created_at: TimestampMs(queues.read()?) };
            ready.push(Ready { lane, kind, head });
        }
        Ok(Self { ready, next_due })
    }
}
