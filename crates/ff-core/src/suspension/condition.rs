//! The condition of a suspension, as a tree. Its leaves name waitpoints, and each
//! leaf counts only signals at its own waitpoints.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::signal::Signal;
use crate::state::text_enum;
use crate::types::{SignalName, WaitpointKey};

/// Condition under which a suspended execution resumes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// One signal at a waitpoint.
    Signal {
        waitpoint: WaitpointKey,
        /// Name of the signal; any when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<SignalName>,
    },
    /// All of its members.
    AllOf { members: Vec<Condition> },
    /// At least one of its members.
    AnyOf { members: Vec<Condition> },
    /// A number of distinct signals at the given waitpoints.
    Count {
        n: u32,
        of: Distinct,
        waitpoints: Vec<WaitpointKey>,
        /// Count only signals of this name; any when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<SignalName>,
    },
    /// A decision by an operator; signals do not count.
    OperatorOnly,
    /// The timeout; signals do not count.
    TimeoutOnly,
}

text_enum! {
    /// Which signals of a count are distinct.
    Distinct {
        /// Each waitpoint counts once.
        Waitpoints "waitpoints",
        /// Every signal counts.
        Signals "signals",
        /// Each source counts once.
        Sources "sources",
    }
}

impl Condition {
    /// Returns the condition of an approval at a waitpoint: a signal named `approved` or one named `rejected`.
    pub fn approval(waitpoint: &WaitpointKey) -> Self {
        let answer = |text| Self::Signal { waitpoint: waitpoint.clone(), name: SignalName::parse(text).ok() };
        Self::AnyOf { members: vec![answer(Signal::APPROVED), answer(Signal::REJECTED)] }
    }

    /// Parses a condition from JSON.
    pub fn parse(json: &[u8]) -> Result<Self, Refusal> {
        crate::json::read(json).map_err(|refusal| {
            let field = refusal.field.as_deref().map_or("condition".into(), |field| format!("condition.{field}"));
            refusal.at(field)
        })
    }

    /// Refuses a tree that is too deep or too large, that can never be met, or that does not name exactly the
    /// waitpoints of the suspension.
    pub fn check(&self, waitpoints: &[&WaitpointKey]) -> Result<(), Refusal> {
        let mut survey = Survey { waitpoints, named: BTreeSet::new(), nodes: 0, needed: 0 };
        survey.visit(self, "condition", 1)?;
        if matches!(self, Self::OperatorOnly | Self::TimeoutOnly) {
            return Ok(());
        }
        match waitpoints.iter().position(|key| !survey.named.contains(*key)) {
            Some(nth) => Err(Refusal::invalid(format!("waitpoints[{nth}].key"), "must be named in the condition")),
            None => Ok(()),
        }
    }

    /// Returns the nodes that count signals, from left to right.
    pub fn leaves(&self) -> Vec<&Condition> {
        match self {
            Self::AllOf { members } | Self::AnyOf { members } => members.iter().flat_map(Self::leaves).collect(),
            Self::Signal { .. } | Self::Count { .. } => vec![self],
            Self::OperatorOnly | Self::TimeoutOnly => vec![],
        }
    }

    /// Returns the number of distinct signals that a leaf needs.
    pub(crate) fn needs(&self) -> usize {
        match self {
            Self::Count { n, .. } => *n as usize,
            _ => 1,
        }
    }

    /// Returns whether a leaf counts signals at a waitpoint.
    pub(crate) fn names(&self, waitpoint: &WaitpointKey) -> bool {
        match self {
            Self::Signal { waitpoint: named, .. } => named == waitpoint,
            Self::Count { waitpoints, .. } => waitpoints.contains(waitpoint),
            _ => false,
        }
    }

    /// Returns whether a leaf counts signals of this name.
    pub(crate) fn matches(&self, name: &SignalName) -> bool {
        match self {
            Self::Signal { name: wanted, .. } | Self::Count { name: wanted, .. } => {
                wanted.as_ref().is_none_or(|wanted| wanted == name)
            }
            _ => false,
        }
    }
}

