//! An execution's place in a flow, and what it owes there.

use ff_core::execution::{Blocker, Phase};
use ff_core::flow::{Membership, Owed, Owes, Siblings};
use ff_core::types::TimestampMs;

use super::Hash;
use crate::reply::Fields;
use crate::{ScriptError, Value};

/// What is kept of a member beside its record. An execution in no flow has nothing of it.
#[derive(Default)]
pub(super) struct Place {
    deps: Hash,
    dependents: u32,
}

impl Place {
    /// Reads what is told of it; nothing is, when the execution is in no flow.
    pub(super) fn read(fields: &mut Fields) -> Result<Self, ScriptError> {
        let told = match fields.value()? {
            Value::Nil => return Ok(Self::default()),
            told => told,
        };
        let mut told = fields.part(told)?;
        Ok(Self { deps: Hash::parse(told.list()?)?, dependents: told.read()? })
    }

    /// What the record and this say together.
    pub(super) fn membership(&self, core: &Hash) -> Result<Option<Box<Membership>>, ScriptError> {
        let Some(flow_id) = core.maybe("flow_id")? else { return Ok(None) };
        Ok(Some(Box::new(Membership {
            flow_id,
            node: core.read("node")?,
            position: core.read("position")?,
            dependents: self.dependents,
            result_bytes: core.maybe("result_bytes")?,
            inputs: self.deps.count("inputs")?,
            input_bytes: self.deps.count("input_bytes")?,
            injected_bytes: self.deps.maybe("injected_bytes")?,
            owes: owes(core)?,
            siblings: siblings(&self.deps)?,
        })))
    }
}

/// What an execution is blocked on: on its upstreams, unless it says otherwise.
pub(super) fn blocked(core: &Hash) -> Result<Phase, ScriptError> {
    let on = match core.text("blocked_on")? {
        None => Blocker::Dependencies,
        Some("staging") => Blocker::Staging,
        Some("reopening") => Blocker::Reopening,
        Some(other) => return Err(ScriptError::parse(format!("nothing is blocked on {other}"))),
    };
    Ok(Phase::Blocked { on, until: core.maybe("blocked_until")?.map(TimestampMs) })
}

fn owes(core: &Hash) -> Result<Option<Owes>, ScriptError> {
    let what = match core.text("owes")? {
        None => return Ok(None),
        Some("end") => Owed::End,
        Some("replay") => Owed::Replay { reopen: false },
        Some("reopen") => Owed::Replay { reopen: true },
        Some(other) => return Err(ScriptError::parse(format!("nobody owes {other}"))),
    };
    Ok(Some(Owes { since: TimestampMs(core.read("owes_since")?), what, after: core.maybe("owes_after")? }))
}

fn siblings(deps: &Hash) -> Result<Option<Siblings>, ScriptError> {
    let Some(since) = deps.maybe("siblings_since")?.map(TimestampMs) else { return Ok(None) };
    Ok(Some(Siblings { since, after: deps.maybe("siblings_after")?, within: deps.maybe("siblings_within")? }))
}
