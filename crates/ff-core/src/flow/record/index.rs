//! Indexes follow from the record: the indexes of its partition that a flow belongs in, and its scores.

use crate::flow::{Flow, SweepAction};
use crate::index::Score;
use crate::keys::FlowIndexKeys;
use crate::limits;
use crate::types::TimestampMs;

/// One index of the flows of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlowIndex {
    /// Every visible flow, by creation.
    Flows,
    /// Submissions whose last part has not come, by when they are given up.
    Staging,
    /// Flows whose members are being opened.
    Opening,
    /// Flows whose members are being cancelled, by when the grace ends that the pump has for it.
    CancelBacklog,
    /// Flows that have ended, by when they are forgotten.
    Retention,
}

impl FlowIndex {
    /// The key of this index on Valkey.
    pub fn key(self, keys: &FlowIndexKeys) -> String {
        match self {
            Self::Flows => keys.flow_index(),
            Self::Staging => keys.staging(),
            Self::Opening => keys.opening(),
            Self::CancelBacklog => keys.cancel_backlog(),
            Self::Retention => keys.retention(),
        }
    }
}

/// The score of a cancellation that began at a moment.
pub fn grace_ends(since: TimestampMs) -> Score {
    (since + limits::CANCEL_GRACE_MS).0
}

/// Every index a flow belongs in, with its score there.
pub fn entries(flow: &Flow) -> Vec<(FlowIndex, Score)> {
    let mut entries = Vec::new();
    match flow.staging {
        Some(staging) => entries.push((FlowIndex::Staging, staging.until.0)),
        None => entries.push((FlowIndex::Flows, flow.created_at.0)),
    }
    match flow.member_sweep.map(|member_sweep| (member_sweep.action, member_sweep.since.0)) {
        Some((SweepAction::Open, since)) => entries.push((FlowIndex::Opening, since)),
        Some((SweepAction::Cancel, since)) => entries.push((FlowIndex::CancelBacklog, grace_ends(TimestampMs(since)))),
        Some((SweepAction::Forget, since)) => entries.push((FlowIndex::Retention, since)),
        // A flow that is being forgotten is in the index of staged flows.
        Some((SweepAction::Discard, _)) => {}
        None => entries.extend(flow.forget_at().map(|at| (FlowIndex::Retention, at.0))),
    }
    entries
}
