//! Numbers with a meaning of their own.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Deserializer, Serialize};

use crate::limits;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[derive(schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub $type);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

numbers! {
    /// Milliseconds since 1970, by the store's clock.
    TimestampMs: i64;
    /// Number of leases an execution has had; every lease has a higher one than the last.
    LeaseEpoch: u64;
    /// Number of an attempt, from 0.
    AttemptIndex: u32;
}

impl TimestampMs {
    /// Returns the milliseconds from `earlier` to this time; zero if this time is not later.
    pub fn since(self, earlier: TimestampMs) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl Add<u64> for TimestampMs {
    type Output = Self;

    /// Saturates: a delay of centuries means never, not an overflow.
    fn add(self, ms: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
    }
}

impl Sub<u64> for TimestampMs {
    type Output = Self;

    fn sub(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX)))
    }
}

impl LeaseEpoch {
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl AttemptIndex {
    pub fn new(index: u32) -> Self {
        Self(index)
    }
}

/// The priority of an execution within its lane: a higher priority goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Priority(u16);

/// The error of a priority outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be from 0 to {max}, got {sent}", max = limits::PRIORITY_MAX)]
pub struct BadPriority {
    pub sent: i64,
}

impl Priority {
    pub fn new(sent: i64) -> Result<Self, BadPriority> {
        u16::try_from(sent).ok().filter(|p| *p <= limits::PRIORITY_MAX).map(Self).ok_or(BadPriority { sent })
    }

    pub fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(i64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_outside_its_range_is_refused_not_clamped() {
        assert_eq!(Priority::new(9000).map(Priority::get), Ok(9000));
        assert_eq!(Priority::new(9001), Err(BadPriority { sent: 9001 }));
        assert_eq!(Priority::new(-1), Err(BadPriority { sent: -1 }));
    }

    #[test]
    fn a_far_future_does_not_overflow() {
        assert_eq!(TimestampMs(5) + u64::MAX, TimestampMs(i64::MAX));
        assert_eq!(TimestampMs(5).since(TimestampMs(9)), 0);
    }
}
