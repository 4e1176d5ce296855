//! Listing lanes, with the number of their executions by state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::execution::Blocker;
use crate::lane::LaneSettings;
use crate::limits;
use crate::rule::index::Index;
use crate::state::text_enum;
use crate::types::{LaneId, Namespace, RequirementClass, TimestampMs};

/// A request for a page of lanes, in the order of their keys.
///
/// A page examines a bounded number of lanes. If many of them are left out, the page has fewer lanes than requested,
/// perhaps none, and a cursor to continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLanesArgs {
    /// Lanes of this namespace only; of all namespaces when absent.
    pub namespace: Option<Namespace>,
    /// The key of the last lane of the previous page.
    pub after: Option<LaneId>,
    pub limit: usize,
    /// Whether to count finished executions, which is slow if there are many. Otherwise a lane that was never
    /// configured and has no other executions is left out.
    pub finished: bool,
}

impl ListLanesArgs {
    /// Returns the position after which the page begins, in the order of keys. No lane needs to have this key.
    ///
    /// The keys of a namespace other than the default one are adjacent: they begin with the namespace and a slash.
    pub fn begin(&self) -> String {
        let after = self.after.as_ref().map_or("", LaneId::as_str);
        let first = self.tenant().map(|tenant| format!("{tenant}/")).unwrap_or_default();
        first.max(after.to_owned())
    }

    /// Returns the step of the listing at the next key.
    pub fn meets(&self, key: &LaneId) -> ListingStep {
        let of = key.apart().0;
        match &self.namespace {
            None => ListingStep::Listed,
            Some(wanted) if of == *wanted => ListingStep::Listed,
            // The listing began at the first key of the namespace, so any other key comes after its last one.
            Some(wanted) if !wanted.is_default() => ListingStep::End,
            Some(_) => ListingStep::Skip(format!("{of}/{LAST}")),
        }
    }

    /// Returns the requested namespace if its keys are adjacent, which those of the default one are not.
    fn tenant(&self) -> Option<&Namespace> {
        self.namespace.as_ref().filter(|namespace| !namespace.is_default())
    }
}

/// A character that sorts after every character of a name.
const LAST: char = '~';

/// The step of a listing at the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListingStep {
    /// The lane is listed.
    Listed,
    /// The lane is of another namespace. The listing continues after this position, behind all keys of that namespace.
    Skip(String),
    /// All requested lanes have been listed.
    End,
}

/// A page that is being filled.
#[derive(Clone, Debug)]
pub struct LanesPageBuilder {
    page: LanesPage,
    limit: usize,
    finished: bool,
    /// Number of lanes that may still be examined.
    looks: usize,
}

impl LanesPageBuilder {
    pub fn of(args: &ListLanesArgs) -> Self {
        Self::with_budget(args, limits::LANES_EXAMINED)
    }

    /// Returns an empty page that examines at most `looks` lanes, for a store in which each lane is costly to read.
    pub fn with_budget(args: &ListLanesArgs, looks: usize) -> Self {
        let page = LanesPage { lanes: Vec::new(), next: None };
        let ListLanesArgs { limit, finished, .. } = *args;
        Self { page, limit, finished, looks: looks.min(limits::LANES_EXAMINED) }
    }

    /// Returns whether the page is complete.
    pub fn is_full(&self) -> bool {
        self.page.next.is_some()
    }

    /// Returns how many lanes may be examined at most before the page is full.
    pub fn remaining(&self) -> usize {
        (self.limit - self.page.lanes.len() + 1).min(self.looks)
    }

    /// Examines a lane. A lane that was never configured and has no executions is left out.
    pub fn look(&mut self, mut info: LaneInfo, is_configured: bool) {
        if self.is_full() {
            return;
        }
        let key = info.lane_id.within(&info.namespace);
        if !self.finished {
            info.depths.remove(&LanePlace::Finished);
        }
        if !info.depths.is_empty() || is_configured {
            if self.page.lanes.len() == self.limit {
                // The page continues after the last listed lane, not after the last examined one, because stores differ
                // in the empty lanes that they know.
                self.page.next = self.page.lanes.last().map(|last| last.lane_id.within(&last.namespace));
                return;
            }
            self.page.lanes.push(info);
        }
        self.looks = self.looks.saturating_sub(1);
        if self.looks == 0 {
            self.page.next = Some(key);
        }
    }

    pub fn into_page(self) -> LanesPage {
        self.page
    }
}

/// A lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LaneInfo {
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub settings: LaneSettings,
    /// Only states with executions.
    pub depths: Depths,
}

/// The depths of a lane, by state of the executions.
pub type Depths = BTreeMap<LanePlace, Depth>;

/// Number of executions, and the age of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Depth {
    pub count: u64,
    /// Waiting for a worker or for upstreams: when the oldest was created. Active, suspended or blocked: when the
    /// oldest became so. Delayed: when the first is due. Absent for finished executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_at: Option<TimestampMs>,
}

