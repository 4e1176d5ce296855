//! What the members a handler adds are called, so that a second run of it names the same ones.

use std::collections::HashSet;

use ff_core::contracts::TaskFlow;
use ff_core::engine_error::{Code, Refusal};
use ff_core::types::{ExecutionId, IdempotencyKey, NodeName};

use crate::{Context, Error};

/// The place of a handler's work in its flow; without one it can add nothing.
pub(super) fn place(context: &Context) -> Result<&TaskFlow, Error> {
    let none =
        || Code::ExecutionNotInFlow.refusal().at("execution_id").because("is in no flow: submit it as a node of one");
    Ok(context.flow().ok_or_else(none)?)
}

/// A child's name within its flow: below its parent and the wait it belongs to, so that two handlers, or two waits of one,
/// never mean the same by it. A wait's name has no dot, and the name can be taken apart again.
pub(super) fn child(parent: &NodeName, wait: &str, child: &str) -> Result<NodeName, Error> {
    let text = format!("{parent}.{wait}.{child}");
    let parsed = NodeName::parse(&text);
    Ok(parsed
        .map_err(|error| Refusal::invalid(format!("nodes.{child}"), format!("would be called {text:?}: {error}")))?)
}

/// Refuses the name of a wait that could not be told from another.
pub(super) fn check_wait(name: &str) -> Result<(), Error> {
    if name.contains('.') {
        return Err(Refusal::invalid("children", format!("the name {name:?} of a wait has no dot")).into());
    }
    NodeName::parse(name).map_err(|error| Refusal::invalid("children", format!("the name {name:?}: {error}")))?;
    Ok(())
}

/// Refuses two children of one name.
pub(super) fn check_twice<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Refusal::invalid(format!("nodes.{name}"), "must be there once, is there twice").into());
        }
    }
    Ok(())
}

/// What makes the same addition by the same execution the same, however often its handler runs.
pub(super) fn key(what: &str, execution: &ExecutionId, name: &str, part: usize) -> Result<IdempotencyKey, Error> {
    let text = format!("{what}/{}/{name}/{part}", execution.uuid());
    Ok(IdempotencyKey::parse(&text).map_err(|error| Refusal::invalid("idempotency_key", error))?)
}
