//! The event cursors of callers that are confined to one namespace. They are encrypted, because the progress of a cursor in a
//! partition's feed shows when other tenants were active. All of them have the same length.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use ff_core::backend::Answer;
use ff_core::engine_error::{Code, Refusal};
use ff_core::event::{EncryptedPositions, EventCursor};
use ff_core::signal::Position;
use ff_core::types::TimestampMs;

use crate::access::sealer::{SealedContent, Sealer};
use crate::access::tenant;

/// Encryption purpose of cursors.
const PURPOSE: &str = "event cursor";

/// Size of one place in bytes: 5 for the milliseconds after the cursor's base time, 2 for the position within the millisecond.
const PLACE: usize = 7;

/// Reader and writer of the cursors of one request.
#[derive(Clone)]
pub(crate) struct Cursors {
    cipher: Arc<CursorCipher>,
    is_tenant: bool,
}

/// The start position of a reader.
pub(super) enum Start {
    Now,
    After(EventCursor),
    /// The cursor was encrypted under a retired secret: the reader starts now, and learns that it missed events.
    Missed,
}

impl Cursors {
    /// Returns whether this caller's cursors are encrypted.
    pub(super) fn are_sealed(&self) -> bool {
        self.is_tenant
    }

    /// Returns the start position for the cursor a caller sent.
    pub(super) async fn open(&self, after: Option<EventCursor>) -> Answer<Start> {
        let Some(after) = after else { return Ok(Start::Now) };
        let Some(sealed) = &after.sealed else { return Ok(Start::After(after)) };
        let Some(mut opened) = self.cipher.open(sealed).await? else { return Ok(Start::Missed) };
        opened.places.extend(after.places);
        Ok(Start::After(opened))
    }

    /// Returns the cursor in the form this caller may see, for the partitions it reads.
    pub(super) async fn close(&self, cursor: &EventCursor, partitions: Range<u16>) -> Answer<EventCursor> {
        if !self.is_tenant {
            return Ok(cursor.clone());
        }
        let sealed = Some(self.cipher.seal(cursor, partitions).await?);
        Ok(EventCursor { sealed, ..EventCursor::default() })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Cursors
where
    Arc<CursorCipher>: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self { cipher: FromRef::from_ref(state), is_tenant: tenant::of(parts).is_some() })
    }
}

/// Encryption of cursors.
pub(crate) struct CursorCipher(Arc<Sealer>);

impl CursorCipher {
    pub(crate) fn new(sealer: Arc<Sealer>) -> Self {
        Self(sealer)
    }

    async fn seal(&self, cursor: &EventCursor, partitions: Range<u16>) -> Answer<EncryptedPositions> {
        let text = self.0.seal(PURPOSE, packed(cursor, partitions)).await?;
        Ok(EncryptedPositions::new(&text))
    }

    /// Decrypts a cursor; returns `None` if its secret is retired.
    async fn open(&self, sealed: &EncryptedPositions) -> Answer<Option<EventCursor>> {
        match self.0.open(PURPOSE, sealed.text()).await? {
            SealedContent::Bytes { bytes, .. } => Ok(Some(unpacked(&bytes).ok_or_else(invalid)?)),
            SealedContent::Retired => Ok(None),
            SealedContent::Invalid => Err(invalid().into()),
        }
    }
}

/// Packs the places of these partitions: the first partition, the cursor's base time, and a place for each partition. A place
/// that does not fit is packed as an earlier one, so that the reader gets some events twice and misses none.
fn packed(cursor: &EventCursor, partitions: Range<u16>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10 + PLACE * partitions.len());
    bytes.extend(partitions.start.to_be_bytes());
    bytes.extend(cursor.from.0.to_be_bytes());
    for partition in partitions {
        let place = cursor.place(partition);
        let after = place.at.0.saturating_sub(cursor.from.0).clamp(0, 0xff_ffff_ffff);
        bytes.extend(&after.to_be_bytes()[3..]);
        bytes.extend(u16::try_from(place.nth).unwrap_or(u16::MAX).to_be_bytes());
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<EventCursor> {
    let (first, rest) = bytes.split_first_chunk::<2>()?;
    let (from, places) = rest.split_first_chunk::<8>()?;
    let (first, from) = (u16::from_be_bytes(*first), i64::from_be_bytes(*from));
    let place = |bytes: &[u8]| {
        let (after, nth) = bytes.split_first_chunk::<5>()?;
        let after = after.iter().fold(0, |all, byte| all << 8 | i64::from(*byte));
        let nth = u16::from_be_bytes(nth.try_into().ok()?).into();
        Some(Position { at: TimestampMs(from.saturating_add(after)), nth })
    };
    let places = (first..).zip(places.chunks(PLACE)).map(|(partition, bytes)| Some((partition, place(bytes)?)));
    Some(EventCursor { sealed: None, from: TimestampMs(from), places: places.collect::<Option<_>>()? })
}

fn invalid() -> Refusal {
    Refusal::new(Code::InvalidCursor).at("after")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(places: &[(u16, i64, u64)]) -> EventCursor {
        let place = |&(partition, at, nth): &(u16, i64, u64)| (partition, Position { at: TimestampMs(at), nth });
        EventCursor { sealed: None, from: TimestampMs(1_000), places: places.iter().map(place).collect() }
    }

    #[test]
    fn places_come_out_as_they_went_in_and_take_the_same_room() {
        let busy = cursor(&[(0, 1_000, 1), (3, 2_000_000, 7)]);
        let opened = unpacked(&packed(&busy, 0..4)).unwrap();
        for partition in 0..4 {
            assert_eq!(opened.place(partition), busy.place(partition));
        }
        assert_eq!(packed(&busy, 0..4).len(), packed(&cursor(&[]), 0..4).len());
        let one = unpacked(&packed(&busy, 3..4)).unwrap();
        assert_eq!((one.place(3), one.places.len()), (busy.place(3), 1));
    }

    #[test]
    fn a_place_that_does_not_fit_comes_out_earlier() {
        let odd = cursor(&[(0, i64::MAX, 9), (1, 0, 1), (2, 1_001, u64::MAX)]);
        let opened = unpacked(&packed(&odd, 0..3)).unwrap();
        assert!(opened.place(0) < odd.place(0));
        assert_eq!(opened.place(1).at, TimestampMs(1_000), "no place is before the cursor's own moment");
        assert_eq!(opened.place(2), Position { at: TimestampMs(1_001), nth: u16::MAX.into() });
    }

    #[test]
    fn bytes_of_another_shape_are_refused() {
        for bytes in [&[][..], &[0; 9], &[0; 11]] {
            assert!(unpacked(bytes).is_none(), "{bytes:?}");
        }
    }
}
