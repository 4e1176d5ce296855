//! Lanes on the wire. An absent setting stays unchanged; `null` removes a setting.

use std::collections::BTreeMap;

use ff_core::contracts::{self, ConfigureLaneArgs, LaneInfo, Setting};
use ff_core::engine_error::{Code, Refusal};
use ff_core::lane::LaneState;
use ff_core::quota::Per;
use ff_core::types::{FairKey, LaneId, Namespace};
use serde::{Deserialize, Deserializer};

use crate::object::{answers, requests, word};
use crate::query::{Limit, query};

requests! {
    /// Changes the settings of a lane. Absent fields stay unchanged; `null` removes a setting.
    pub struct ConfigureLane {
        pub namespace: Option<Namespace>,
        #[serde(deserialize_with = "word")]
        pub state: Option<LaneState>,
        /// Maximum number of executions running at once.
        #[serde(deserialize_with = "nullable")]
        pub concurrency: Option<Option<u32>>,
        /// Waiting time that counts as one step of priority.
        #[serde(deserialize_with = "nullable")]
        pub ageing_ms: Option<Option<u64>>,
        /// How long executions submitted to it are kept after their end.
        #[serde(deserialize_with = "nullable")]
        pub retention_ms: Option<Option<u64>>,
        /// Key for fair queueing, whose values claims take in turn: `kind`, `namespace` or `tag:<name>`.
        #[serde(deserialize_with = "nullable")]
        pub fair_by: Option<Option<Per>>,
        /// Weights by key, 1 to 1000; `null` restores the default of 1. Other keys stay unchanged.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub weights: BTreeMap<FairKey, Option<u32>>,
    }
}

impl ConfigureLane {
    pub fn of(args: ConfigureLaneArgs) -> Self {
        Self {
            namespace: Some(args.namespace),
            state: args.state,
            concurrency: written(args.concurrency),
            ageing_ms: written(args.ageing_ms),
            retention_ms: written(args.retention_ms),
            fair_by: written(args.fair_by),
            weights: args.weights.into_iter().filter_map(|(key, weight)| Some((key, written(weight)?))).collect(),
        }
    }

    pub fn into_args(self, lane: LaneId) -> ConfigureLaneArgs {
        ConfigureLaneArgs {
            namespace: self.namespace.unwrap_or_else(Namespace::default_name),
            lane,
            state: self.state,
            concurrency: setting(self.concurrency),
            ageing_ms: setting(self.ageing_ms),
            retention_ms: setting(self.retention_ms),
            fair_by: setting(self.fair_by),
            weights: self.weights.into_iter().map(|(key, weight)| (key, setting(Some(weight)))).collect(),
        }
    }
}

answers! {
    /// One page of a listing of lanes.
    pub struct LanesPage {
        pub lanes: Vec<LaneInfo>,
        /// The `after` of the next page; absent on the last one.
        pub next: Option<String>,
    }
}

impl From<contracts::LanesPage> for LanesPage {
    fn from(page: contracts::LanesPage) -> Self {
        Self { lanes: page.lanes, next: page.next.map(|next| next.to_string()) }
    }
}

impl LanesPage {
    /// Returns the page. Refuses a `next` that is not the name of a lane.
    pub fn into_page(self) -> Result<contracts::LanesPage, Refusal> {
        let next = self.next.map(|next| LaneId::parse_key(&next)).transpose();
        let next = next.map_err(|error| Code::InvalidCursor.refusal().at("next").because(error.to_string()))?;
        Ok(contracts::LanesPage { lanes: self.lanes, next })
    }
}

/// Reads a value or `null`. serde does not call this function for an absent field.
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn written<T>(setting: Setting<T>) -> Option<Option<T>> {
    match setting {
        Setting::Keep => None,
        Setting::Default => Some(None),
        Setting::To(value) => Some(Some(value)),
    }
}

fn setting<T>(field: Option<Option<T>>) -> Setting<T> {
    match field {
        None => Setting::Keep,
        Some(None) => Setting::Default,
        Some(Some(value)) => Setting::To(value),
    }
}

query! {
    /// Parameters of the list of lanes.
    LanesQuery within namespace {
        /// Only this namespace (default: all).
        namespace: Namespace,
        /// Cursor from the previous page.
        after: String,
        /// Maximum number of results.
        limit: Limit,
        /// Whether to count finished executions (default: true).
        finished: bool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_lane_settings_stay_and_null_resets_them() {
        let lane = LaneId::parse("mail").unwrap();
        let args = ConfigureLaneArgs {
            state: Some(LaneState::Paused),
            concurrency: Setting::To(3),
            retention_ms: Setting::Default,
            fair_by: Setting::To("tag:customer".parse().unwrap()),
            weights: [(FairKey::parse("a").unwrap(), Setting::To(2)), (FairKey::parse("b").unwrap(), Setting::Default)]
                .into(),
            ..ConfigureLaneArgs::new(Namespace::parse("acme").unwrap(), lane.clone())
        };
        let text = serde_json::to_string(&ConfigureLane::of(args.clone())).unwrap();
        assert!(text.contains("\"retention_ms\":null") && !text.contains("ageing_ms"), "{text}");
        assert_eq!(serde_json::from_str::<ConfigureLane>(&text).unwrap().into_args(lane), args);
    }
}