text_enum! {
    /// The place of executions in a lane.
    LanePlace {
        Waiting "waiting",
        Delayed "delayed",
        Active "active",
        Suspended "suspended",
        WaitingChildren "waiting_children",
        BlockedByRoute "blocked_by_route",
        BlockedByQuota "blocked_by_quota",
        BlockedByBudget "blocked_by_budget",
        BlockedByOperator "blocked_by_operator",
        Finished "finished",
    }
}

impl LanePlace {
    /// Returns the index of these executions. For waiting ones, it is the index of work without requirements.
    pub fn index(self, lane: LaneId) -> Index {
        match self {
            Self::Waiting => Index::LaneEligible(lane, RequirementClass::PLAIN),
            Self::Delayed => Index::LaneDelayed(lane),
            Self::Active => Index::LaneActive(lane),
            Self::Suspended => Index::LaneSuspended(lane),
            Self::WaitingChildren => Index::LaneBlocked(lane, Blocker::Dependencies),
            Self::BlockedByRoute => Index::LaneBlocked(lane, Blocker::Route),
            Self::BlockedByQuota => Index::LaneBlocked(lane, Blocker::Quota),
            Self::BlockedByBudget => Index::LaneBlocked(lane, Blocker::Budget),
            Self::BlockedByOperator => Index::LaneBlocked(lane, Blocker::Operator),
            Self::Finished => Index::LaneTerminal(lane),
        }
    }
}

impl Depth {
    /// Returns the combined depth of two partitions.
    pub fn with(self, other: Depth) -> Self {
        let first_at = self.first_at.into_iter().chain(other.first_at).min();
        Self { count: self.count + other.count, first_at }
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LanesPage {
    pub lanes: Vec<LaneInfo>,
    /// Start of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<LaneId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(namespace: Option<&str>, after: Option<&str>, limit: usize) -> ListLanesArgs {
        let namespace = namespace.map(|name| Namespace::parse(name).unwrap());
        let after = after.map(|key| LaneId::parse_key(key).unwrap());
        ListLanesArgs { namespace, after, limit, finished: false }
    }

    fn key(text: &str) -> LaneId {
        LaneId::parse_key(text).unwrap()
    }

    fn lane(text: &str, place: Option<LanePlace>) -> LaneInfo {
        let (namespace, lane_id) = key(text).apart();
        let depths = place.map(|place| (place, Depth { count: 1, first_at: None })).into_iter().collect();
        LaneInfo { namespace, lane_id, settings: LaneSettings::default(), depths }
    }

    #[test]
    fn a_tenants_keys_are_met_from_their_first_to_their_last() {
        let all = ["a", "acme/a", "acme/z", "acme-2/a", "acme.x/b", "b/x", "z"].map(key);
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_unstable();
        let of = |namespace: Option<&str>| {
            let args = args(namespace, None, 10);
            let (mut at, mut met, mut steps) = (args.begin(), Vec::new(), 0);
            while let Some(key) = all.iter().find(|key| key.as_str() > at.as_str()) {
                steps += 1;
                at = match args.meets(key) {
                    ListingStep::Listed => {
                        met.push(key.as_str());
                        key.to_string()
                    }
                    ListingStep::Skip(to) => to,
                    ListingStep::End => break,
                };
            }
            (met, steps)
        };
        assert_eq!(of(Some("acme")), (vec!["acme/a", "acme/z"], 3));
        assert_eq!(of(Some("acme-2")).0, ["acme-2/a"]);
        assert_eq!(of(Some("default")), (vec!["a", "z"], 6), "a tenant is left behind in one step");
        assert_eq!(of(Some("other")), (vec![], 1));
        assert_eq!(of(None).0.len(), all.len());
        assert_eq!(args(Some("acme"), Some("acme/a"), 10).begin(), "acme/a");
        assert_eq!(args(Some("acme"), Some("a"), 10).begin(), "acme/");
    }

    #[test]
    fn a_page_ends_when_it_has_enough_or_looked_at_enough() {
        let mut fill = LanesPageBuilder::of(&args(None, None, 2));
        for name in ["a", "b", "c", "d"] {
            let place = if name == "b" { LanePlace::Finished } else { LanePlace::Active };
            fill.look(lane(name, Some(place)), false);
        }
        let page = fill.into_page();
        assert_eq!(page.lanes.iter().map(|lane| lane.lane_id.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(page.next, Some(key("c")));

        let mut fill = LanesPageBuilder::of(&args(None, None, 2));
        for nth in 0..limits::LANES_EXAMINED {
            assert!(!fill.is_full());
            fill.look(lane(&format!("l{nth}"), None), nth == 1);
        }
        assert!(fill.is_full(), "it looked at enough");
        let page = fill.into_page();
        assert_eq!((page.lanes.len(), page.next), (1, Some(key(&format!("l{}", limits::LANES_EXAMINED - 1)))));
    }
}
