//! Searching executions.

use std::collections::VecDeque;
use std::fmt::Display;

use ff_core::contracts::{ExecutionInfo, Filter, ListArgs};
use ff_core::engine_error::Refusal;
use ff_core::limits;
use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::{Kind, LaneId, Namespace, TagKey, TagValue, TimestampMs};
use futures_util::Stream;
use futures_util::stream::unfold;

use crate::job::try_put;
use crate::{Client, Error};

/// A filter for executions. An execution matches when it meets all conditions. An invalid field is reported when the
/// search is used.
///
/// ```
/// use ff_sdk::Search;
/// use ff_sdk::core::state::PublicState;
///
/// let failed = Search::all().state(PublicState::Failed).kind("resize").tag("customer", "c-17");
/// assert!(failed.build().is_ok());
/// assert!(Search::all().lane("no lane").build().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    filter: Result<Filter, Refusal>,
    names_namespace: bool,
}

impl Search {
    /// Creates a search for every execution in the namespace of the API key or else in `default`.
    pub fn all() -> Self {
        Filter::everything(Namespace::default_name()).into()
    }

    /// Matches only executions of this namespace.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.names_namespace = true;
        self.set("namespace", Namespace::parse(namespace), |filter, namespace| filter.namespace = namespace)
    }

    /// Matches only executions in this lane.
    pub fn lane(self, lane: &str) -> Self {
        self.set("lane", LaneId::parse(lane), |filter, lane| filter.lane = Some(lane))
    }

    /// Matches only executions in this state.
    pub fn state(self, state: PublicState) -> Self {
        self.put(|filter| filter.state = Some(state))
    }

    /// Matches only executions that admission blocks for this reason, for example `WaitingForCapableWorker`,
    /// `WaitingForQuota`, `WaitingForBudget` or `PausedByOperator`. Reasons outside of admission are refused.
    pub fn blocking_reason(self, reason: BlockingReason) -> Self {
        self.put(|filter| filter.blocking_reason = Some(reason))
    }

    /// Matches only executions of this kind.
    pub fn kind(self, kind: &str) -> Self {
        self.set("kind", Kind::parse(kind), |filter, kind| filter.kind = Some(kind))
    }

    /// Matches only executions with this tag. When called again, an execution must have all of the tags.
    pub fn tag(self, key: &str, value: &str) -> Self {
        let tag = TagKey::parse(key).and_then(|key| Ok((key, TagValue::parse(value)?)));
        self.set("tags", tag, |filter, (key, value)| {
            filter.tags.insert(key, value);
        })
    }

    /// Matches only executions created at this time of the store's clock or later.
    pub fn created_from(self, from: TimestampMs) -> Self {
        self.put(|filter| filter.created_from = Some(from))
    }

    /// Matches only executions created before this time of the store's clock.
    pub fn created_until(self, until: TimestampMs) -> Self {
        self.put(|filter| filter.created_until = Some(until))
    }

    /// Returns the namespace, if it was named explicitly.
    pub(crate) fn named(&self) -> Option<&Namespace> {
        self.filter.as_ref().ok().filter(|_| self.names_namespace).map(|filter| &filter.namespace)
    }

    /// Returns the filter, or the error of its first invalid field.
    pub fn build(self) -> Result<Filter, Error> {
        let filter = self.filter?;
        filter.check()?;
        Ok(filter)
    }

    fn put(mut self, put: impl FnOnce(&mut Filter)) -> Self {
        try_put(&mut self.filter, Ok(()), |filter, ()| put(filter));
        self
    }

    fn set<T, E: Display>(mut self, field: &str, value: Result<T, E>, put: impl FnOnce(&mut Filter, T)) -> Self {
        try_put(&mut self.filter, value.map_err(|error| Refusal::invalid(field, error)), put);
        self
    }
}

impl From<Filter> for Search {
    fn from(filter: Filter) -> Self {
        Self { filter: Ok(filter), names_namespace: false }
    }
}

impl Client {
    /// Searches executions, newest first. Pages are fetched as they are needed.
    pub fn search(&self, search: impl Into<Search>) -> Result<SearchResults, Error> {
        let search = search.into();
        self.check_named(search.named())?;
        let args = ListArgs { filter: search.build()?, after: None, limit: limits::PAGE };
        Ok(SearchResults { client: self.clone(), next_page: Some(args), executions: VecDeque::new() })
    }
}

/// The executions that a search finds, one by one.
pub struct SearchResults {
    client: Client,
    /// The query for the next page; `None` after the last page.
    next_page: Option<ListArgs>,
    executions: VecDeque<ExecutionInfo>,
}

impl SearchResults {
    /// Returns the next execution; `None` when there are no more. After an error it can be called again, and continues at the
    /// same place.
    pub async fn next(&mut self) -> Option<Result<ExecutionInfo, Error>> {
        loop {
            if let Some(info) = self.executions.pop_front() {
                return Some(Ok(info));
            }
            let args = self.next_page.as_mut()?;
            match self.client.list(args.clone()).await {
                Ok(page) => {
                    self.executions = page.executions.into();
                    args.after = page.next;
                    if page.next.is_none() {
                        self.next_page = None;
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Converts this into a stream, which ends after the first error.
    pub fn into_stream(self) -> impl Stream<Item = Result<ExecutionInfo, Error>> + Send {
        unfold(Some(self), |found| async move {
            let mut found = found?;
            let next = found.next().await?;
            let rest = next.is_ok().then_some(found);
            Some((next, rest))
        })
    }
}
