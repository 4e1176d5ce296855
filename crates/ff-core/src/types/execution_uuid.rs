//! Uuids of new executions. A process generates several in a row for one partition, so that executions submitted at
//! nearly the same time can be written and claimed together.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::crc16::crc16;

/// Number of uuids in a row for one partition. A higher number would put work on one
/// partition that several servers could share.
const BATCH: u32 = 32;

/// Number of uuids in a row that are generated without a pause, so that executions submitted at the same time stay together.
const BATCH_MAX: u32 = 40;

/// The time without a new uuid that counts as a pause.
const PAUSE: Duration = Duration::from_micros(300);

/// Processes begin with different partitions, so that they do not move through the partitions in step.
static UUID_BATCH: LazyLock<Mutex<UuidBatch>> = LazyLock::new(|| {
    Mutex::new(UuidBatch { number: Uuid::new_v4().as_u64_pair().0, generated: 0, last: Instant::now() })
});

/// Consecutive uuids that share a partition.
struct UuidBatch {
    number: u64,
    generated: u32,
    last: Instant,
}

impl UuidBatch {
    /// Returns the number of the batch of a uuid that is generated now.
    fn next(&mut self, now: Instant) -> u64 {
        let paused = now.duration_since(self.last) > PAUSE;
        if self.generated >= BATCH_MAX || self.generated >= BATCH && paused {
            (self.number, self.generated) = (self.number.wrapping_add(1), 0);
        }
        (self.generated, self.last) = (self.generated + 1, now);
        self.number
    }
}

/// Generates a uuid of version 7 for an execution.
pub fn new_execution_uuid() -> Uuid {
    let batch = UUID_BATCH.lock().unwrap_or_else(PoisonError::into_inner).next(Instant::now());
    in_batch(Uuid::now_v7(), batch)
}

/// Changes the last two bytes so that all uuids of a batch have the same CRC, and therefore the same partition
/// for any number of partitions: the CRC over two more bytes depends only on the difference between these bytes and the
/// previous CRC. Consecutive batches have different CRCs, until all values have been used.
fn in_batch(uuid: Uuid, batch: u64) -> Uuid {
    let mut bytes = uuid.into_bytes();
    let [first, second] = crc16(&bytes[..14]).to_be_bytes();
    let [.., high, low] = batch.to_be_bytes();
    (bytes[14], bytes[15]) = (first ^ high, second ^ low);
    Uuid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn a_batch_shares_a_partition_for_any_number_of_partitions() {
        for batch in 0..100 {
            let crcs: HashSet<_> = (0..100).map(|_| crc16(in_batch(Uuid::now_v7(), batch).as_bytes())).collect();
            assert_eq!(crcs.len(), 1);
        }
    }

    #[test]
    fn a_batch_is_longer_without_a_pause() {
        let mut now = Instant::now();
        let mut place = UuidBatch { number: 7, generated: 0, last: now };
        for _ in 0..BATCH {
            now += 2 * PAUSE;
            assert_eq!(place.next(now), 7);
        }
        assert_eq!([place.next(now), place.next(now + 2 * PAUSE)], [7, 8]);
        now += 2 * PAUSE;
        assert!((1..BATCH_MAX).all(|_| place.next(now) == 8));
        assert_eq!(place.next(now), 9);
    }

    #[test]
    fn every_partition_gets_the_same_number_of_batches() {
        let mut of_partition: HashMap<u16, u32> = HashMap::new();
        for batch in 7_777..7_777 + 2_560 {
            *of_partition.entry(crc16(in_batch(Uuid::now_v7(), batch).as_bytes()) % 256).or_default() += 1;
        }
        assert_eq!(of_partition.len(), 256);
        assert!(of_partition.values().all(|count| (5..=15).contains(count)), "{of_partition:?}");
    }

    #[test]
    fn uuids_differ_sort_by_time_and_are_of_version_7() {
        let drawn: Vec<_> = (0..1_000).map(|_| new_execution_uuid()).collect();
        assert!(drawn.windows(2).all(|two| two[0] < two[1]));
        assert!(drawn.iter().all(|uuid| uuid.get_version_num() == 7));
    }
}
