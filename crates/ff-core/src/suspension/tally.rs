//! The signals counted so far towards a condition: one list per leaf, so that leaves count independently.

use serde::{Deserialize, Serialize};

use super::{Condition, Distinct};
use crate::json::is_default;
use crate::signal::Source;
use crate::types::{SignalId, SignalName, WaitpointKey};

/// The signals that each leaf of a condition has counted, leaves from left to right. No leaf counts more signals than
/// it needs, so weighing a signal does not require reading all earlier signals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tally(Vec<Vec<CountedSignal>>);

/// A signal that counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedSignal {
    pub signal_id: SignalId,
    /// Size of the payload, so that a claim knows without reading the signal whether it fits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub payload_bytes: u64,
    /// The signal's value for a leaf that does not distinguish signals by their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts_as: Option<String>,
}

/// The fields of a signal that a condition evaluates.
#[derive(Clone, Copy, Debug)]
pub struct SignalMatch<'s> {
    pub signal_id: SignalId,
    pub waitpoint: &'s WaitpointKey,
    pub name: &'s SignalName,
    pub source: &'s Source,
    pub payload_bytes: u64,
}

/// The effect of a signal on a condition: the highest of its effects on the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// No leaf uses the signal's waitpoint.
    NotInCondition,
    /// Leaves use the signal's waitpoint, but for signals of other names.
    MatcherFailed,
    /// The signal matches, but it is not distinct from one that counted before.
    Recounted,
    /// The signal counted.
    Counted,
}

impl Tally {
    /// Creates the empty tally of a condition.
    pub fn of(condition: &Condition) -> Self {
        Self(condition.leaves().iter().map(|_| Vec::new()).collect())
    }

    /// Counts a signal in every leaf that needs it.
    pub fn weigh(&mut self, condition: &Condition, signal: &SignalMatch<'_>) -> Weight {
        let mut weight = Weight::NotInCondition;
        for (leaf, counted) in condition.leaves().into_iter().zip(&mut self.0) {
            weight = weight.max(weigh_leaf(leaf, counted, signal));
        }
        weight
    }

    /// Returns whether the condition is met.
    pub fn meets(&self, condition: &Condition) -> bool {
        met(condition, &mut self.0.iter()).is_some()
    }

    /// Returns the signals that meet the condition, each once, leaves from left to
    /// right; empty while the condition is not met.
    pub fn satisfiers(&self, condition: &Condition) -> Vec<CountedSignal> {
        let mut once: Vec<CountedSignal> = Vec::new();
        for counted in met(condition, &mut self.0.iter()).unwrap_or_default() {
            if once.iter().all(|known| known.signal_id != counted.signal_id) {
                once.push(CountedSignal { counts_as: None, ..counted.clone() });
            }
        }
        once
    }

    /// Returns all signals that counted in any leaf.
    pub fn counted(&self) -> impl Iterator<Item = &CountedSignal> {
        self.0.iter().flatten()
    }
}

fn weigh_leaf(leaf: &Condition, counted: &mut Vec<CountedSignal>, signal: &SignalMatch<'_>) -> Weight {
    if !leaf.names(signal.waitpoint) {
        return Weight::NotInCondition;
    }
    if !leaf.matches(signal.name) {
        return Weight::MatcherFailed;
    }
    let counts_as = match leaf {
        Condition::Count { of: Distinct::Waitpoints, .. } => Some(signal.waitpoint.to_string()),
        Condition::Count { of: Distinct::Sources, .. } => Some(signal.source.to_string()),
        _ => None,
    };
    let known = counts_as.is_some() && counted.iter().any(|earlier| earlier.counts_as == counts_as);
    if known || counted.len() >= leaf.needs() {
        return Weight::Recounted;
    }
    counted.push(CountedSignal { signal_id: signal.signal_id, payload_bytes: signal.payload_bytes, counts_as });
    Weight::Counted
}