/// The intermediate results of a walk over a condition.
struct Survey<'c> {
    waitpoints: &'c [&'c WaitpointKey],
    named: BTreeSet<&'c WaitpointKey>,
    nodes: usize,
    needed: usize,
}

impl<'c> Survey<'c> {
    fn visit(&mut self, node: &'c Condition, path: &str, depth: usize) -> Result<(), Refusal> {
        self.nodes += 1;
        if depth > limits::CONDITION_DEPTH {
            return Err(over(path, "depth", limits::CONDITION_DEPTH, depth));
        }
        if self.nodes > limits::CONDITION_NODES {
            return Err(over("condition", "nodes", limits::CONDITION_NODES, self.nodes));
        }
        match node {
            Condition::AllOf { members } | Condition::AnyOf { members } => {
                if members.is_empty() {
                    return Err(Refusal::invalid(format!("{path}.members"), "must not be empty"));
                }
                for (nth, member) in members.iter().enumerate() {
                    self.visit(member, &format!("{path}.members[{nth}]"), depth + 1)?;
                }
                Ok(())
            }
            Condition::Signal { waitpoint, .. } => {
                self.need(1)?;
                self.name(waitpoint, &format!("{path}.waitpoint"))
            }
            Condition::Count { n, of, waitpoints, .. } => self.count(*n as usize, *of, waitpoints, path),
            Condition::OperatorOnly | Condition::TimeoutOnly if depth > 1 => {
                Err(Refusal::invalid(path, "must be the whole condition, and no part of one"))
            }
            Condition::OperatorOnly | Condition::TimeoutOnly => Ok(()),
        }
    }

    fn count(&mut self, n: usize, of: Distinct, keys: &'c [WaitpointKey], path: &str) -> Result<(), Refusal> {
        let field = |name: &str| format!("{path}.{name}");
        if n == 0 {
            return Err(Refusal::invalid(field("n"), "must be at least 1"));
        }
        if keys.is_empty() {
            return Err(Refusal::invalid(field("waitpoints"), "must not be empty"));
        }
        for (nth, key) in keys.iter().enumerate() {
            if keys[..nth].contains(key) {
                return Err(Refusal::invalid(
                    field(&format!("waitpoints[{nth}]")),
                    "must be named once, is named twice",
                ));
            }
            self.name(key, &field(&format!("waitpoints[{nth}]")))?;
        }
        if of == Distinct::Waitpoints && n > keys.len() {
            let refusal = Refusal::over_limit(Code::InvalidInput, field("n"), keys.len(), n);
            return Err(refusal.because(format!("must be at most {}, the number of waitpoints, got {n}", keys.len())));
        }
        self.need(n)
    }

    fn need(&mut self, more: usize) -> Result<(), Refusal> {
        self.needed += more;
        if self.needed > limits::CONDITION_SIGNALS {
            return Err(over("condition", "signals", limits::CONDITION_SIGNALS, self.needed));
        }
        Ok(())
    }

    fn name(&mut self, key: &'c WaitpointKey, field: &str) -> Result<(), Refusal> {
        if !self.waitpoints.contains(&key) {
            return Err(Refusal::invalid(field, "must be one of the suspension's waitpoints"));
        }
        self.named.insert(key);
        Ok(())
    }
}

