//! Reading a flow: its record, its counts and its labels.

use std::collections::BTreeMap;

use ff_core::execution::Tags;
use ff_core::flow::{Counts, Flow, FlowCancel, MemberSweep, Staging};
use ff_core::payload::Fingerprint;
use ff_core::state::PublicState;
use ff_core::types::{FlowId, TimestampMs};

use super::{Hash, trace_of};
use crate::ScriptError;
use crate::flow::FlowFields;

impl FlowFields {
    /// Returns the flow.
    pub fn flow(&self, id: FlowId, partition: u16) -> Result<Flow, ScriptError> {
        let core = &self.core;
        Ok(Flow {
            id,
            namespace: core.read("namespace")?,
            kind: core.read("kind")?,
            tags: self.tags.all()?.into_iter().collect::<Tags>(),
            partition,
            created_at: TimestampMs(core.read("created_at")?),
            graph_revision: core.read("graph_revision")?,
            nodes: core.read("nodes")?,
            edges: core.read("edges")?,
            payload_bytes: core.read("payload_bytes")?,
            counts: counts(&self.summary)?,
            failed_leaves: core.count("failed_leaves")?,
            fingerprint: fingerprint(core)?,
            staging: staging(core)?,
            held_open: core.bytes("held_open").is_some(),
            started_at: core.maybe("started_at")?.map(TimestampMs),
            cancel: cancel(core)?,
            member_sweep: member_sweep(core)?,
            retention_ms: core.maybe("retention_ms")?,
            trace: trace_of(core)?,
            ended_at: core.maybe("ended_at")?.map(TimestampMs),
            events: core.read("events")?,
        })
    }

    /// Returns the state that the record repeats. It follows from the other fields.
    pub fn state_word(&self) -> Result<Option<&str>, ScriptError> {
        self.core.text("state")
    }
}

/// Reads the number of members in each state.
fn counts(summary: &Hash) -> Result<Counts, ScriptError> {
    let counts: BTreeMap<PublicState, u32> = summary.all()?.into_iter().collect();
    let json = serde_json::to_value(counts).and_then(serde_json::from_value);
    json.map_err(|error| ScriptError::parse(format!("the counts of a flow cannot be read: {error}")))
}

fn fingerprint(core: &Hash) -> Result<Option<Fingerprint>, ScriptError> {
    let read = core.owned("fingerprint")?.map(Fingerprint::try_from);
    read.transpose().map_err(|_| ScriptError::parse("the field fingerprint cannot be read"))
}

fn staging(core: &Hash) -> Result<Option<Staging>, ScriptError> {
    let Some(parts) = core.maybe("staging_parts")? else { return Ok(None) };
    let until = TimestampMs(core.read("staging_until")?);
    Ok(Some(Staging { parts, short: core.count("staging_short")?, until }))
}

fn cancel(core: &Hash) -> Result<Option<FlowCancel>, ScriptError> {
    let Some(policy) = core.maybe("cancel_policy")? else { return Ok(None) };
    Ok(Some(FlowCancel {
        policy,
        at: TimestampMs(core.read("cancelled_at")?),
        reason: core.owned("cancel_reason")?,
        requested_by: core.owned("cancelled_by")?,
    }))
}

fn member_sweep(core: &Hash) -> Result<Option<MemberSweep>, ScriptError> {
    let Some(action) = core.maybe("sweep_action")? else { return Ok(None) };
    Ok(Some(MemberSweep {
        action,
        since: TimestampMs(core.read("sweep_since")?),
        after: core.maybe("sweep_after")?,
        seen: core.count("sweep_seen")?,
    }))
}
