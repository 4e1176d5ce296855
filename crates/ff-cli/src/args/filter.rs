//! Filters of executions on the command line.

use std::str::FromStr;
use std::time::Duration;

use ff_api::Page;
use ff_core::contracts::{Cursor, Filter, ListArgs};
use ff_core::execution::Blocker;
use ff_core::state::{BlockingReason, PublicState};
use ff_core::types::{Kind, LaneId, Namespace, TagKey, TagValue, TimestampMs};
use ff_sdk::Client;

use super::paging::Paging;
use super::{span, timestamp};
use crate::exit::Usage;

/// One condition of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    All,
    Lane(LaneId),
    State(PublicState),
    Reason(BlockingReason),
    Kind(Kind),
    Tag(TagKey, TagValue),
    Since(TimeArg),
    Until(TimeArg),
}

impl FromStr for Term {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let expected =
            || "must be lane=, state=, reason=, kind=, tag.KEY=, since= or until= and a value, or all".to_owned();
        let (field, value) = text.split_once('=').ok_or_else(expected)?;
        match field {
            "lane" => LaneId::parse(value).map(Self::Lane).map_err(|error| format!("lane: {error}")),
            "state" => value.parse().map(Self::State).map_err(|error| format!("state: {error}")),
            "reason" => reason(value).map(Self::Reason).map_err(|error| format!("reason: {error}")),
            "kind" => Kind::parse(value).map(Self::Kind).map_err(|error| format!("kind: {error}")),
            "since" => value.parse().map(Self::Since).map_err(|error| format!("since: {error}")),
            "until" => value.parse().map(Self::Until).map_err(|error| format!("until: {error}")),
            field => {
                let key = field.strip_prefix("tag.").ok_or_else(expected)?;
                let key = TagKey::parse(key).map_err(|error| format!("tag key: {error}"))?;
                let value = TagValue::parse(value).map_err(|error| format!("tag.{key}: {error}"))?;
                Ok(Self::Tag(key, value))
            }
        }
    }
}

/// Parses a blocking reason: its name in the API, or a short name.
pub(crate) fn reason(word: &str) -> Result<BlockingReason, String> {
    let blockers = [
        ("route", Blocker::Route),
        ("quota", Blocker::Quota),
        ("budget", Blocker::Budget),
        ("operator", Blocker::Operator),
        ("hold", Blocker::Operator),
        ("assignment", Blocker::Assignment),
    ];
    let named = blockers.iter().find(|(name, on)| [*name, on.reason().as_str()].contains(&word));
    named.map(|(_, on)| on.reason()).ok_or_else(|| {
        let reasons = Blocker::ADMISSION.map(|on| on.reason().as_str()).join(", ");
        format!("must be one of route, quota, budget, hold, assignment, or {reasons}")
    })
}

/// Returns the filter for the executions of a namespace that match all terms.
pub(crate) fn build(namespace: Namespace, terms: Vec<Term>, now: TimestampMs) -> Result<Filter, Usage> {
    let mut filter = Filter::everything(namespace);
    for term in terms {
        match term {
            Term::All => {}
            Term::Lane(lane) => once("lane", &mut filter.lane, lane)?,
            Term::State(state) => once("state", &mut filter.state, state)?,
            Term::Reason(reason) => once("reason", &mut filter.blocking_reason, reason)?,
            Term::Kind(kind) => once("kind", &mut filter.kind, kind)?,
            Term::Since(when) => once("since", &mut filter.created_from, when.resolve(now))?,
            Term::Until(when) => once("until", &mut filter.created_until, when.resolve(now))?,
            Term::Tag(key, value) => {
                if filter.tags.insert(key.clone(), value).is_some() {
                    return Err(Usage(format!("tag.{key}: must be given once, is given twice")));
                }
            }
        }
    }
    filter.check().map_err(Usage::from)?;
    Ok(filter)
}

/// Sets a field of a filter. Refuses a field that is given twice.
fn once<T>(field: &str, place: &mut Option<T>, value: T) -> Result<(), Usage> {
    match place.replace(value) {
        Some(_) => Err(Usage(format!("{field}: must be given once, is given twice"))),
        None => Ok(()),
    }
}

/// A time on the command line: a span before now, or a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeArg {
    Ago(Duration),
    At(TimestampMs),
}

impl TimeArg {
    pub(crate) fn resolve(self, now: TimestampMs) -> TimestampMs {
        match self {
            Self::Ago(span) => now - span::ms(span),
            Self::At(at) => at,
        }
    }
}

impl FromStr for TimeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match timestamp::parse(text) {
            Ok(at) => Ok(Self::At(at)),
            Err(_) => span::parse(text).map(Self::Ago).map_err(timestamp::add_timestamp_forms),
        }
    }
}

/// Reads the requested pages of the executions that match a filter.
pub(crate) async fn read(client: &Client, filter: &Filter, paging: Paging<Cursor>) -> anyhow::Result<Page> {
    let read = async |after, limit| {
        let page = client.list(ListArgs { filter: filter.clone(), after, limit }).await?;
        Ok((page.executions, page.next))
    };
    let (executions, next) = paging.read(read).await?;
    Ok(Page { executions, next_cursor: next.map(|cursor| cursor.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: TimestampMs = TimestampMs(10_000_000);

    fn of(terms: &[&str]) -> Result<Filter, String> {
        let terms: Result<Vec<Term>, String> = terms.iter().map(|term| term.parse()).collect();
        build(Namespace::default_name(), terms?, NOW).map_err(|usage| usage.0)
    }

    #[test]
    fn everything_that_is_said_counts() {
        let filter = of(&["lane=mail", "state=failed", "tag.team=a=b", "since=2h", "until=9000000"]).unwrap();
        assert_eq!(filter.lane, Some(LaneId::parse("mail").unwrap()));
        assert_eq!(filter.state, Some(PublicState::Failed));
        assert_eq!(filter.tags.first_key_value().unwrap().1.as_str(), "a=b");
        assert_eq!(filter.created_from, Some(TimestampMs(2_800_000)));
        assert_eq!(filter.created_until, Some(TimestampMs(9_000_000)));
        for word in ["reason=hold", "reason=paused_by_operator"] {
            assert_eq!(of(&[word]).unwrap().blocking_reason, Some(BlockingReason::PausedByOperator));
        }
        assert_eq!(of(&["all"]), Ok(Filter::everything(Namespace::default_name())));
    }

    #[test]
    fn an_unknown_or_contradictory_filter_is_refused() {
        for terms in [
            ["lane", "all"],
            ["colour=red", "all"],
            ["state=done", "all"],
            ["reason=waiting_for_worker", "all"],
            ["lane=a", "lane=b"],
            ["tag.a=1", "tag.a=2"],
            ["since=1h", "until=2h"],
            ["since=yesterday", "all"],
        ] {
            assert!(of(&terms).is_err(), "{terms:?}");
        }
    }
}
