//! Lanes in the file: a setting that is left out is the default. The state is an operator's, who may have paused a lane for a reason
//! that the file does not know: it stays unless the file has it.

use std::collections::BTreeMap;

use ff_core::contracts::{ConfigureLaneArgs, Setting};
use ff_core::engine_error::Refusal;
use ff_core::lane::{LaneSettings, LaneState};
use ff_core::types::{LaneId, Namespace};
use ff_sdk::Client;
use serde::{Deserialize, Serialize};

use super::resource::Resource;
use crate::commands::lanes::of_namespace;

/// How a lane is to be.
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
}

impl LaneEntry {
    fn of(settings: &LaneSettings) -> Self {
        let LaneSettings { state, concurrency, ageing_ms, retention_ms } = *settings;
        Self { state: Some(state).filter(|state| *state != LaneState::Active), concurrency, ageing_ms, retention_ms }
    }

    fn into_args(self, namespace: Namespace, lane: LaneId) -> ConfigureLaneArgs {
        ConfigureLaneArgs {
            namespace,
            lane,
            state: Some(self.state.unwrap_or_default()),
            concurrency: setting(self.concurrency),
            ageing_ms: setting(self.ageing_ms),
            retention_ms: setting(self.retention_ms),
        }
    }
}

impl Resource for LaneEntry {
    type Name = LaneId;

    const SECTION: &'static str = "lanes";
    const NOUN: &'static str = "lane";

    fn check(&self, namespace: &Namespace, name: &LaneId) -> Result<(), Refusal> {
        self.clone().into_args(namespace.clone(), name.clone()).check()
    }

    async fn stored(client: &Client, namespace: &Namespace) -> anyhow::Result<BTreeMap<LaneId, Self>> {
        let lanes = of_namespace(client, Some(namespace)).await?;
        let entries = lanes.into_iter().map(|lane| (lane.lane_id, Self::of(&lane.settings)));
        Ok(entries.filter(|(_, entry)| *entry != Self::default()).collect())
    }

    fn completed(self, stored: Option<&Self>) -> Self {
        let state = self.state.or(stored.and_then(|stored| stored.state));
        Self { state: state.filter(|state| *state != LaneState::Active), ..self }
    }

    fn unwritten() -> Option<Self> {
        Some(Self::default())
    }

    fn pruned(&self) -> Option<Self> {
        Some(Self { state: self.state, ..Self::default() })
    }

    async fn write(client: &Client, namespace: &Namespace, name: LaneId, to: Option<Self>) -> anyhow::Result<()> {
        client.configure_lane(to.unwrap_or_default().into_args(namespace.clone(), name)).await?;
        Ok(())
    }
}

fn setting<T>(value: Option<T>) -> Setting<T> {
    value.map_or(Setting::Default, Setting::To)
}
