//! Reading an execution and the records beside it, in one consistent read.

use ff_core::types::ExecutionId;

use super::core_key;
use crate::signature::ReadExecution;
use crate::{FcallResult, ScriptError, Server, StoredExecution};

/// The further records to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraReads {
    pub payload: bool,
    pub result: bool,
    /// Its tries and its leases.
    pub history: bool,
    /// Nothing more to read, but a hint when it ends.
    pub end: bool,
    /// Also a staged one, which is not visible yet.
    pub staged: bool,
}

impl ExtraReads {
    /// Everything there is.
    pub const ALL: Self = Self { payload: true, result: true, history: true, end: false, staged: true };
}

/// An execution as it is kept.
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
    let call = read.call();
    let signature = call.signature;
    let (fields, _) = FcallResult::parse(signature, server.fcall(call).await?)?.into_fields();
    StoredExecution::read(*id, fields)
}
