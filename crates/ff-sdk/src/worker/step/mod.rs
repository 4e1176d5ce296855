//! Steps: actions a handler does once. The result of a step is recorded before it is used, so a handler that runs
//! again, for any reason, gets the result and does not repeat the action.

mod call;
mod log;
mod record;
mod run;
mod undo;

pub(super) use call::call;
pub(super) use log::StepLog;
pub(super) use record::{record, repeat, write};
pub use run::RunStep;
pub(super) use undo::{DropCompensations, settle};

use ff_core::engine_error::Refusal;
use ff_core::step::{StepKind, StepRef};
use ff_core::types::{StepKey, StepName};

use super::Fault;

/// The name of the step that marks an execution as failed and being undone. No other step may have this name.
const FAILED: &str = "(failed)";

/// Parses the name and the key of a step, as a handler writes them.
pub(super) fn reference(kind: StepKind, name: &str, key: &str) -> Result<StepRef, Refusal> {
    if name == FAILED {
        return Err(Refusal::invalid(
            "name",
            format!("must be another: {FAILED:?} notes that an execution has failed"),
        ));
    }
    let name = StepName::parse(name).map_err(|error| Refusal::invalid("name", error))?;
    let key = StepKey::parse(key).map_err(|error| Refusal::invalid("key", error))?;
    Ok(StepRef { kind, name, key })
}

/// Returns the step that marks an execution as failed.
fn failed_marker() -> StepRef {
    let name = StepName::parse(FAILED).unwrap_or_else(|never| unreachable!("{FAILED:?} is a name: {never}"));
    StepRef { kind: StepKind::Undo, ..StepRef::new(name) }
}

/// Describes a step, for messages.
fn describe(step: &StepRef) -> String {
    if step.key.is_empty() { format!("{:?}", step.name) } else { format!("{:?} of the key {:?}", step.name, step.key) }
}

/// Returns the fault of a step that can never succeed.
pub(super) fn invalid(step: &StepRef, why: impl std::fmt::Display) -> Fault {
    Fault::permanent("invalid_step", format!("the step {}: {why}", describe(step)))
}
