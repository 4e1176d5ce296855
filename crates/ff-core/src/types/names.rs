//! Names people choose. They become parts of keys, so their alphabet has no `:` and no brace: with either, one tenant's key
//! could equal another's, or move to another slot.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use crate::limits;

/// A name outside its alphabet or its length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("must not be empty")]
    Empty,
    #[error("must be at most {limit} bytes, got {sent}")]
    TooLong { limit: usize, sent: usize },
    #[error("may hold only letters, digits, '.', '_' and '-', not {0:?}")]
    BadCharacter(char),
}

fn check_name(text: &str, limit: usize) -> Result<(), BadName> {
    if text.is_empty() {
        return Err(BadName::Empty);
    }
    if text.len() > limit {
        return Err(BadName::TooLong { limit, sent: text.len() });
    }
    match text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
        Some(bad) => Err(BadName::BadCharacter(bad)),
        None => Ok(()),
    }
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, at most $limit:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, BadName> {
                check_name(text, $limit)?;
                Ok(Self(text.into()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                Self::parse(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

names! {
    /// A tenant.
    Namespace, at most limits::NAME_BYTES;
    /// A named queue within a namespace.
    LaneId, at most limits::LANE_BYTES;
    /// What an execution is, by which a worker finds its handler.
    Kind, at most limits::NAME_BYTES;
    /// The key of a label.
    TagKey, at most limits::NAME_BYTES;
    /// A worker program, however many copies of it run.
    WorkerId, at most limits::NAME_BYTES;
    /// One running copy of a worker program.
    WorkerInstanceId, at most limits::NAME_BYTES;
}

impl Namespace {
    /// Where work goes that names no tenant.
    pub fn default_name() -> Self {
        Self("default".into())
    }

    pub fn is_default(&self) -> bool {
        self.as_str() == "default"
    }
}

impl LaneId {
    /// The lane of work that names none.
    pub fn default_name() -> Self {
        Self("default".into())
    }

    /// The lane as a key names it. Two tenants' lanes of one name are two lanes, so any namespace but the default one is
    /// written before the name.
    pub fn within(&self, namespace: &Namespace) -> LaneId {
        if namespace.is_default() { self.clone() } else { Self(format!("{namespace}/{self}").into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_at_its_limit_and_refused_one_past_it() {
        assert!(Kind::parse(&"k".repeat(128)).is_ok());
        assert_eq!(Kind::parse(&"k".repeat(129)), Err(BadName::TooLong { limit: 128, sent: 129 }));
        assert!(LaneId::parse(&"l".repeat(64)).is_ok());
        assert_eq!(LaneId::parse(&"l".repeat(65)), Err(BadName::TooLong { limit: 64, sent: 65 }));
    }

    #[test]
    fn characters_that_could_move_a_key_are_refused() {
        for bad in ["a:b", "{a}", "a b", "a/b", "é", "a\n"] {
            assert!(matches!(Namespace::parse(bad), Err(BadName::BadCharacter(_))), "{bad:?}");
        }
        assert_eq!(Namespace::parse(""), Err(BadName::Empty));
        assert!(Namespace::parse("Team-1.prod_eu").is_ok());
    }

    #[test]
    fn a_lane_of_another_tenant_is_another_lane() {
        let lane = LaneId::parse("mail").unwrap();
        assert_eq!(lane.within(&Namespace::default_name()).as_str(), "mail");
        assert_eq!(lane.within(&Namespace::parse("acme").unwrap()).as_str(), "acme/mail");
    }
}
