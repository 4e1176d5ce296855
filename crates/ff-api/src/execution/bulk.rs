//! Bulk operations on executions, on the wire: the selection, the action, and the cursor.

use std::collections::BTreeMap;

use ff_core::contracts::{BulkAction, BulkArgs, Filter};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::{Kind, LaneId, Namespace, TagValue, TimestampMs};
use serde::{Deserialize, Serialize};

use crate::execution::submit::tags;
use crate::object::{requests, word};

requests! {
    /// One page of a bulk operation on executions.
    pub struct Bulk {
        pub action: BulkVerb,
        pub namespace: Option<Namespace>,
        pub lane: Option<LaneId>,
        #[serde(deserialize_with = "word")]
        pub state: Option<PublicState>,
        /// Only executions blocked for this reason: `waiting_for_capable_worker`, `waiting_for_quota`,
        /// `waiting_for_budget`, `paused_by_operator` or `waiting_for_locality_match`.
        #[serde(deserialize_with = "word")]
        pub blocking_reason: Option<BlockingReason>,
        pub kind: Option<Kind>,
        /// Only executions with all of these tags.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub tags: BTreeMap<String, TagValue>,
        /// Only executions created at this time or later.
        pub created_from: Option<TimestampMs>,
        /// Only executions created before this time.
        pub created_until: Option<TimestampMs>,
        pub reason: Option<String>,
        pub requested_by: Option<String>,
        /// With `replay`: also replay the finished dependents of each execution.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub reopen_downstream: bool,
        /// Report what would be done, and change nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub dry_run: bool,
        /// Skip executions changed after this time; send the `as_of` of the first page.
        pub as_of: Option<TimestampMs>,
        /// The `next` of the previous page.
        pub cursor: Option<String>,
        pub limit: Option<usize>,
    }
}

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", try_from = "String")]
pub enum BulkVerb {
    /// Live executions are cancelled.
    Cancel,
    /// Live executions are held.
    Hold,
    /// Executions that are held are released.
    Release,
    /// Finished executions are run again.
    Replay,
}

impl TryFrom<String> for BulkVerb {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        match word.as_str() {
            "cancel" => Ok(Self::Cancel),
            "hold" => Ok(Self::Hold),
            "release" => Ok(Self::Release),
            "replay" => Ok(Self::Replay),
            _ => Err("must be one of cancel, hold, release, replay"),
        }
    }
}

impl Bulk {
    pub fn of(args: BulkArgs) -> Self {
        let (action, reason, requested_by, reopen_downstream) = match args.action {
            BulkAction::Cancel { reason, requested_by } => (BulkVerb::Cancel, reason, requested_by, false),
            BulkAction::Hold { reason, requested_by } => (BulkVerb::Hold, reason, requested_by, false),
            BulkAction::ReleaseHold => (BulkVerb::Release, None, None, false),
            BulkAction::Replay { reason, requested_by, reopen_downstream } => {
                (BulkVerb::Replay, reason, requested_by, reopen_downstream)
            }
        };
        let filter = args.filter;
        Self {
            action,
            namespace: Some(filter.namespace),
            lane: filter.lane,
            state: filter.state,
            blocking_reason: filter.blocking_reason,
            kind: filter.kind,
            tags: filter.tags.into_iter().map(|(key, value)| (key.to_string(), value)).collect(),
            created_from: filter.created_from,
            created_until: filter.created_until,
            reason,
            requested_by,
            reopen_downstream,
            dry_run: args.dry_run,
            as_of: args.as_of,
            cursor: args.after.map(|after| after.to_string()),
            limit: Some(args.limit),
        }
    }

    pub fn into_args(self) -> Result<BulkArgs, Refusal> {
        let (reason, requested_by, reopen_downstream) = (self.reason, self.requested_by, self.reopen_downstream);
        let action = match self.action {
            BulkVerb::Cancel | BulkVerb::Hold | BulkVerb::Release if reopen_downstream => {
                return Err(Refusal::invalid("reopen_downstream", "is allowed with the action replay only"));
            }
            BulkVerb::Release if reason.is_some() => {
                return Err(Refusal::invalid("reason", "is not allowed with the action release"));
            }
            BulkVerb::Release if requested_by.is_some() => {
                return Err(Refusal::invalid("requested_by", "is not allowed with the action release"));
            }
            BulkVerb::Cancel => BulkAction::Cancel { reason, requested_by },
            BulkVerb::Hold => BulkAction::Hold { reason, requested_by },
            BulkVerb::Release => BulkAction::ReleaseHold,
            BulkVerb::Replay => BulkAction::Replay { reason, requested_by, reopen_downstream },
        };
        let filter = Filter {
            namespace: self.namespace.unwrap_or_else(Namespace::default_name),
            lane: self.lane,
            state: self.state,
            blocking_reason: self.blocking_reason,
            kind: self.kind,
            tags: tags(self.tags)?,
            created_from: self.created_from,
            created_until: self.created_until,
        };
        Ok(BulkArgs {
            filter,
            action,
            dry_run: self.dry_run,
            as_of: self.as_of,
            after: self.cursor.map(|cursor| cursor.parse()).transpose()?,
            limit: self.limit.unwrap_or(limits::PAGE_DEFAULT),
        })
    }
}

#[cfg(test)]
mod tests {
    use ff_core::types::TagKey;

    use super::*;

    #[test]
    fn a_bulk_arrives_as_it_was_sent() {
        let tags = [(TagKey::parse("team").unwrap(), TagValue::parse("a b").unwrap())];
        let filter = Filter {
            kind: Some(Kind::parse("k").unwrap()),
            state: Some(PublicState::Failed),
            blocking_reason: Some(BlockingReason::WaitingForQuota),
            tags: tags.into_iter().collect(),
            created_until: Some(TimestampMs(9)),
            ..Filter::everything(Namespace::parse("acme").unwrap())
        };
        let action = BulkAction::Replay { reason: Some("again".into()), requested_by: None, reopen_downstream: true };
        let after = "17.3.00000000-0000-0000-0000-000000000001".parse().ok();
        let args = BulkArgs { filter, action, dry_run: true, as_of: Some(TimestampMs(5)), after, limit: 7 };
        let text = serde_json::to_string(&Bulk::of(args.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Bulk>(&text).unwrap().into_args(), Ok(args), "{text}");
    }
}
