//! Places where ended attempts are written. The attempt that an execution finished with is in the row of the execution, all
//! others have rows of their own. Most executions finish with their first attempt and have no such row.

use std::collections::HashMap;

use ff_core::execution::Attempt;
use ff_core::rule::change::Write;
use ff_core::rule::view::View;
use ff_core::types::ExecutionId;

use crate::batch_state::BatchState;
use crate::error::SqlError;
use crate::execution::last_attempts_of;
use crate::session::{Put, Read, key_of, longer};
use crate::table::value::Value;

/// Ended attempts, by where they are written.
pub(super) struct EndedAttempts {
    /// The change of the last attempt in the row of each execution.
    pub(super) last: HashMap<ExecutionId, Write<Attempt>>,
    /// The rows of all other attempts.
    pub(super) rows: Vec<Put>,
}

impl EndedAttempts {
    /// Sorts the attempts that ended in a batch. When a finished execution runs again, the attempt in its row moves to a row of its own.
    pub(super) async fn of(
        reader: &mut dyn Read,
        state: &BatchState,
        ended: Vec<(ExecutionId, Attempt)>,
    ) -> Result<Self, SqlError> {
        let mut sorted = Self { last: HashMap::new(), rows: Vec::new() };
        for (id, attempt) in ended {
            if is_last(state, &id, &attempt) {
                sorted.last.insert(id, Write::Put(attempt));
            } else {
                sorted.rows.push(row_of(&id, &attempt)?);
            }
        }
        // A finished execution that was replayed may finish again in the same batch without another attempt.
        let goes_on = state.rewritten().filter(|(before, after)| {
            let finished = before.filter(|before| before.is_finished() && before.attempts_made > 0);
            finished.is_some_and(|before| before.phase != after.phase || sorted.last.contains_key(&after.id))
        });
        let goes_on: Vec<_> = goes_on.map(|(_, after)| after.id).filter(|id| !state.is_being_forgotten(id)).collect();
        for (id, attempt) in goes_on.iter().zip(last_attempts_of(reader, &goes_on).await?) {
            sorted.last.entry(*id).or_insert(Write::Remove);
            if let Some(attempt) = attempt {
                sorted.rows.push(row_of(id, &attempt)?);
            }
        }
        Ok(sorted)
    }
}

/// Returns whether an execution has finished with this attempt.
fn is_last(state: &BatchState, id: &ExecutionId, attempt: &Attempt) -> bool {
    let execution = state.execution(id).ok().flatten();
    execution.is_some_and(|execution| execution.is_finished() && execution.attempts_made == attempt.index.0 + 1)
}

fn row_of(id: &ExecutionId, attempt: &Attempt) -> Result<Put, SqlError> {
    Put::record(longer(key_of(id), [Value::Int(attempt.index.0.into())]), attempt)
}
