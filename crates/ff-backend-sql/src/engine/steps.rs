//! The steps of a partition, for its snapshot.

use ff_core::backend::snapshot::Snapshot;

use crate::error::SqlError;
use crate::session::Read;
use crate::step::{STEPS_ON, read_step};

/// Adds steps to a snapshot. An unreadable record becomes a stray, and the rest is still added.
pub(super) async fn add_steps(reader: &mut dyn Read, snapshot: &mut Snapshot, partition: u16) -> Result<(), SqlError> {
    for row in reader.query(STEPS_ON, &[vec![partition.into()]]).await?.iter().flatten() {
        let id = row.id(0, partition)?;
        match read_step(row, 1) {
            Ok(step) => snapshot.steps.entry(id).or_default().push(step),
            Err(error) => snapshot.strays.push((id, error.to_string())),
        }
    }
    snapshot.steps.values_mut().for_each(|steps| steps.sort_by_key(|step| step.seq));
    Ok(())
}
