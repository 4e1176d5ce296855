//! Ids that are plain uuids. New ones are version 7, so they sort by creation time.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use uuid::Uuid;

use super::checked_text::from_text;

/// Parses the only valid form of an id: lower case, with hyphens. Another spelling of the same uuid would be another key.
pub(super) fn parse_hyphenated(text: &str) -> Option<Uuid> {
    let canonical = text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase());
    canonical.then(|| Uuid::try_parse(text).ok()).flatten()
}

/// Returns whether a uuid is derived from an idempotency key: version 7 with the time 0. Every caller can compute such
/// a uuid from the key, so callers may not choose it as an id.
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
            /// Creates an id from the current time and randomness.
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

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::types::schema::uuid()
            }
        }

        from_text!($name);

        impl FromStr for $name {
            type Err = NotAUuid;

            fn from_str(text: &str) -> Result<Self, NotAUuid> {
                parse_hyphenated(text).map(Self).ok_or(NotAUuid)
            }
        }
    )*};
}

/// The error of a text that is not a uuid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a lower-case, hyphenated uuid")]
pub struct NotAUuid;

uuid_ids! {
    /// The id of a flow, a graph of executions.
    FlowId,
    /// The id of a budget, a limit on spending.
    BudgetId,
    /// The id of a quota policy, a limit on rate or concurrency.
    QuotaPolicyId,
    /// The id of a claim for which quota policies reserve slots.
    ClaimId,
    /// The id of a lease. It is random, so a rolled-back store cannot issue the same id twice.
    LeaseId,
    /// The id of an attempt at an execution.
    AttemptId,
    /// The id of a signal to an execution.
    SignalId,
    /// The id of a waitpoint, a target of signals.
    WaitpointId,
    /// The id of a suspension of an execution.
    SuspensionId,
    /// The id of an edge, a dependency between two executions of a flow.
    EdgeId,
    /// The id of a schedule, which starts work at planned times.
    ScheduleId,
    /// The id of an engine that runs on a store.
    EngineId,
}
