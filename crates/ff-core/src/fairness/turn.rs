//! The turn of a key: its virtual time, and the number of executions that wait for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::types::{FairKey, Kind, LaneId, RequirementClass};

/// The virtual time by which a claim moves the next turn of a key of weight one. Divided by the largest weight, it is
/// still precise enough, and after ten billion such claims a turn is still exact in a double.
const STEP: u64 = 100_000;

/// Returns the virtual time by which a claim moves the next turn of a key of this weight.
pub fn step_of(weight: u32) -> u64 {
    STEP / u64::from(weight.max(1))
}

/// A key of a lane on a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnName {
    pub partition: u16,
    /// The lane's name in indexes.
    pub lane: LaneId,
    pub key: FairKey,
}

/// The turn of a key. It exists while executions of the key wait, and afterwards until the clock has reached its next
/// turn. The turn of the empty key contains the clock of the lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// When its next turn comes, in virtual time.
    pub at: u64,
    /// The virtual time of the lane; only in the turn of the empty key.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock: u64,
    /// Number of waiting executions by kind and requirement class; not counted for the empty key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_text")]
    pub waiting: BTreeMap<(Kind, RequirementClass), u32>,
}

/// A turn to write; `None` deletes the stored one.
pub type TurnWrite = (TurnName, Option<Turn>);

/// A list of keys, ordered by their turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TurnQueue {
    /// Keys with waiting executions of a kind and requirement class; of any kind when none is named.
    Of(Option<Kind>, RequirementClass),
    /// Keys without waiting executions.
    Idle,
}

/// Query for the keys of a list whose turns come first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TurnsQuery {
    pub partition: u16,
    /// The lane's name in indexes.
    pub lane: LaneId,
    pub queue: TurnQueue,
    pub limit: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl TurnName {
    /// Returns the name of the turn that contains the clock of the same lane.
    #[must_use]
    pub fn clock(&self) -> Self {
        Self { key: FairKey::default(), ..self.clone() }
    }
}

impl Turn {
    /// Returns the lists that contain a key. The empty key is in none: its executions are in the plain queues.
    pub fn queues(&self, key: &FairKey) -> Vec<TurnQueue> {
        if key.is_empty() {
            return Vec::new();
        }
        if self.waiting.is_empty() {
            return vec![TurnQueue::Idle];
        }
        let of_kind = self.waiting.keys().map(|(kind, class)| TurnQueue::Of(Some(kind.clone()), class.clone()));
        let classes: BTreeSet<_> = self.waiting.keys().map(|(_, class)| class).collect();
        of_kind.chain(classes.into_iter().map(|class| TurnQueue::Of(None, class.clone()))).collect()
    }

    /// Returns whether the turn can be deleted without loss: no execution waits, and the next turn would begin at the clock
    /// anyway.
    pub(super) fn is_over(&self, clock: u64) -> bool {
        self.waiting.is_empty() && self.at <= clock
    }
}

/// Serializes kind and class as one string, separated by a space, which neither of them contains.
mod by_text {
    use super::*;

    type WaitingCounts = BTreeMap<(Kind, RequirementClass), u32>;

    pub(super) fn serialize<S: Serializer>(waiting: &WaitingCounts, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(waiting.iter().map(|((kind, class), count)| (format!("{kind} {class}"), count)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<WaitingCounts, D::Error> {
        let by_text = BTreeMap::<String, u32>::deserialize(deserializer)?;
        let queue = |text: &str| {
            let (kind, class) = text.split_once(' ')?;
            Some((Kind::parse(kind).ok()?, RequirementClass::parse(class).ok()?))
        };
        let one = |(text, count): (String, u32)| {
            let queue = queue(&text).ok_or_else(|| serde::de::Error::custom(format!("no kind and class: {text:?}")))?;
            Ok((queue, count))
        };
        by_text.into_iter().map(one).collect()
    }
}
