//! Lanes in the file. An absent setting means the default, except for the state: an operator may have paused the lane
//! for a reason unknown to the file, so an absent state leaves the stored state unchanged.

use std::collections::BTreeMap;

use ff_core::contracts::{ConfigureLaneArgs, Setting};
use ff_core::engine_error::Refusal;
use ff_core::lane::{LaneSettings, LaneState};
use ff_core::quota::Per;
use ff_core::types::{FairKey, LaneId, Namespace};
use serde::{Deserialize, Serialize};

use super::resource::{Resource, Tenant};
use crate::commands::lanes::of_namespace;

/// The settings of a lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct LaneEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<LaneState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    concurrency: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ageing_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retention_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fair_by: Option<Per>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    weights: BTreeMap<FairKey, u32>,
}

impl LaneEntry {
    fn of(settings: LaneSettings) -> Self {
        let LaneSettings { state, concurrency, ageing_ms, retention_ms, fair_by, weights } = settings;
        let state = Some(state).filter(|state| *state != LaneState::Active);
        Self { state, concurrency, ageing_ms, retention_ms, fair_by, weights }
    }

    /// Returns the arguments that configure a lane as in this entry. `known` are its stored weights; weights that are
    /// not in this entry are reset to the default.
    fn into_args(self, namespace: Namespace, lane: LaneId, known: BTreeMap<FairKey, u32>) -> ConfigureLaneArgs {
        let gone = known.into_keys().map(|key| (key, Setting::Default));
        let wanted = self.weights.into_iter().map(|(key, weight)| (key, Setting::To(weight)));
        ConfigureLaneArgs {
            namespace,
            lane,
            state: Some(self.state.unwrap_or_default()),
            concurrency: setting(self.concurrency),
            ageing_ms: setting(self.ageing_ms),
            retention_ms: setting(self.retention_ms),
            fair_by: setting(self.fair_by),
            weights: gone.chain(wanted).collect(),
        }
    }
}

impl Resource for LaneEntry {
    type Name = LaneId;

    const SECTION: &'static str = "lanes";
    const NOUN: &'static str = "lane";

    fn check(&self, namespace: &Namespace, name: &LaneId) -> Result<(), Refusal> {
        if self.fair_by.is_none() && !self.weights.is_empty() {
            return Err(Refusal::invalid("weights", "must be absent without fair_by"));
        }
        self.clone().into_args(namespace.clone(), name.clone(), BTreeMap::new()).check()
    }

    async fn stored(tenant: &Tenant) -> anyhow::Result<BTreeMap<LaneId, Self>> {
        let lanes = of_namespace(&tenant.client, Some(&tenant.namespace)).await?;
        let entries = lanes.into_iter().map(|lane| (lane.lane_id, Self::of(lane.settings)));
        Ok(entries.filter(|(_, entry)| *entry != Self::default()).collect())
    }

    fn completed(mut self, stored: Option<&Self>) -> anyhow::Result<Self> {
        let state = self.state.or(stored.and_then(|stored| stored.state));
        self.state = state.filter(|state| *state != LaneState::Active);
        self.weights.retain(|_, weight| *weight != 1);
        Ok(self)
    }

    fn unwritten() -> Option<Self> {
        Some(Self::default())
    }

    fn pruned(&self) -> Option<Self> {
        Some(Self { state: self.state, ..Self::default() })
    }

    async fn write(tenant: &Tenant, name: LaneId, from: Option<Self>, to: Option<Self>) -> anyhow::Result<()> {
        let known = from.map(|from| from.weights).unwrap_or_default();
        let args = to.unwrap_or_default().into_args(tenant.namespace.clone(), name, known);
        tenant.client.configure_lane(args).await?;
        Ok(())
    }
}

fn setting<T>(value: Option<T>) -> Setting<T> {
    value.map_or(Setting::Default, Setting::To)
}
