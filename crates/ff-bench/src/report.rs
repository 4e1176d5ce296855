//! The report of a measurement: the same shape for every scenario.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;
use serde_json::Value;

use crate::latency::Percentiles;
use crate::median;

/// The figures of a measurement, with its machine and settings.
#[derive(Debug, Serialize)]
pub struct Report {
    pub scenario: &'static str,
    /// The store's URL, without a password.
    pub store: String,
    /// `None` where a scenario has no rate.
    pub throughput_per_s: Option<f64>,
    /// Rate of the bare store in the same run; `None` where there is no bare store.
    pub floor_per_s: Option<f64>,
    /// Median of the rounds' ratios, each of two neighbouring measurements.
    pub ratio: Option<f64>,
    pub latency_ms: BTreeMap<String, Percentiles>,
    /// Other figures, by name.
    pub figures: BTreeMap<&'static str, f64>,
    /// Settings of the measurement and the store.
    pub settings: BTreeMap<&'static str, Value>,
    pub machine: Machine,
}

impl Report {
    pub(crate) fn new(scenario: &'static str, store: String, settings: BTreeMap<&'static str, Value>) -> Self {
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

    /// Adds settings of the measurement.
    pub(crate) fn set<V: Into<Value>>(&mut self, settings: impl IntoIterator<Item = (&'static str, V)>) {
        self.settings.extend(settings.into_iter().map(|(name, value)| (name, value.into())));
    }

    /// Adds the median of a figure, if there is one.
    pub(crate) fn add_median(&mut self, name: &'static str, figures: impl IntoIterator<Item = f64>) {
        self.figures.extend(median(figures).map(|figure| (name, figure)));
    }
}

/// The machine of a measurement.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub cores: usize,
    pub processor: String,
    pub system: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let processor = processor.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned());
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self { cores, processor, system: format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned() }
    }
}
