//! Functions for the settings and counts of a lane, at its home and on every other partition.

use std::collections::BTreeMap;

use bytes::Bytes;
use ff_core::contracts::{
    AllotArgs, Allotment, ConfigureLaneArgs, CopyLaneArgs, Grant, LaneCount, LaneSettled, RecountLaneArgs,
    RegisterClassesArgs, Setting, SettleLaneArgs,
};
use ff_core::lane::{Lane, LaneSettings};
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::types::{FairKey, LaneId, Namespace, TimestampMs};

use super::config_key;
use crate::execution::moment;
use crate::record::{class, weights, weights_text};
use crate::server::ask;
use crate::signature::{AllotLane, ConfigureLane, CopyLane, RecountLane, RegisterClasses, SettleLane};
use crate::{Fcall, Fields, ScriptError, Server};

/// Configures a lane at its home.
pub async fn ff_configure_lane(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: ConfigureLaneArgs,
) -> Result<Lane, ScriptError> {
    let key = args.lane.within(&args.namespace);
    let configure = ConfigureLane {
        config: config_key(lane_partition(&key, partitions), &key),
        lane: key.to_string(),
        state: args.state.map(|state| state.to_string()),
        concurrency: setting(args.concurrency),
        ageing_ms: setting(args.ageing_ms),
        retention_ms: setting(args.retention_ms),
        fair_by: setting(args.fair_by),
        weights: args.weights.into_iter().flat_map(weight).collect(),
    };
    let fields = ask(server, configure.call()).await?;
    lane_at_home(args.namespace, args.lane, fields)
}

/// Adds requirement classes to a lane at its home.
pub async fn ff_register_classes(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: RegisterClassesArgs,
) -> Result<Lane, ScriptError> {
    let key = args.lane.within(&args.namespace);
    let register = RegisterClasses {
        config: config_key(lane_partition(&key, partitions), &key),
        lane: key.to_string(),
        classes: args.classes.iter().map(|class| class.to_string().into()).collect(),
    };
    let fields = ask(server, register.call()).await?;
    lane_at_home(args.namespace, args.lane, fields)
}

/// Reads the answer of a lane's home to a new configuration.
fn lane_at_home(namespace: Namespace, lane: LaneId, mut fields: Fields) -> Result<Lane, ScriptError> {
    let mut settings = LaneSettings {
        state: fields.read()?,
        concurrency: fields.maybe_read()?,
        ageing_ms: fields.maybe_read()?,
        retention_ms: fields.maybe_read()?,
        ..LaneSettings::default()
    };
    let (revision, changed_at) = (fields.read()?, TimestampMs(fields.read()?));
    let classes = fields.items(|row| class(&row.text()?))?.into_iter().collect();
    settings.fair_by = fields.maybe_read()?;
    settings.weights = weights(&fields.text()?)?;
    let keyed = !fields.text()?.is_empty();
    Ok(Lane { namespace, lane, settings, revision, changed_at, grants: 0, classes, keyed, shares: BTreeMap::new() })
}

/// Copies the settings of a lane to a partition, and returns the number of its executions held there.
pub async fn ff_copy_lane(server: &dyn Server, args: &CopyLaneArgs) -> Result<LaneCount, ScriptError> {
    let CopyLaneArgs { partition, lane } = args;
    let key = lane.key();
    let copy = CopyLane {
        config: config_key(*partition, &key),
        lane: key.to_string(),
        state: lane.settings.state.to_string(),
        concurrency: lane.settings.concurrency.map(u64::from),
        ageing_ms: lane.settings.ageing_ms,
        retention_ms: lane.settings.retention_ms,
        revision: lane.revision,
        changed_at: moment(lane.changed_at),
        classes: lane.classes.iter().map(|class| class.to_string().into()).collect(),
        fair_by: lane.settings.fair_by.as_ref().map(ToString::to_string),
        weights: weights_text(&lane.settings.weights),
        has_keys: lane.keyed,
    };
    count(server, copy.call(), *partition).await
}

/// Encodes the change of a key's weight; an empty weight is the default.
fn weight((key, weight): (FairKey, Setting<u32>)) -> Vec<Bytes> {
    match weight {
        Setting::Keep => Vec::new(),
        Setting::Default => vec![key.to_string().into(), Bytes::new()],
        Setting::To(weight) => vec![key.to_string().into(), weight.to_string().into()],
    }
}

/// Encodes the change of a setting; absent keeps it.
fn setting<T: ToString>(change: Setting<T>) -> Option<String> {
    match change {
        Setting::Keep => None,
        Setting::Default => Some("default".into()),
        Setting::To(value) => Some(value.to_string()),
    }
}

/// Asks a lane's home for a grant of up to `want` executions.
pub async fn ff_allot_lane(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &AllotArgs,
) -> Result<Allotment, ScriptError> {
    let key = args.lane.within(&args.namespace);
    let allot = AllotLane {
        config: config_key(lane_partition(&key, partitions), &key),
        lane: key.to_string(),
        partition: args.partition.into(),
        want: args.want.into(),
        partitions: partitions.num_flow_partitions.into(),
    };
    let mut fields = ask(server, allot.call()).await?;
    let (n, seq) = (fields.maybe_read()?, fields.maybe_read()?);
    let revision = fields.read()?;
    let grant = n.zip(seq).map(|(n, seq)| Grant { n, seq, revision });
    let uncounted = fields.items(|row| Ok((row.read()?, row.read()?)))?;
    Ok(Allotment { grant, revision, uncounted })
}

/// Counts the executions of a lane that a partition holds.
pub async fn ff_recount_lane(server: &dyn Server, args: &RecountLaneArgs) -> Result<LaneCount, ScriptError> {
    let key = args.lane.within(&args.namespace);
    let recount = RecountLane { config: config_key(args.partition, &key), lane: key.to_string(), seq: args.seq };
    count(server, recount.call(), args.partition).await
}

/// Reports counts to a lane's home.
pub async fn ff_settle_lane(
    server: &dyn Server,
    partitions: &PartitionConfig,
    args: &SettleLaneArgs,
) -> Result<LaneSettled, ScriptError> {
    let key = args.lane.within(&args.namespace);
    let each = |count: &LaneCount| {
        let numbers = [u64::from(count.partition), u64::from(count.held), count.seq, count.revision];
        numbers.into_iter().map(|n| n.to_string().into()).chain([count.counted_at.to_string().into()])
    };
    let settle = SettleLane {
        config: config_key(lane_partition(&key, partitions), &key),
        lane: key.to_string(),
        partitions: partitions.num_flow_partitions.into(),
        counts: args.counts.iter().flat_map(each).collect(),
    };
    let mut fields = ask(server, settle.call()).await?;
    Ok(LaneSettled { taken: fields.read()? })
}

/// Reads the count of a partition.
pub(crate) fn lane_count(fields: &mut Fields, partition: u16) -> Result<LaneCount, ScriptError> {
    let (held, seq, revision) = (fields.read()?, fields.read()?, fields.read()?);
    Ok(LaneCount { partition, held, seq, revision, counted_at: TimestampMs(fields.read()?) })
}

/// Sends a call that returns a count of a partition.
pub(super) async fn count(server: &dyn Server, call: Fcall, partition: u16) -> Result<LaneCount, ScriptError> {
    lane_count(&mut ask(server, call).await?, partition)
}
