//! Migrates a file to the schema this program knows.

use std::path::Path;

use ff_core::backend::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::meta;
use crate::open_error::OpenError;

/// The migrations, in order. The first makes the version after [`UNRELEASED`].
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_executions_and_leases.sql"),
    include_str!("../migrations/0002_suspensions_and_signals.sql"),
    include_str!("../migrations/0003_flows.sql"),
    include_str!("../migrations/0004_lanes_workers_events.sql"),
    include_str!("../migrations/0005_api_keys.sql"),
    include_str!("../migrations/0006_streams.sql"),
    include_str!("../migrations/0007_steps.sql"),
    include_str!("../migrations/0008_requirement_classes.sql"),
    include_str!("../migrations/0009_quotas.sql"),
    include_str!("../migrations/0010_key_queues.sql"),
    include_str!("../migrations/0011_turns.sql"),
    include_str!("../migrations/0012_schedules.sql"),
    include_str!("../migrations/0013_budgets.sql"),
    include_str!("../migrations/0014_feed_times.sql"),
];

/// The last unreleased version. Stores up to this version have other tables, or suspensions with another meaning.
const UNRELEASED: i64 = 40;

/// Applies missing migrations, and writes missing partition counts and secrets, in one transaction.
pub(crate) fn migrate(
    sqlite: &mut Connection,
    path: &Path,
    config: Option<PartitionConfig>,
    entropy: &dyn Entropy,
) -> Result<PartitionConfig, OpenError> {
    let failed = |source| OpenError::Sqlite { path: path.to_owned(), source };
    let transaction = sqlite.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = meta::schema_version(&transaction).map_err(failed)?;
    let known = version(MIGRATIONS.len());
    if found > known {
        return Err(OpenError::TooNew { found, known });
    }
    if (1..=UNRELEASED).contains(&found) {
        return Err(OpenError::Unreleased { found });
    }
    apply(&transaction, found).map_err(failed)?;
    let stored = meta::partitions(&transaction).map_err(failed)?;
    let partitions = match (stored, config) {
        (Some(stored), Some(config)) if stored != config => {
            return Err(OpenError::Partitions { stored, requested: config });
        }
        (Some(stored), _) => stored,
        (None, config) => {
            let partitions = config.unwrap_or_default();
            meta::set_partitions(&transaction, &partitions).map_err(failed)?;
            partitions
        }
    };
    meta::settle(&transaction, &partitions, entropy).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(partitions)
}

fn apply(transaction: &Transaction<'_>, found: i64) -> rusqlite::Result<()> {
    for (step, sql) in (1..).zip(MIGRATIONS) {
        if version(step) > found {
            transaction.execute_batch(sql)?;
            meta::set_schema_version(transaction, version(step))?;
        }
    }
    Ok(())
}

/// Returns the version after this number of migrations.
fn version(step: usize) -> i64 {
    i64::try_from(step).unwrap_or(i64::MAX).saturating_add(UNRELEASED)
}
