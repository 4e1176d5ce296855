//! Loads and writes of streams.

use std::collections::BTreeSet;

use super::suspensions::load_records;
use crate::batch_state::{StreamName, StreamRecords};
use crate::error::SqlError;
use crate::session::{Read, Session, delete_all, put_all};
use crate::stream::{frame_of, key_of_frame, key_of_stream, stream_of};
use crate::table::schema::{FRAME, STREAM};

/// Loads the streams a batch has missed.
pub(super) async fn load_streams(
    reader: &mut dyn Read,
    streams: &mut StreamRecords,
    names: BTreeSet<StreamName>,
) -> Result<(), SqlError> {
    let key = |(id, attempt): &StreamName| key_of_stream(id, *attempt);
    load_records(reader, &mut streams.records, names, &STREAM, key).await
}

/// Writes streams and new frames, and deletes trimmed frames.
pub(super) async fn write_streams(session: &mut dyn Session, streams: &StreamRecords) -> Result<bool, SqlError> {
    let trimmed = streams
        .trimmed
        .iter()
        .flat_map(|((id, attempt), gone)| gone.clone().map(|seq| key_of_frame(id, *attempt, seq)));
    let mut written = delete_all(session, &FRAME, trimmed.collect()).await?;
    let frames = streams
        .frames
        .iter()
        .flat_map(|((id, attempt), frames)| frames.iter().map(|frame| frame_of(id, *attempt, frame)));
    written |= put_all(session, &FRAME, frames.collect()).await?;
    let records = streams.records.written().map(|((id, attempt), stream)| stream_of(id, *attempt, stream));
    written |= put_all(session, &STREAM, records.collect::<Result<_, _>>()?).await?;
    Ok(written)
}