/// Returns the signals that met a node, if it is met. Each leaf takes the next list, whether it is met or not.
fn met<'t>(node: &Condition, leaves: &mut std::slice::Iter<'t, Vec<CountedSignal>>) -> Option<Vec<&'t CountedSignal>> {
    match node {
        Condition::AllOf { members } => {
            let members: Vec<_> = members.iter().map(|member| met(member, leaves)).collect();
            Some(members.into_iter().collect::<Option<Vec<_>>>()?.concat())
        }
        Condition::AnyOf { members } => {
            let members: Vec<_> = members.iter().map(|member| met(member, leaves)).collect();
            members.iter().any(Option::is_some).then(|| members.into_iter().flatten().flatten().collect())
        }
        Condition::Signal { .. } | Condition::Count { .. } => {
            leaves.next().filter(|counted| counted.len() >= node.needs()).map(|counted| counted.iter().collect())
        }
        Condition::OperatorOnly | Condition::TimeoutOnly => None,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn key(text: &str) -> WaitpointKey {
        WaitpointKey::parse(text).unwrap()
    }

    fn signal(waitpoint: &str, name: Option<&str>) -> Condition {
        Condition::Signal { waitpoint: key(waitpoint), name: name.map(|name| SignalName::parse(name).unwrap()) }
    }

    fn count(n: u32, of: Distinct, waitpoints: &[&str]) -> Condition {
        Condition::Count { n, of, waitpoints: waitpoints.iter().map(|text| key(text)).collect(), name: None }
    }

    fn all(members: Vec<Condition>) -> Condition {
        Condition::AllOf { members }
    }

    fn any(members: Vec<Condition>) -> Condition {
        Condition::AnyOf { members }
    }

    /// A condition and its tally. A signal is given by its waitpoint, name and source.
    struct TallyFixture(Condition, Tally, u128);

    impl TallyFixture {
        fn new(condition: Condition) -> Self {
            let tally = Tally::of(&condition);
            Self(condition, tally, 0)
        }

        fn put(&mut self, waitpoint: &str, name: &str, source: &str) -> Weight {
            self.2 += 1;
            let (waitpoint, name) = (key(waitpoint), SignalName::parse(name).unwrap());
            let source = Source::parse("user", Some(source)).unwrap();
            let signal_id = SignalId::from_uuid(Uuid::from_u128(self.2));
            let signal =
                SignalMatch { signal_id, waitpoint: &waitpoint, name: &name, source: &source, payload_bytes: 0 };
            self.1.weigh(&self.0, &signal)
        }

        fn met(&self) -> bool {
            self.1.meets(&self.0)
        }

        /// Returns the numbers of the signals that meet the condition, counted from one.
        fn by(&self) -> Vec<u128> {
            self.1.satisfiers(&self.0).iter().map(|counted| counted.signal_id.as_uuid().as_u128()).collect()
        }
    }

    #[test]
    fn a_condition_with_a_name_counts_only_that_signal() {
        let mut scale = TallyFixture::new(signal("a", Some("approved")));
        assert_eq!(scale.put("b", "approved", "x"), Weight::NotInCondition);
        assert_eq!(scale.put("a", "other", "x"), Weight::MatcherFailed);
        assert!(!scale.met());
        assert_eq!(scale.put("a", "approved", "x"), Weight::Counted);
        assert_eq!(scale.by(), [3]);
        assert_eq!(scale.put("a", "approved", "x"), Weight::Recounted);
    }

    #[test]
    fn two_count_nodes_do_not_see_each_others_signals() {
        let of = Distinct::Signals;
        let mut scale = TallyFixture::new(all(vec![count(2, of, &["a"]), count(2, of, &["b"])]));
        for _ in 0..3 {
            scale.put("a", "vote", "x");
        }
        scale.put("b", "vote", "x");
        assert!(!scale.met(), "one at b is not two, however many came to a");
        scale.put("b", "vote", "x");
        assert!(scale.met());
        assert_eq!(scale.by(), [1, 2, 4, 5]);
    }

    #[test]
    fn all_of_in_all_of_in_all_of_can_be_met() {
        let inner = all(vec![signal("a", None), count(2, Distinct::Sources, &["b"])]);
        let mut scale = TallyFixture::new(all(vec![all(vec![inner, signal("c", None)])]));
        for (waitpoint, source) in [("c", "x"), ("b", "x"), ("b", "y")] {
            scale.put(waitpoint, "s", source);
            assert!(!scale.met());
        }
        scale.put("a", "s", "x");
        assert!(scale.met());
        assert_eq!(scale.by(), [4, 2, 3, 1]);
    }

    #[test]
    fn a_count_condition_counts_distinct_waitpoints_signals_or_sources() {
        for (of, expected) in [(Distinct::Waitpoints, 3), (Distinct::Signals, 2), (Distinct::Sources, 4)] {
            let mut scale = TallyFixture::new(count(2, of, &["a", "b"]));
            let arrivals = [("a", "x"), ("a", "x"), ("b", "x"), ("b", "y")];
            let met_by = arrivals.iter().position(|(waitpoint, source)| {
                scale.put(waitpoint, "s", source);
                scale.met()
            });
            assert_eq!(met_by.map(|nth| nth + 1), Some(expected), "{of}");
        }
    }

    #[test]
    fn any_of_hands_on_only_what_met_it() {
        let mut scale =
            TallyFixture::new(any(vec![all(vec![signal("a", None), signal("b", None)]), signal("c", None)]));
        scale.put("a", "s", "x");
        scale.put("c", "s", "x");
        assert!(scale.met());
        assert_eq!(scale.by(), [2]);
    }

    #[test]
    fn a_signal_may_count_for_several_nodes_and_is_handed_over_once() {
        let mut scale = TallyFixture::new(all(vec![signal("a", None), count(1, Distinct::Sources, &["a"])]));
        scale.put("a", "s", "x");
        assert!(scale.met());
        assert_eq!(scale.by(), [1]);
    }

    #[test]
    fn no_signal_meets_what_only_an_operator_or_a_timeout_can() {
        for condition in [Condition::OperatorOnly, Condition::TimeoutOnly] {
            let mut scale = TallyFixture::new(condition);
            assert_eq!(scale.put("a", "operator_only", "x"), Weight::NotInCondition);
            assert!(!scale.met());
        }
    }
}
