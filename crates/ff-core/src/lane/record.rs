//! The record of a lane. A lane that was never configured has no record and no limits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::fairness::step_of;
use crate::quota::Per;
use crate::state::text_enum;
use crate::types::{Capability, FairKey, LaneId, Namespace, RequirementClass, TimestampMs};

/// The configuration of a lane, as stored on one partition.
///
/// Each partition has a copy, so that a claim or a submission finds it on the partition to which it writes. One
/// partition is the lane's home: it decides changes first, and it alone decides how many more executions of a lane with
/// a limit may be held on all partitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    pub namespace: Namespace,
    pub lane: LaneId,
    pub settings: LaneSettings,
    /// Rises with every change of the settings. Of two copies, the one with the higher revision is current.
    pub revision: u64,
    pub changed_at: TimestampMs,
    /// The last grant that was used on this partition or made void by a recount. No grant counts twice.
    #[serde(default)]
    pub grants: u64,
    /// The requirement classes of its work. Classes are only added, first at the home, so the union of two copies is
    /// always right.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub classes: BTreeSet<RequirementClass>,
    /// Whether the lane has ever been fair, so that its work may have keys. Work keeps the key with which it was
    /// submitted, so claims look for turns from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keyed: bool,
    /// Upper bound of each partition's held count. Present only at the home, and only with a limit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<u16, Share>,
}

/// The settings of a lane. Changing them moves no execution to another state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LaneSettings {
    pub state: LaneState,
    /// Maximum number of executions running at once, over all partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Waiting time that counts as one step of priority; strict priority when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ageing_ms: Option<u64>,
    /// How long executions submitted to it are kept after their end, unless their policy says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_ms: Option<u64>,
    /// Key for fair queueing, whose values claims take in turn; one queue when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_by: Option<Per>,
    /// Weights other than 1, by key. A key with twice the weight is served twice as often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<FairKey, u32>,
}

impl LaneSettings {
    /// Returns the weight of a key.
    pub fn weight_of(&self, key: &FairKey) -> u32 {
        self.weights.get(key).copied().unwrap_or(1)
    }

    /// Returns the virtual time by which a claim delays the next turn of a key.
    pub(crate) fn step_of(&self, key: &FairKey) -> u64 {
        step_of(self.weight_of(key))
    }
}

/// An upper bound of the number of executions that a partition holds in a lane with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub held: u32,
    /// Number of the last grant to the partition.
    pub seq: u64,
    /// Time of the last count.
    pub counted_at: TimestampMs,
}

text_enum! {
    /// State of a lane.
    #[derive(Default)]
    LaneState {
        /// Accepts submissions and claims.
        #[default]
        Active "active",
        /// Accepts submissions, but no claims.
        Paused "paused",
        /// Accepts claims, but no submissions.
        Draining "draining",
    }
}

impl Lane {
    /// Returns a lane with default settings.
    pub(super) fn plain(namespace: Namespace, lane: LaneId, now: TimestampMs) -> Self {
        let (settings, classes, shares) = (LaneSettings::default(), BTreeSet::new(), BTreeMap::new());
        Self { namespace, lane, settings, revision: 0, changed_at: now, grants: 0, classes, keyed: false, shares }
    }

    /// Returns the name of the lane in indexes and keys.
    pub fn key(&self) -> LaneId {
        self.lane.within(&self.namespace)
    }

    /// Returns the classes that a worker with these capabilities can run, in addition to work without requirements.
    pub fn classes_for(&self, capabilities: &BTreeSet<Capability>) -> impl Iterator<Item = &RequirementClass> {
        self.classes.iter().filter(|class| !capabilities.is_empty() && class.is_met_by(capabilities))
    }

    /// Returns whether the lane hands out work.
    pub fn hands_out(&self) -> bool {
        self.settings.state != LaneState::Paused
    }
}
