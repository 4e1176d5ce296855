//! The id of an execution or flow on the command line: the whole id, only its uuid, or the first digits of the uuid.

use std::str::FromStr;

use ff_core::contracts::{Filter, FlowCursor, ListArgs, ListFlowsArgs};
use ff_core::limits;
use ff_core::types::{ExecutionId, FlowId, TimestampMs};
use ff_sdk::{Client, FlowFabric};
use uuid::Uuid;

use crate::exit::Usage;
use crate::settings::Settings;

/// The id of an execution from the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdArg {
    Whole(ExecutionId),
    Uuid(Uuid),
    Prefix(UuidPrefix),
}

/// The id of a flow from the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowIdArg {
    Whole(FlowId),
    Prefix(UuidPrefix),
}

/// The first digits of a uuid. They contain the time at which the uuid was created, so only executions and flows of
/// about that time are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UuidPrefix {
    digits: u32,
    /// The digits, filled up with zeros.
    first: u128,
}

/// Minimum number of digits. Eight digits determine the time to about a minute.
const LEAST_DIGITS: u32 = 8;

/// Maximum difference between the clock of a submitter, which creates the uuid, and the clock of the store.
const CLOCKS_DIFFER_MS: u64 = 60_000;

/// Number of executions or flows after which the search for a prefix is given up.
const SEARCH_MAX: usize = 100_000;

/// Maximum number of uuids in the error for an ambiguous prefix.
const NAMED: usize = 5;

impl FromStr for IdArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.parse(), Uuid::parse_str(text)) {
            (Ok(id), _) => Ok(Self::Whole(id)),
            (Err(_), Ok(uuid)) => Ok(Self::Uuid(uuid)),
            (Err(error), Err(_)) => {
                let or = format!("{error}, or be the uuid alone, or at least its first {LEAST_DIGITS} digits");
                UuidPrefix::parse(text).map(Self::Prefix).ok_or(or)
            }
        }
    }
}

impl IdArg {
    /// Returns the whole id. Looks up a uuid, or the first digits of one.
    pub(crate) async fn find(self, settings: &Settings, client: &Client) -> anyhow::Result<ExecutionId> {
        match self {
            Self::Whole(id) => Ok(id),
            Self::Uuid(uuid) => Ok(client.find(uuid).await?),
            Self::Prefix(prefix) => prefix.find_execution(settings, client).await,
        }
    }
}

impl FromStr for FlowIdArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(uuid) = Uuid::parse_str(text) {
            return Ok(Self::Whole(FlowId::from_uuid(uuid)));
        }
        let wrong = || format!("must be a uuid, or at least its first {LEAST_DIGITS} digits");
        UuidPrefix::parse(text).map(Self::Prefix).ok_or_else(wrong)
    }
}

impl FlowIdArg {
    /// Returns the whole id. Looks up the first digits of one.
    pub(crate) async fn find(self, settings: &Settings, flowfabric: &FlowFabric) -> anyhow::Result<FlowId> {
        match self {
            Self::Whole(id) => Ok(id),
            Self::Prefix(prefix) => prefix.find_flow(settings, flowfabric).await,
        }
    }
}

