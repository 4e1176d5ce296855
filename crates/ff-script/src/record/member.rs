//! Reading members of a flow, their groups and their edges.

use ff_core::contracts::{GroupInfo, MemberInfo};
use ff_core::execution::{Blocker, Phase};
use ff_core::flow::{Edge, Group, Join, Membership, PassMode, PendingPropagation, Propagation, Siblings};
use ff_core::state::PublicState;
use ff_core::types::{FlowId, LaneId, TimestampMs};

use super::Hash;
use crate::flow::{EdgeFields, MemberFields};
use crate::reply::Fields;
use crate::{ScriptError, Value};

impl MemberFields {
    /// Returns the member.
    pub fn info(&self, flow_id: FlowId) -> Result<MemberInfo, ScriptError> {
        let core = &self.core;
        let public_state = core.read::<PublicState>("public_state")?;
        let finished_at = if public_state.is_terminal() { core.maybe("changed_at")?.map(TimestampMs) } else { None };
        Ok(MemberInfo {
            node: core.read("node")?,
            position: core.read("position")?,
            execution_id: self.execution_id,
            kind: core.read("kind")?,
            lane_id: core.maybe("lane_id")?.unwrap_or_else(LaneId::default_name),
            public_state,
            started_at: core.maybe("started_at")?.map(TimestampMs),
            finished_at,
            attempts_made: core.maybe::<u32>("current_attempt_index")?.map_or(0, |index| index + 1),
            replays: core.count("replays")?,
            failure: super::lease::failure(core)?,
            group: self.group(flow_id)?.as_ref().map(GroupInfo::from),
        })
    }

    /// Returns the group of edges into the member. It exists once an edge was added or its join was set.
    pub fn group(&self, flow_id: FlowId) -> Result<Option<Group>, ScriptError> {
        let group = &self.group;
        if group.is_empty() {
            return Ok(None);
        }
        Ok(Some(Group {
            flow_id,
            downstream_execution_id: self.execution_id,
            join: join(group)?,
            n: group.read("n")?,
            succeeded: group.count("succeeded")?,
            failed: group.count("failed")?,
            skipped: group.count("skipped")?,
            state: group.read("group_state")?,
            fired_at: group.maybe("satisfied_at")?.map(TimestampMs),
            round: group.count("round")?,
            passes_payload: group.bytes("passes_payload").is_some(),
        }))
    }

    /// Returns whether its join has other upstreams that are still to be checked.
    pub fn looks_after_siblings(&self) -> bool {
        self.group.bytes("cancel_siblings_pending").is_some()
    }
}

fn join(group: &Hash) -> Result<Join, ScriptError> {
    let on_satisfied = || group.read("on_satisfied");
    match group.read::<String>("policy_variant")?.as_str() {
        "all_of" => Ok(Join::AllOf),
        "any_of" => Ok(Join::AnyOf { on_satisfied: on_satisfied()? }),
        "quorum" => Ok(Join::Quorum { k: group.read("k")?, on_satisfied: on_satisfied()? }),
        other => Err(ScriptError::parse(format!("nothing joins as {other}"))),
    }
}

/// The membership data of an execution outside its record; empty for an execution in no flow.
#[derive(Default)]
pub(super) struct MembershipFields {
    deps: Hash,
    dependents: u32,
}

impl MembershipFields {
    /// Reads the fields; empty when the execution is in no flow.
    pub(super) fn read(fields: &mut Fields) -> Result<Self, ScriptError> {
        let value = match fields.value()? {
            Value::Nil => return Ok(Self::default()),
            value => value,
        };
        let mut part = fields.part(value)?;
        Ok(Self { deps: Hash::parse(part.list()?)?, dependents: part.read()? })
    }

    /// Returns the membership, from the record and these fields.
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
            pending_propagation: propagation(core)?,
            siblings: siblings(&self.deps)?,
        })))
    }
}

/// Returns the blocked phase of an execution. Without another blocker it waits for its upstreams.
pub(super) fn blocked(core: &Hash) -> Result<Phase, ScriptError> {
    let on = match core.text("blocked_on")? {
        None => Blocker::Dependencies,
        Some("staging") => Blocker::Staging,
        Some("reopening") => Blocker::Reopening,
        Some("route") => Blocker::Route,
        Some("quota") => Blocker::Quota,
        Some("budget") => Blocker::Budget,
        Some("operator") => Blocker::Operator,
        Some("assignment") => Blocker::Assignment,
        Some(other) => return Err(ScriptError::parse(format!("nothing is blocked on {other}"))),
    };
    Ok(Phase::Blocked { on, until: core.maybe("blocked_until")?.map(TimestampMs) })
}

fn propagation(core: &Hash) -> Result<Option<PendingPropagation>, ScriptError> {
    let what = match core.text("pending_propagation")? {
        None => return Ok(None),
        Some("end") => Propagation::End,
        Some("replay") => Propagation::Replay { reopen: false },
        Some("reopen") => Propagation::Replay { reopen: true },
        Some(other) => return Err(ScriptError::parse(format!("unknown propagation {other}"))),
    };
    Ok(Some(PendingPropagation {
        since: TimestampMs(core.read("propagation_since")?),
        what,
        after: core.maybe("propagation_after")?,
    }))
}

fn siblings(deps: &Hash) -> Result<Option<Siblings>, ScriptError> {
    let Some(since) = deps.maybe("siblings_since")?.map(TimestampMs) else { return Ok(None) };
    Ok(Some(Siblings { since, after: deps.maybe("siblings_after")?, within: deps.maybe("siblings_within")? }))
}

impl EdgeFields {
    /// Returns the edge.
    pub fn edge(&self, flow_id: FlowId) -> Result<Edge, ScriptError> {
        Ok(Edge {
            id: self.id,
            flow_id,
            upstream_execution_id: self.edge.read("upstream_execution_id")?,
            downstream_execution_id: self.edge.read("downstream_execution_id")?,
            passes: passes(&self.edge)?,
            round: self.dep.count("round")?,
            state: self.dep.read("state")?,
            passed_bytes: self.dep.maybe("passed_bytes")?,
        })
    }

    /// Returns the contradictions between the edge's two hashes, which repeat some fields.
    pub fn strays(&self) -> Vec<String> {
        let differs = |name: &&str| self.edge.bytes(name) != self.dep.bytes(name);
        let twice = ["upstream_execution_id", "passes", "input_name"].into_iter().filter(differs);
        twice.map(|name| format!("the edge {} has two answers to what its {name} is", self.id)).collect()
    }
}

/// Reads the use of the upstream's result.
fn passes(fields: &Hash) -> Result<Option<PassMode>, ScriptError> {
    match fields.text("passes")? {
        None => Ok(None),
        Some("payload") => Ok(Some(PassMode::Payload)),
        Some("input") => Ok(Some(PassMode::Input(fields.read("input_name")?))),
        Some(other) => Err(ScriptError::parse(format!("no edge passes on {other}"))),
    }
}
