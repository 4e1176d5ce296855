//! Streams in a snapshot of a partition.

use ff_core::backend::snapshot::Snapshot;
use ff_core::types::AttemptIndex;

use crate::error::SqlError;
use crate::session::Read;
use crate::stream::{FRAMES_OF, STREAMS_ON, key_of_frame, read_frame};
use crate::table::record;
use crate::table::value::Value;

/// Adds streams to a snapshot. An unreadable record becomes a stray, and the rest is still added.
pub(super) async fn add_streams(
    reader: &mut dyn Read,
    snapshot: &mut Snapshot,
    partition: u16,
) -> Result<(), SqlError> {
    for row in reader.query(STREAMS_ON, &[vec![partition.into()]]).await?.iter().flatten() {
        let (id, attempt) = (row.id(0, partition)?, AttemptIndex(row.count(1)?));
        let stream = match record::read(row.text(2)?) {
            Ok(stream) => stream,
            Err(error) => {
                snapshot.strays.push((id, error.to_string()));
                continue;
            }
        };
        let all = [key_of_frame(&id, attempt, 0), vec![Value::number(i64::MAX)]].concat();
        let rows = reader.query(FRAMES_OF, &[all]).await?;
        let frames = rows.iter().flatten().map(|row| Ok(read_frame(row)?.1)).collect::<Result<_, SqlError>>()?;
        snapshot.streams.insert((id, attempt), (stream, frames));
    }
    Ok(())
}
