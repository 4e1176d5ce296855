//! The record of a lane. A lane that was never configured has none and no limits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::fairness::step_of;
use crate::quota::Per;
use crate::state::words;
use crate::types::{Capability, FairKey, LaneId, Namespace, RequirementClass, TimestampMs};

/// How a lane is configured, as one partition knows it.
///
/// Each partition has a copy, so that a claim or a submission finds it where it writes. One partition is the lane's home:
/// it is asked first, and it alone says how many more of a lane with a limit may be held, wherever they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    pub namespace: Namespace,
    pub lane: LaneId,
    pub settings: LaneSettings,
    /// Rises with every change of the settings: of two copies the one with the higher is right.
    pub revision: u64,
    pub changed_at: TimestampMs,
    /// The last grant that was used or refused on this partition: no grant counts twice.
    #[serde(default)]
    pub grants: u64,
    /// The requirement classes of its work. They are only ever added, first at home, so that of two copies the union is right.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub classes: BTreeSet<RequirementClass>,
    /// Whether its work has keys: whether it has ever been fair. Work keeps the key it was submitted with, so that claims look for
    /// turns from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keyed: bool,
    /// Only at home, and only with a limit: the upper bound of each partition's held count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<u16, Share>,
}

/// The settings of a lane. Changing them moves no execution to another state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The weight of a key.
    pub fn weight_of(&self, key: &FairKey) -> u32 {
        self.weights.get(key).copied().unwrap_or(1)
    }

    /// How far a claim puts off the next turn of a key.
    pub(crate) fn step_of(&self, key: &FairKey) -> u64 {
        step_of(self.weight_of(key))
    }
}

/// The upper bound of how many executions of a lane with a limit a partition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub held: u32,
    /// The last grant it was given.
    pub seq: u64,
    /// When it was last counted.
    pub counted_at: TimestampMs,
}

words! {
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
    /// A lane with the defaults.
    pub(super) fn plain(namespace: Namespace, lane: LaneId, now: TimestampMs) -> Self {
        let (settings, classes, shares) = (LaneSettings::default(), BTreeSet::new(), BTreeMap::new());
        Self { namespace, lane, settings, revision: 0, changed_at: now, grants: 0, classes, keyed: false, shares }
    }

    /// As indexes and keys name it.
    pub fn key(&self) -> LaneId {
        self.lane.within(&self.namespace)
    }

    /// The classes a worker with these capabilities can run, beside work that requires nothing.
    pub fn classes_for(&self, capabilities: &BTreeSet<Capability>) -> impl Iterator<Item = &RequirementClass> {
        self.classes.iter().filter(|class| !capabilities.is_empty() && class.is_met_by(capabilities))
    }

    /// Whether it hands out work.
    pub fn hands_out(&self) -> bool {
        self.settings.state != LaneState::Paused
    }
}
