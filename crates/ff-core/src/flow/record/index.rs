//! Indexes of flows: the entries of a flow, and their scores, are derived from its record.

use crate::flow::{Flow, SweepAction};
use crate::keys::FlowIndexKeys;
use crate::limits;
use crate::rule::index::Score;
use crate::types::TimestampMs;

/// One index of the flows of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlowIndex {
    /// Every flow that is not staged, by creation.
    Flows,
    /// Submissions that wait for their last part, by the time at which they are abandoned.
    Staging,
    /// Flows whose members are being opened.
    Opening,
    /// Flows whose members are being cancelled, by the time from which another program than the pump may continue.
    CancelBacklog,
    /// Flows that have ended, by the time at which they are forgotten.
    Retention,
}

impl FlowIndex {
    /// Returns the key of this index on Valkey.
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

/// Returns the score of a cancellation that began at `since`.
pub fn grace_ends(since: TimestampMs) -> Score {
    (since + limits::CANCEL_GRACE_MS).0
}

/// Returns every index that a flow belongs in, with its score.
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
        // A discarded submission is still staged, so its entry is in `Staging`.
        Some((SweepAction::Discard, _)) => {}
        None => entries.extend(flow.forget_at().map(|at| (FlowIndex::Retention, at.0))),
    }
    entries
}
