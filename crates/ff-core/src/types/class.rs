//! Requirement classes: the requirements of an execution on its worker, as one value that names queues.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BadText, Capability, WorkerInstanceId};

/// The prefix of the worker instance in the class of assigned work. No requirement is empty, so no other class begins with it.
const ASSIGNED: &str = ",,";

/// The requirements of an execution, sorted and joined by commas; empty without requirements. The class of work that is
/// assigned to a worker instance names the instance instead.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequirementClass(Option<Arc<str>>);

impl RequirementClass {
    /// The class of work without requirements.
    pub const PLAIN: Self = Self(None);

    pub fn of(requirements: &BTreeSet<Capability>) -> Self {
        if requirements.is_empty() {
            return Self::PLAIN;
        }
        let words: Vec<_> = requirements.iter().map(Capability::as_str).collect();
        Self(Some(words.join(",").into()))
    }

    /// Returns the class of work that only one worker instance may claim.
    pub fn assigned_to(instance: &WorkerInstanceId) -> Self {
        Self(Some(format!("{ASSIGNED}{instance}").into()))
    }

    /// Parses a class. Requirements that are not in order are sorted.
    pub fn parse(text: &str) -> Result<Self, BadText> {
        if text.is_empty() {
            return Ok(Self::PLAIN);
        }
        if let Some(instance) = text.strip_prefix(ASSIGNED) {
            return Ok(Self::assigned_to(&WorkerInstanceId::parse(instance)?));
        }
        let requirements = text.split(',').map(Capability::parse).collect::<Result<BTreeSet<_>, _>>()?;
        Ok(Self::of(&requirements))
    }

    /// Returns the name of the class in indexes and keys.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns whether this is the class of work without requirements.
    pub fn is_plain(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the worker instance to which work of this class is assigned.
    pub fn assignee(&self) -> Option<&str> {
        self.as_str().strip_prefix(ASSIGNED)
    }

    /// Returns whether work of this class is matched to workers by its requirements.
    pub fn has_requirements(&self) -> bool {
        !self.is_plain() && self.assignee().is_none()
    }

    /// Returns the requirements, in order.
    pub fn requirements(&self) -> impl Iterator<Item = &str> {
        let words = if self.assignee().is_none() { self.as_str() } else { "" };
        words.split(',').filter(|word| !word.is_empty())
    }

    /// Returns whether a worker with these capabilities can run work of this class. Capabilities never match work that
    /// is assigned to a worker instance.
    pub fn is_met_by(&self, capabilities: &BTreeSet<Capability>) -> bool {
        if self.assignee().is_some() {
            return false;
        }
        // Both are sorted, so each capability is compared only once.
        let mut offered = capabilities.iter().map(Capability::as_str);
        self.requirements().all(|required| offered.any(|capability| capability == required))
    }
}

impl fmt::Display for RequirementClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for RequirementClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for RequirementClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RequirementClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> BTreeSet<Capability> {
        words.iter().map(|word| Capability::parse(word).unwrap()).collect()
    }

    #[test]
    fn a_class_is_the_same_however_its_requirements_are_named() {
        let class = RequirementClass::of(&set(&["region=eu", "gpu"]));
        assert_eq!(class.as_str(), "gpu,region=eu");
        assert_eq!(RequirementClass::parse("region=eu,gpu,gpu"), Ok(class.clone()));
        assert_eq!(serde_json::from_str::<RequirementClass>(&serde_json::to_string(&class).unwrap()).unwrap(), class);
        assert_eq!(
            (RequirementClass::of(&set(&[])), RequirementClass::parse("")),
            (RequirementClass::PLAIN, Ok(RequirementClass::PLAIN))
        );
        assert_eq!(RequirementClass::parse("gpu,"), Err(BadText::Empty));
    }

    #[test]
    fn work_that_is_assigned_has_a_class_that_no_capability_meets() {
        let class = RequirementClass::assigned_to(&WorkerInstanceId::parse("w-1").unwrap());
        assert_eq!((class.as_str(), class.assignee()), (",,w-1", Some("w-1")));
        assert_eq!(RequirementClass::parse(",,w-1"), Ok(class.clone()));
        assert!(!class.is_plain() && !class.has_requirements() && class.requirements().next().is_none());
        assert!(!class.is_met_by(&set(&["w-1"])) && !class.is_met_by(&set(&[])));
        assert_eq!(RequirementClass::parse(",,"), Err(BadText::Empty));
        assert!(RequirementClass::parse("gpu").unwrap().has_requirements());
    }

    #[test]
    fn a_worker_runs_what_it_has_every_capability_for() {
        let class = RequirementClass::of(&set(&["gpu", "region=eu"]));
        for (capabilities, is_met) in [
            (&["gpu", "region=eu"][..], true),
            (&["a", "gpu", "h", "region=eu", "z"], true),
            (&["gpu"], false),
            (&["gpu", "region=us"], false),
            (&["gpu=1", "region=eu"], false),
            (&[], false),
        ] {
            assert_eq!(class.is_met_by(&set(capabilities)), is_met, "{capabilities:?}");
            assert!(RequirementClass::PLAIN.is_met_by(&set(capabilities)));
        }
    }
}