fn over(field: &str, what: &str, limit: usize, sent: usize) -> Refusal {
    let refusal = Refusal::over_limit(Code::LimitExceeded, field, limit, sent);
    refusal.because(format!("must have at most {limit} {what}, has {sent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> WaitpointKey {
        WaitpointKey::parse(text).unwrap()
    }

    fn signal(waitpoint: &str) -> Condition {
        Condition::Signal { waitpoint: key(waitpoint), name: None }
    }

    fn nested(times: usize) -> Condition {
        (0..times).fold(signal("a"), |inner, _| Condition::AllOf { members: vec![inner] })
    }

    fn count(n: u32, of: Distinct, waitpoints: &[&str]) -> Condition {
        Condition::Count { n, of, waitpoints: waitpoints.iter().map(|text| key(text)).collect(), name: None }
    }

    fn refused(condition: &Condition) -> (Code, String) {
        let refusal = condition.check(&[&key("a"), &key("b")]).unwrap_err();
        (refusal.code, refusal.field.unwrap())
    }

    #[test]
    fn a_tree_is_taken_at_its_depth_and_refused_one_past_it() {
        assert_eq!(nested(limits::CONDITION_DEPTH - 1).check(&[&key("a")]), Ok(()));
        let refusal = nested(limits::CONDITION_DEPTH).check(&[&key("a")]).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((4, 5))));
        assert_eq!(refusal.field.as_deref(), Some("condition.members[0].members[0].members[0].members[0]"));
    }

    #[test]
    fn a_tree_is_taken_at_its_size_and_refused_one_past_it() {
        let wide = |leaves| Condition::AnyOf { members: vec![signal("a"); leaves] };
        assert_eq!(wide(limits::CONDITION_NODES - 1).check(&[&key("a")]), Ok(()));
        assert_eq!(wide(limits::CONDITION_NODES).check(&[&key("a")]).unwrap_err().limit, Some((64, 65)));
        let many = u32::try_from(limits::CONDITION_SIGNALS).unwrap();
        assert_eq!(count(many, Distinct::Signals, &["a"]).check(&[&key("a")]), Ok(()));
        let more = count(many + 1, Distinct::Signals, &["a"]).check(&[&key("a")]).unwrap_err();
        assert_eq!((more.code, more.limit), (Code::LimitExceeded, Some((1_000, 1_001))));
    }

    #[test]
    fn an_unsatisfiable_condition_is_refused_by_its_field() {
        let never = Condition::AllOf { members: vec![signal("a"), count(3, Distinct::Waitpoints, &["a", "b"])] };
        assert_eq!(refused(&never), (Code::InvalidInput, "condition.members[1].n".into()));
        assert_eq!(refused(&count(0, Distinct::Signals, &["a"])), (Code::InvalidInput, "condition.n".into()));
        assert_eq!(refused(&count(1, Distinct::Sources, &[])).1, "condition.waitpoints");
        assert_eq!(refused(&count(1, Distinct::Sources, &["a", "a"])).1, "condition.waitpoints[1]");
        assert_eq!(refused(&Condition::AnyOf { members: vec![] }).1, "condition.members");
        let buried = Condition::AllOf { members: vec![signal("a"), Condition::OperatorOnly] };
        assert_eq!(refused(&buried).1, "condition.members[1]");
    }

    #[test]
    fn a_condition_and_its_waitpoints_belong_together() {
        assert_eq!(refused(&signal("c")), (Code::InvalidInput, "condition.waitpoint".into()));
        assert_eq!(refused(&signal("a")), (Code::InvalidInput, "waitpoints[1].key".into()));
        assert_eq!(Condition::OperatorOnly.check(&[&key("a")]), Ok(()));
    }

    #[test]
    fn a_malformed_condition_is_refused_by_its_field() {
        let refusal = Condition::parse(br#"{"type":"all_of"}"#).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some("condition.members")));
        for text in [r#"{"type":"signal","waitpoint":"a","nam":"b"}"#, r#"{"type":"some_of"}"#, "[", "{}"] {
            let refusal = Condition::parse(text.as_bytes()).unwrap_err();
            assert!(refusal.field.unwrap().starts_with("condition"), "{text}");
        }
    }

    #[test]
    fn a_condition_survives_being_written_and_read() {
        let whole = Condition::AnyOf {
            members: vec![signal("a"), count(2, Distinct::Sources, &["a", "b"]), nested(1), Condition::TimeoutOnly],
        };
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(Condition::parse(text.as_bytes()).unwrap(), whole, "{text}");
    }
}
