//! A lane as a partition knows it.

use std::collections::BTreeMap;

use ff_core::lane::{Lane, LaneSettings, Share};
use ff_core::types::{LaneId, TimestampMs};

use super::Hash;
use crate::ScriptError;

const SHARE: &str = "share:";

/// The lane of a name as indexes have it, if somebody configured it.
pub(crate) fn lane(name: &LaneId, fields: &Hash) -> Result<Option<Lane>, ScriptError> {
    let Some(revision) = fields.maybe("revision")? else { return Ok(None) };
    let (namespace, lane) = name.apart();
    Ok(Some(Lane {
        namespace,
        lane,
        settings: LaneSettings {
            state: fields.maybe("state")?.unwrap_or_default(),
            concurrency: fields.maybe("concurrency")?,
            ageing_ms: fields.maybe("ageing_ms")?,
            retention_ms: fields.maybe("retention_ms")?,
        },
        revision,
        changed_at: TimestampMs(fields.read("changed_at")?),
        grants: fields.count("grants")?,
        shares: shares(fields)?,
    }))
}

fn shares(fields: &Hash) -> Result<BTreeMap<u16, Share>, ScriptError> {
    let unreadable = || ScriptError::parse("a share of a lane cannot be read");
    let share = |(name, value): (String, String)| {
        let partition = name.strip_prefix(SHARE)?.parse().ok()?;
        let mut words = value.split(' ');
        let (held, seq) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((partition, Share { held, seq, counted_at: TimestampMs(words.next()?.parse().ok()?) }))
    };
    let all = fields.all::<String, String>()?.into_iter().filter(|(name, _)| name.starts_with(SHARE));
    all.map(|field| share(field).ok_or_else(unreadable)).collect()
}