impl UuidPrefix {
    fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        let count = u32::try_from(digits.len()).ok().filter(|count| (LEAST_DIGITS..32).contains(count))?;
        let hex = digits.chars().all(|c| c.is_ascii_hexdigit()) && !text.starts_with('-');
        let first = u128::from_str_radix(&digits, 16).ok().filter(|_| hex)? << (4 * (32 - count));
        Some(Self { digits: count, first })
    }

    fn last(self) -> u128 {
        self.first | (u128::MAX >> (4 * self.digits))
    }

    fn means(self, uuid: Uuid) -> bool {
        (self.first..=self.last()).contains(&uuid.as_u128())
    }

    /// Returns the range of creation times to search: the start, and the end, which is excluded.
    fn created(self) -> (TimestampMs, TimestampMs) {
        let moment = |uuid: u128| TimestampMs(i64::try_from(uuid >> 80).unwrap_or(i64::MAX));
        (moment(self.first) - CLOCKS_DIFFER_MS, moment(self.last()) + CLOCKS_DIFFER_MS)
    }

    async fn find_execution(self, settings: &Settings, client: &Client) -> anyhow::Result<ExecutionId> {
        let (from, until) = self.created();
        let everything = Filter::everything(settings.namespace());
        let filter = Filter { created_from: Some(from), created_until: Some(until), ..everything };
        let read = async |after| {
            let page = client.list(ListArgs { filter: filter.clone(), after, limit: limits::PAGE }).await?;
            let found = page.executions.iter().map(|info| (info.execution_id.uuid(), info.execution_id));
            Ok((found.collect(), page.next))
        };
        self.only("execution", settings, None, read).await
    }

    /// Looks up a flow. The listing is newest first, so the flows of the time range are contiguous in it.
    async fn find_flow(self, settings: &Settings, flowfabric: &FlowFabric) -> anyhow::Result<FlowId> {
        let (from, until) = self.created();
        let args = ListFlowsArgs { limit: limits::PAGE, ..ListFlowsArgs::new(settings.namespace()) };
        let read = async |after: Option<FlowCursor>| {
            let page = flowfabric.backend().list_flows(ListFlowsArgs { after, ..args.clone() }).await?;
            let next = page.next.filter(|next| next.created_at >= from);
            Ok((page.flows.iter().map(|info| (*info.flow_id.as_uuid(), info.flow_id)).collect(), next))
        };
        let newest = FlowCursor { created_at: until, flow_id: FlowId::from_uuid(Uuid::max()) };
        self.only("flow", settings, Some(newest), read).await
    }

    /// Returns the only id with this prefix in a listing that is read page by page. Refuses a prefix of none or of several.
    async fn only<Id: Copy, Next>(
        self,
        noun: &str,
        settings: &Settings,
        first: Option<Next>,
        read: impl AsyncFn(Option<Next>) -> anyhow::Result<(Vec<(Uuid, Id)>, Option<Next>)>,
    ) -> anyhow::Result<Id> {
        let (mut found, mut looked, mut after) = (Vec::new(), 0, first);
        loop {
            let (page, next) = read(after).await?;
            looked += page.len();
            found.extend(page.into_iter().filter(|(uuid, _)| self.means(*uuid)));
            after = next;
            if after.is_none() || looked >= SEARCH_MAX || found.len() > NAMED {
                break;
            }
        }
        match &found[..] {
            [(_, id)] if after.is_none() => Ok(*id),
            [] if after.is_none() => Err(Usage(format!(
                "id: no {noun} of the namespace {} begins with {self}; one with a uuid of another kind must be named by the whole uuid",
                settings.namespace()
            ))
            .into()),
            [] | [_] => Err(Usage(format!("id: more than {SEARCH_MAX} {noun}s were created at the time of {self}; give the whole uuid")).into()),
            several => {
                let named: Vec<_> = several.iter().take(NAMED).map(|(uuid, _)| uuid.to_string()).collect();
                let more = if several.len() > NAMED { " and more" } else { "" };
                Err(Usage(format!("id: {self} is not unique; give more digits of {}{more}", named.join(", "))).into())
            }
        }
    }
}

impl std::fmt::Display for UuidPrefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let uuid = Uuid::from_u128(self.first).to_string();
        let mut left = self.digits;
        let digits = uuid.chars().take_while(|c| {
            let shown = left > 0;
            left -= u32::from(shown && *c != '-');
            shown
        });
        f.write_str(&digits.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

    #[test]
    fn an_id_is_whole_or_a_uuid() {
        assert!(matches!(format!("{{fp:7}}:{UUID}").parse(), Ok(IdArg::Whole(id)) if id.partition() == 7));
        assert!(matches!(UUID.parse(), Ok(IdArg::Uuid(_))));
        assert!("17".parse::<IdArg>().unwrap_err().contains("first 8 digits"));
        assert!(matches!(UUID.parse(), Ok(FlowIdArg::Whole(_))));
        assert!(matches!("018f3c5e".parse(), Ok(FlowIdArg::Prefix(_))));
        assert!("17".parse::<FlowIdArg>().unwrap_err().contains("first 8 digits"));
    }

    #[test]
    fn the_first_digits_of_a_uuid_mean_those_that_begin_with_them() {
        let id = UUID.parse().unwrap();
        for text in ["018f3c5e", "018f3c5e-7a10", "018F3C5E7A", "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3"] {
            let Ok(IdArg::Prefix(prefix)) = text.parse() else { panic!("{text}") };
            assert!(prefix.means(id), "{text}");
            let (from, until) = prefix.created();
            assert!((from.0..until.0).contains(&0x018f_3c5e_7a10), "{text}");
        }
        let Ok(IdArg::Prefix(other)) = "018f3c5e-7a11".parse() else { panic!() };
        assert!(!other.means(id));
        assert_eq!(other.to_string(), "018f3c5e-7a11");
        for text in ["018f3c5", "-018f3c5e", "018f3c5g", ""] {
            assert!(text.parse::<IdArg>().is_err(), "{text}");
        }
    }
}
