//! Ids that are plain uuids. New ones are version 7, so they sort by the time they were made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

/// Reads the one form ids are written in: lower case, hyphenated. Other spellings of the same uuid would be other keys.
pub(super) fn parse_hyphenated(text: &str) -> Option<Uuid> {
    let canonical = text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase());
    canonical.then(|| Uuid::try_parse(text).ok()).flatten()
}

/// Whether a uuid is derived from an idempotency key: version 7 with the time 0. Every caller can compute it from the
/// key, so callers may not choose it as an id.
pub fn is_derived(uuid: &Uuid) -> bool {
    let made_at_ms = uuid.as_u128() >> 80;
    made_at_ms == 0 && uuid.get_version_num() == 7
}

macro_rules! uuid_ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id, from the current time and randomness.
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            pub const fn as_uuid(&self) -> &Uuid {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::schema::uuid()
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl FromStr for $name {
            type Err = NotAUuid;

            fn from_str(text: &str) -> Result<Self, NotAUuid> {
                parse_hyphenated(text).map(Self).ok_or(NotAUuid)
            }
        }
    )*};
}

/// A text that should be a uuid and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a lower-case, hyphenated uuid")]
pub struct NotAUuid;

uuid_ids! {
    /// A graph of executions.
    FlowId,
    /// A limit on spending.
    BudgetId,
    /// A limit on rate or concurrency.
    QuotaPolicyId,
    /// One claim that quota policies are asked for.
    ClaimId,
    /// One holder's time with an execution; random, so a rolled-back store cannot hand out the same one twice.
    LeaseId,
    /// One try at an execution.
    AttemptId,
    /// One message to a waiting execution.
    SignalId,
    /// One thing a suspended execution waits on.
    WaitpointId,
    /// One stay in suspension.
    SuspensionId,
    /// One dependency between two executions of a flow.
    EdgeId,
    /// Work that starts at times written ahead.
    ScheduleId,
    /// One engine that runs on a store.
    EngineId,
}
