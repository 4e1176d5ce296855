//! The permissions of an API key.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::types::from_text;

/// A permission of an API key. `admin` implies all other roles; the others imply none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Submit, watch and cancel executions and flows.
    Submit,
    /// Claim work and report on it.
    Work,
    /// Deliver signals without a waitpoint token.
    Signal,
    /// Search, inspect, control and decide about executions.
    Operate,
    /// Manage keys and secrets, and everything else.
    Admin,
}

/// Error for a text that is not a role. The error does not contain the text, which may be an API key in the wrong place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of submit, work, signal, operate and admin")]
pub struct BadRole;

impl Role {
    /// All roles.
    pub const ALL: [Role; 5] = [Role::Submit, Role::Work, Role::Signal, Role::Operate, Role::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Work => "work",
            Self::Signal => "signal",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// Returns whether this role includes the rights of another.
    pub fn implies(self, other: Role) -> bool {
        self == other || self == Self::Admin
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = BadRole;

    fn from_str(text: &str) -> Result<Self, BadRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(BadRole)
    }
}

from_text!(Role);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_written_as_it_is_read() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
            let text = serde_json::to_string(&role).unwrap();
            assert_eq!((text.as_str(), serde_json::from_str(&text).ok()), (&*format!("\"{role}\""), Some(role)));
        }
        let error = serde_json::from_str::<Role>("\"c0ffee\"").unwrap_err().to_string();
        assert!(!error.contains("c0ffee"), "{error}");
        assert_eq!("Admin".parse::<Role>(), Err(BadRole));
    }

    #[test]
    fn only_an_administrator_may_do_what_others_may() {
        for role in Role::ALL {
            for other in Role::ALL {
                assert_eq!(role.implies(other), role == other || role == Role::Admin, "{role} {other}");
            }
        }
    }
}
