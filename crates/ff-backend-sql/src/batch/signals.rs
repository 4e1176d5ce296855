//! The signals that claims attach to their tasks.

use std::collections::HashMap;

use ff_core::backend::Answer;
use ff_core::contracts::{ReceivedSignal, Task};
use ff_core::engine_error::EngineError;
use ff_core::signal::RecordedSignal;
use ff_core::types::{ExecutionId, SignalId};

use crate::batch_state::BatchState;
use crate::error::SqlError;
use crate::session::Read;
use crate::signal::{key_of_signal, read_signal};
use crate::table::Columns;
use crate::table::schema::SIGNAL;

/// The loaded signals of resumed tasks.
#[derive(Default)]
pub(super) struct ClaimSignals(HashMap<Name, Result<ReceivedSignal, SqlError>>);

/// A signal of an execution.
type Name = (ExecutionId, SignalId);

impl ClaimSignals {
    /// Loads the signals of these tasks. Most tasks have none, and then nothing is queried.
    pub(super) async fn find<'t>(
        reader: &mut dyn Read,
        state: &BatchState,
        tasks: impl Iterator<Item = &'t Task>,
    ) -> Result<Self, SqlError> {
        let mut found = Self::default();
        let mut wanted = tasks.flat_map(names).peekable();
        if wanted.peek().is_none() {
            return Ok(found);
        }
        let signals = state.suspensions.signals.iter().map(|new| &new.recorded);
        let new: HashMap<Name, _> = signals.map(|of| ((of.signal.execution_id, of.signal.id), of)).collect();
        let (mut whole, mut bare) = (Vec::new(), Vec::new());
        for (name, with_payload) in wanted {
            match new.get(&name).copied().or_else(|| state.suspensions.recorded(&name)) {
                Some(recorded) => {
                    found.0.insert(name, Ok(received(recorded, with_payload)));
                }
                None if with_payload => whole.push(name),
                None => bare.push(name),
            }
        }
        found.load(reader, SIGNAL.named(&["record", "content_type", "bytes"]), whole).await?;
        found.load(reader, SIGNAL.named(&["record"]), bare).await?;
        Ok(found)
    }

    /// Returns the signals of a task, in order.
    pub(super) fn to(&self, task: &Task) -> Answer<Vec<ReceivedSignal>> {
        let hand = |(name, _): (Name, bool)| match self.0.get(&name) {
            Some(Ok(received)) => Ok(received.clone()),
            Some(Err(error)) => Err(error.clone().into()),
            None => Err(EngineError::Corrupt(format!("{} has lost the signal {}", name.0, name.1))),
        };
        names(task).map(hand).collect()
    }

    async fn load(&mut self, reader: &mut dyn Read, wanted: Columns, names: Vec<Name>) -> Result<(), SqlError> {
        let keys: Vec<_> = names.iter().map(|(id, signal)| key_of_signal(id, signal)).collect();
        let rows = reader.load(&SIGNAL, wanted, &keys).await?;
        let found = names.into_iter().zip(rows).filter_map(|(name, row)| Some((name, read_signal(&row?))));
        self.0.extend(found);
        Ok(())
    }
}

/// Returns the names of a task's signals, and whether each comes with its payload.
fn names(task: &Task) -> impl Iterator<Item = (Name, bool)> {
    let id = task.execution_id;
    task.resumption.iter().flat_map(move |resumption| {
        let signals = resumption.signals.iter().enumerate();
        signals.map(move |(nth, signal)| ((id, *signal), nth < resumption.with_payload))
    })
}

fn received(recorded: &RecordedSignal, with_payload: bool) -> ReceivedSignal {
    let payload = recorded.payload.as_ref().filter(|_| with_payload);
    ReceivedSignal { signal: recorded.signal.clone(), payload: payload.cloned() }
}
