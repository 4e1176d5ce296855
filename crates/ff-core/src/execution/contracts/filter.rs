//! Filters on executions, for searches and bulk actions.

use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::{Blocker, Execution, Tags};
use crate::limits;
use crate::rule::index::{Index, has_reason_index, has_state_index};
use crate::state::{BlockingReason, PublicState};
use crate::types::{Kind, LaneId, Namespace, TimestampMs};

/// Conditions on the executions of one namespace. An execution matches if it meets all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    pub namespace: Namespace,
    pub lane: Option<LaneId>,
    pub state: Option<PublicState>,
    /// Only executions with this blocking reason, which must be one of admission.
    pub blocking_reason: Option<BlockingReason>,
    pub kind: Option<Kind>,
    /// Only executions with all of these tags.
    pub tags: Tags,
    /// Only executions created at this time or later.
    pub created_from: Option<TimestampMs>,
    /// Only executions created before this time.
    pub created_until: Option<TimestampMs>,
}

impl Filter {
    /// Matches all executions of a namespace.
    pub fn everything(namespace: Namespace) -> Self {
        Self {
            namespace,
            lane: None,
            state: None,
            blocking_reason: None,
            kind: None,
            tags: Tags::new(),
            created_from: None,
            created_until: None,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        check_limit(Code::LimitExceeded, "tags", limits::FILTER_TAGS, self.tags.len())?;
        if self.blocking_reason.is_some_and(|reason| !has_reason_index(reason)) {
            let allowed = Blocker::ADMISSION.map(|on| on.reason().as_str()).join(", ");
            return Err(Refusal::invalid("blocking_reason", format!("must be one of {allowed}")));
        }
        match (self.created_from, self.created_until) {
            (Some(from), Some(until)) if until <= from => {
                Err(Refusal::invalid("created_until", format!("must be later than created_from, {from}")))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether an execution matches. A staged execution does not.
    pub fn wants(&self, execution: &Execution) -> bool {
        !execution.is_staged()
            && execution.namespace == self.namespace
            && self.lane.as_ref().is_none_or(|lane| execution.lane == *lane)
            && self.state.is_none_or(|state| execution.public_state() == state)
            && self.blocking_reason.is_none_or(|reason| execution.blocking_reason() == reason)
            && self.kind.as_ref().is_none_or(|kind| execution.kind == *kind)
            && self.tags.iter().all(|(key, value)| execution.tags.get(key) == Some(value))
            && self.covers(execution.created_at)
    }

    /// Returns whether an execution created at this time can match.
    pub fn covers(&self, created_at: TimestampMs) -> bool {
        self.created_from.is_none_or(|from| created_at >= from) && self.created_until.is_none_or(|end| created_at < end)
    }

    /// Returns an index that contains all matches of a partition and few other executions: that of a blocking reason, a
    /// tag, an exceptional state or the namespace. These indexes are ordered by creation time. A search reads them from
    /// the newest entry, and concurrent changes do not move entries.
    pub fn index(&self) -> Index {
        let namespace = || self.namespace.clone();
        if let Some(reason) = self.blocking_reason {
            return Index::InReason(namespace(), reason);
        }
        if let Some((key, value)) = self.tags.first_key_value() {
            return Index::Tag(namespace(), key.clone(), value.clone());
        }
        match self.state.filter(|state| has_state_index(*state)) {
            Some(state) => Index::InState(namespace(), state),
            None if self.namespace.is_default() => Index::AllExecutions,
            None => Index::NamespaceExecutions(namespace()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::{CancelArgs, SetTagsArgs};
    use crate::execution::{cancel, set_tags};
    use crate::rule::index::entries;
    use crate::rule::samples::{at, waiting};
    use crate::types::{TagKey, TagValue};

    fn tag(key: &str) -> (TagKey, TagValue) {
        (TagKey::parse(key).unwrap(), TagValue::parse("v").unwrap())
    }

    fn tagged(keys: &[&str]) -> Execution {
        let set = keys.iter().map(|key| tag(key)).collect();
        let args = SetTagsArgs { execution_id: waiting().id, set, remove: [].into() };
        set_tags(&waiting(), &args, at(1)).unwrap().after
    }

    fn all() -> Filter {
        Filter::everything(Namespace::default_name())
    }

    #[test]
    fn an_execution_is_meant_when_everything_fits() {
        let execution = tagged(&["team", "order"]);
        let other = LaneId::parse("mail").unwrap();
        for (filter, fits) in [
            (all(), true),
            (Filter::everything(Namespace::parse("acme").unwrap()), false),
            (Filter { lane: Some(other), ..all() }, false),
            (Filter { state: Some(PublicState::Waiting), ..all() }, true),
            (Filter { state: Some(PublicState::Active), ..all() }, false),
            (Filter { blocking_reason: Some(BlockingReason::WaitingForWorker), ..all() }, true),
            (Filter { blocking_reason: Some(BlockingReason::WaitingForQuota), ..all() }, false),
            (Filter { kind: Some(Kind::parse("resize").unwrap()), ..all() }, true),
            (Filter { kind: Some(Kind::parse("send").unwrap()), ..all() }, false),
            (Filter { tags: [tag("team"), tag("order")].into(), ..all() }, true),
            (Filter { tags: [tag("team"), tag("region")].into(), ..all() }, false),
            (Filter { created_from: Some(at(0)), created_until: Some(at(1)), ..all() }, true),
            (Filter { created_from: Some(at(1)), ..all() }, false),
            (Filter { created_until: Some(at(0)), ..all() }, false),
        ] {
            assert_eq!(filter.wants(&execution), fits, "{filter:?}");
        }
    }

    #[test]
    fn the_index_of_a_search_has_whatever_is_meant() {
        let args = CancelArgs { execution_id: waiting().id, reason: None, requested_by: None };
        let cancelled = cancel(&tagged(&["team"]), &args, at(2)).unwrap().after;
        for filter in [
            all(),
            Filter { state: Some(PublicState::Cancelled), ..all() },
            Filter { tags: [tag("team")].into(), state: Some(PublicState::Cancelled), ..all() },
        ] {
            assert!(filter.wants(&cancelled));
            assert!(entries(&cancelled).contains(&(filter.index(), cancelled.created_at.0)), "{filter:?}");
        }
        assert_eq!(Filter { state: Some(PublicState::Active), ..all() }.index(), Index::AllExecutions);
    }

    #[test]
    fn a_filter_is_taken_at_its_limits_and_refused_past_them() {
        let labels = |count: usize| (0..count).map(|nth| tag(&format!("k{nth}"))).collect();
        assert_eq!(Filter { tags: labels(limits::FILTER_TAGS), ..all() }.check(), Ok(()));
        let refusal = Filter { tags: labels(limits::FILTER_TAGS + 1), ..all() }.check().unwrap_err();
        assert_eq!(refusal.limit, Some((8, 9)));
        let unindexed =
            Filter { blocking_reason: Some(BlockingReason::WaitingForWorker), ..all() }.check().unwrap_err();
        assert_eq!(unindexed.field.as_deref(), Some("blocking_reason"));
        assert_eq!(Filter { blocking_reason: Some(BlockingReason::PausedByOperator), ..all() }.check(), Ok(()));
        let empty = Filter { created_from: Some(at(1)), created_until: Some(at(1)), ..all() };
        assert_eq!(empty.check().unwrap_err().field.as_deref(), Some("created_until"));
    }
}
