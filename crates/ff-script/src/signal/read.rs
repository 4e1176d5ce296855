//! Reading the signals of an execution, oldest first.

use ff_core::contracts::ReceivedSignal;
use ff_core::types::{ExecutionId, SignalId};

use crate::execution::{core_key, counted_from};
use crate::record::received;
use crate::signature::ReadSignals;
use crate::{FcallResult, Fields, ScriptError, Server};

/// Some signals of an execution.
#[derive(Clone, Debug)]
pub struct KeptSignals {
    pub signals: Vec<ReceivedSignal>,
    /// How many the execution received in all.
    pub count: usize,
}

/// A page of an execution's signals, with their bytes or without.
pub async fn ff_read_signals(
    server: &dyn Server,
    id: &ExecutionId,
    skip: usize,
    limit: usize,
    with_payload: bool,
) -> Result<KeptSignals, ScriptError> {
    read(
        server,
        id,
        ReadSignals {
            core: core_key(id),
            signal_id: None,
            skip: counted_from(skip as u64),
            limit: limit as u64,
            with_payload,
        },
    )
    .await
}

/// One signal of an execution with its bytes, if it received it.
pub async fn ff_read_signal(
    server: &dyn Server,
    id: &ExecutionId,
    signal: &SignalId,
) -> Result<Option<ReceivedSignal>, ScriptError> {
    let signal_id = Some(signal.to_string());
    let one = ReadSignals { core: core_key(id), signal_id, skip: 0, limit: 1, with_payload: true };
    Ok(read(server, id, one).await?.signals.pop())
}

async fn read(server: &dyn Server, id: &ExecutionId, read: ReadSignals) -> Result<KeptSignals, ScriptError> {
    let call = read.call();
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    let count = fields.read()?;
    Ok(KeptSignals { signals: signals(*id, &mut fields)?, count })
}

/// A list of signals, as functions tell them.
pub(crate) fn signals(id: ExecutionId, fields: &mut Fields) -> Result<Vec<ReceivedSignal>, ScriptError> {
    let told = fields.list()?;
    told.into_iter().map(|one| received(id, fields.part(one)?)).collect()
}
