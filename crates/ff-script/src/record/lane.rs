//! Reading a lane or a worker instance.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use ff_core::lane::{Lane, LaneSettings, Share};
use ff_core::types::{FairKey, LaneId, RequirementClass, TimestampMs, WorkerInstanceId};
use ff_core::worker::Worker;

use super::Hash;
use crate::ScriptError;

const SHARE: &str = "share:";

/// Reads a lane by its name in indexes; none when it was never configured.
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
            fair_by: fields.maybe("fair_by")?,
            weights: weights(fields.text("weights")?.unwrap_or_default())?,
        },
        revision,
        changed_at: TimestampMs(fields.read("changed_at")?),
        grants: fields.count("grants")?,
        classes: fields.text("classes")?.unwrap_or_default().lines().map(class).collect::<Result<_, _>>()?,
        keyed: fields.text("keyed")?.is_some(),
        shares: shares(fields)?,
    }))
}

/// Parses the weights of keys: one weight and its key per line.
pub(crate) fn weights(text: &str) -> Result<BTreeMap<FairKey, u32>, ScriptError> {
    let one = |line: &str| {
        let (weight, key) = line.split_once(' ')?;
        Some((FairKey::parse(key).ok()?, weight.parse().ok()?))
    };
    let read: Option<_> = text.lines().map(one).collect();
    read.ok_or_else(|| ScriptError::parse("the weights of a lane cannot be read"))
}

/// Returns the text that [`weights`] parses.
pub(crate) fn weights_text(weights: &BTreeMap<FairKey, u32>) -> Option<String> {
    let lines: Vec<_> = weights.iter().map(|(key, weight)| format!("{weight} {key}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Parses a requirement class.
pub(crate) fn class(text: &str) -> Result<RequirementClass, ScriptError> {
    RequirementClass::parse(text).map_err(|error| ScriptError::parse(format!("a requirement class {error}")))
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

/// Reads a worker instance, if it is known.
pub(crate) fn worker(id: WorkerInstanceId, partition: u16, fields: &Hash) -> Result<Option<Worker>, ScriptError> {
    let Some(worker_id) = fields.maybe("worker_id")? else { return Ok(None) };
    Ok(Some(Worker {
        worker_instance_id: id,
        worker_id,
        namespace: fields.read("namespace")?,
        lanes: names(fields, "lanes")?,
        kinds: names(fields, "kinds")?,
        capabilities: names(fields, "capabilities")?,
        registered_at: TimestampMs(fields.read("registered_at")?),
        seen_at: TimestampMs(fields.read("seen_at")?),
        ttl_ms: fields.read("ttl_ms")?,
        partition,
    }))
}

/// Parses names that are separated by commas, which no name contains.
fn names<T: FromStr + Ord>(fields: &Hash, field: &str) -> Result<BTreeSet<T>, ScriptError> {
    let names = fields.text(field)?.unwrap_or_default().split(',').filter(|name| !name.is_empty());
    let read: Option<_> = names.map(|name| name.parse().ok()).collect();
    read.ok_or_else(|| ScriptError::parse(format!("the field {field} cannot be read")))
}
