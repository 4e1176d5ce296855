//! Saying how a lane is to be, at its home and on every other partition.

use std::collections::BTreeMap;

use ff_core::contracts::{ConfigureLaneArgs, CopyLaneArgs, LaneCount, Setting};
use ff_core::lane::{Lane, LaneSettings};
use ff_core::partition::{PartitionConfig, lane_partition};
use ff_core::types::TimestampMs;

use super::config_key;
use super::limit::count;
use crate::execution::moment;
use crate::signature::{ConfigureLane, CopyLane};
use crate::{FcallResult, ScriptError, Server};

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
        concurrency: said(args.concurrency),
        ageing_ms: said(args.ageing_ms),
        retention_ms: said(args.retention_ms),
    };
    let call = configure.call();
    let (mut fields, _) = FcallResult::parse(call.signature, server.fcall(call).await?)?.into_fields();
    Ok(Lane {
        namespace: args.namespace,
        lane: args.lane,
        settings: LaneSettings {
            state: fields.read()?,
            concurrency: fields.maybe_read()?,
            ageing_ms: fields.maybe_read()?,
            retention_ms: fields.maybe_read()?,
        },
        revision: fields.read()?,
        changed_at: TimestampMs(fields.read()?),
        grants: 0,
        shares: BTreeMap::new(),
    })
}

/// Tells a partition how a lane is configured, and asks how many of it are held there.
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
    };
    count(server, copy.call(), *partition).await
}

/// What becomes of a setting, as the function takes it.
fn said<T: ToString>(setting: Setting<T>) -> Option<String> {
    match setting {
        Setting::Keep => None,
        Setting::Default => Some("default".into()),
        Setting::To(value) => Some(value.to_string()),
    }
}
