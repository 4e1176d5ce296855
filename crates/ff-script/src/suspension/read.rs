//! Reading the waitpoints of an execution, in one consistent look.

use ff_core::suspension::{BufferedSignal, Waitpoint, WaitpointState};
use ff_core::types::{ExecutionId, IdempotencyKey, SignalId, WaitpointId};

use crate::execution::core_key;
use crate::record::{Hash, waitpoint};
use crate::signature::ReadWaitpoints;
use crate::{FcallResult, ScriptError, Server};

/// A waitpoint as it is kept.
#[derive(Clone, Debug)]
pub struct KeptWaitpoint {
    /// Without the signals that wait for its suspension: of these only the ids are known.
    pub waitpoint: Waitpoint,
    pub state: WaitpointState,
    pub buffered: Vec<SignalId>,
    /// The idempotency key of the suspension that began with it, if it had one.
    pub suspend_key: Option<IdempotencyKey>,
}

impl KeptWaitpoint {
    /// The waitpoint with its signals, as far as they are found.
    pub fn with_signals(self, mut find: impl FnMut(&SignalId) -> Option<BufferedSignal>) -> Waitpoint {
        Waitpoint { buffered: self.buffered.iter().filter_map(&mut find).collect(), ..self.waitpoint }
    }
}

/// The waitpoints of an execution: one of them or all, open or not.
pub async fn ff_read_waitpoints(
    server: &dyn Server,
    id: &ExecutionId,
    only: Option<&WaitpointId>,
    open: bool,
) -> Result<Vec<KeptWaitpoint>, ScriptError> {
    let read = ReadWaitpoints { core: core_key(id), waitpoint_id: only.map(ToString::to_string), open };
    let call = read.call();
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    let mut kept = Vec::new();
    for value in fields.list()? {
        let mut told = fields.part(value)?;
        let (waitpoint_id, state) = (told.read()?, told.read()?);
        let hash = Hash::parse(told.list()?)?;
        let (mut ids, mut buffered) = (told.nested()?, Vec::new());
        while !ids.is_empty() {
            buffered.push(ids.read()?);
        }
        let waitpoint = waitpoint(*id, waitpoint_id, &hash)?;
        kept.push(KeptWaitpoint { waitpoint, state, buffered, suspend_key: hash.maybe("suspend_key")? });
    }
    Ok(kept)
}
