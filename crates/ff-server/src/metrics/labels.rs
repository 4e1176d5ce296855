//! The labels of the metrics. Every label has a bounded number of values.

use std::fmt;

use ff_core::contracts::LanePlace;
use ff_core::types::{Kind, LaneId, Namespace};
use prometheus_client::encoding::{EncodeLabel, EncodeLabelSet, LabelSetEncoder};

use super::capped_counter::OverflowLabel;

/// Label value of all names beyond the limit. No lane or namespace has this name, because names have no parentheses.
const OTHER: &str = "(other)";

/// Label of a lane within its namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LaneLabel(Option<(Namespace, LaneId)>);

impl LaneLabel {
    pub(super) fn new(namespace: &Namespace, lane: &LaneId) -> Self {
        Self(Some((namespace.clone(), lane.clone())))
    }
}

impl OverflowLabel for LaneLabel {
    fn other(&self) -> Self {
        Self(None)
    }
}

impl EncodeLabelSet for LaneLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let (namespace, lane) = self.0.as_ref().map_or((OTHER, OTHER), |(of, lane)| (of.as_str(), lane.as_str()));
        ("namespace", namespace).encode(encoder.encode_label())?;
        ("lane", lane).encode(encoder.encode_label())
    }
}

/// Label of a lane and a state of its executions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LaneStateLabel {
    pub(super) of: LaneLabel,
    pub(super) state: LanePlace,
}

impl EncodeLabelSet for LaneStateLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        self.of.encode(encoder)?;
        ("state", self.state.as_str()).encode(encoder.encode_label())
    }
}

/// Label of a failure: the worker's category, and the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FailureLabel {
    category: Option<Kind>,
    outcome: &'static str,
}

impl FailureLabel {
    pub(super) fn new(category: Kind, is_retried: bool) -> Self {
        Self { category: Some(category), outcome: if is_retried { "retry" } else { "failed" } }
    }
}

impl OverflowLabel for FailureLabel {
    fn other(&self) -> Self {
        Self { category: None, ..*self }
    }
}

impl EncodeLabelSet for FailureLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        let category = self.category.as_ref().map_or(OTHER, Kind::as_str);
        ("category", category).encode(encoder.encode_label())?;
        ("outcome", self.outcome).encode(encoder.encode_label())
    }
}

/// A label whose values are constants of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WordLabel {
    pub(super) label: &'static str,
    pub(super) word: &'static str,
}

impl EncodeLabelSet for WordLabel {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        (self.label, self.word).encode(encoder.encode_label())
    }
}

/// Label of a request: method, route and status class.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabel {
    pub(super) method: &'static str,
    pub(super) route: String,
    pub(super) status: &'static str,
}
