//! Members as their flow shows them, and the joins they wait at.

use ff_core::contracts::{GroupInfo, MemberInfo};
use ff_core::flow::{Group, Join};
use ff_core::state::PublicState;
use ff_core::types::{FlowId, LaneId, TimestampMs};

use super::Hash;
use crate::ScriptError;
use crate::flow::MemberFields;

impl MemberFields {
    /// The member these are the fields of.
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
            failure: super::attempt::failure(core)?,
            group: self.group(flow_id)?.as_ref().map(GroupInfo::from),
        })
    }

    /// How the edges into it join, when there are any or it was said before there were.
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

    /// Whether its join says that other upstreams are still to be looked at.
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
