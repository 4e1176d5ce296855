//! How many partitions there are, fixed at a store's first boot.

use ff_core::keys::global_config_partitions;
use ff_core::partition::PartitionConfig;

use crate::server::ask;
use crate::signature::ConfigurePartitions;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Fixes how many partitions each family has, unless that was done before, and says how many there are.
pub async fn ff_configure_partitions(
    server: &dyn Server,
    config: &PartitionConfig,
) -> Result<PartitionConfig, ScriptError> {
    let configure = ConfigurePartitions {
        config: global_config_partitions(),
        flow: config.num_flow_partitions.into(),
        budget: config.num_budget_partitions.into(),
        quota: config.num_quota_partitions.into(),
    };
    ask(server, configure.call()).await
}

impl FromFcallResult for PartitionConfig {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self {
            num_flow_partitions: fields.read()?,
            num_budget_partitions: fields.read()?,
            num_quota_partitions: fields.read()?,
        })
    }
}
