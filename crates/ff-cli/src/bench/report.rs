//! What a measurement says: the same shape for every scenario.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::latency::Percentiles;
use super::machine::Machine;

/// What was measured, where, and how.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) scenario: &'static str,
    /// The store's URL, without a password.
    pub(crate) store: String,
    /// Nothing where a scenario has no rate.
    pub(crate) throughput_per_s: Option<f64>,
    /// What the bare store did in the same run; nothing where there is no bare store.
    pub(crate) floor_per_s: Option<f64>,
    /// The middle of the rounds' ratios, each of two neighbouring measurements.
    pub(crate) ratio: Option<f64>,
    pub(crate) latency_ms: BTreeMap<String, Percentiles>,
    /// Other figures, by what they are of.
    pub(crate) figures: BTreeMap<&'static str, f64>,
    /// How it was measured.
    pub(crate) settings: BTreeMap<&'static str, Value>,
    pub(crate) machine: Machine,
}

impl Report {
    pub(super) fn new(scenario: &'static str, store: String, settings: BTreeMap<&'static str, Value>) -> Self {
        Self {
            scenario,
            store,
            throughput_per_s: None,
            floor_per_s: None,
            ratio: None,
            latency_ms: BTreeMap::new(),
            figures: BTreeMap::new(),
            settings,
            machine: Machine::this(),
        }
    }
}
