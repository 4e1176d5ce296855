//! Reading an execution and its other records in one consistent snapshot.

use ff_core::types::ExecutionId;

use super::core_key;
use crate::server::ask;
use crate::signature::ReadExecution;
use crate::{ScriptError, Server, StoredExecution};

/// The records to read beside the main one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraReads {
    pub payload: bool,
    pub result: bool,
    /// Its attempts and its leases.
    pub history: bool,
    /// Reads nothing more, but requests a hint when the execution ends.
    pub end: bool,
    /// Also reads a staged execution, which is not visible yet.
    pub staged: bool,
}

impl ExtraReads {
    /// Every record, also of a staged execution.
    pub const ALL: Self = Self { payload: true, result: true, history: true, end: false, staged: true };
}

/// Returns the stored state of an execution.
pub async fn ff_read_execution(
    server: &dyn Server,
    id: &ExecutionId,
    beside: ExtraReads,
) -> Result<StoredExecution, ScriptError> {
    let read = ReadExecution {
        core: core_key(id),
        with_payload: beside.payload,
        with_result: beside.result,
        with_history: beside.history,
        await_end: beside.end,
        staged: beside.staged,
    };
    StoredExecution::read(*id, ask(server, read.call()).await?)
}
