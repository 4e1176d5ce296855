//! Uuids of new executions. A process generates several in a row for one partition, so that executions submitted at
//! nearly the same time can be written and claimed together.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::crc16::crc16;

/// Number of uuids in a row for one partition. A higher number would put work on one
/// partition that several servers could share.
const NEIGHBOURS: u32 = 16;

/// Number of uuids in a row that are generated without a pause, so that executions submitted at the same time stay together.
const NEIGHBOURS_AT_MOST: u32 = 24;

/// The time without a new uuid that counts as a pause.
const PAUSE: Duration = Duration::from_micros(300);

/// Processes begin with different partitions, so that they do not move through the partitions in step.
static NEIGHBOURHOOD: LazyLock<Mutex<Neighbourhood>> = LazyLock::new(|| {
    Mutex::new(Neighbourhood { number: Uuid::new_v4().as_u64_pair().0, drawn: 0, last: Instant::now() })
});

/// A neighbourhood: consecutive uuids that share a partition.
struct Neighbourhood {
    number: u64,
    drawn: u32,
    last: Instant,
}

impl Neighbourhood {
    /// Returns the number of the neighbourhood of a uuid that is generated now.
    fn draw(&mut self, now: Instant) -> u64 {
        let paused = now.duration_since(self.last) > PAUSE;
        if self.drawn >= NEIGHBOURS_AT_MOST || self.drawn >= NEIGHBOURS && paused {
            (self.number, self.drawn) = (self.number.wrapping_add(1), 0);
        }
        (self.drawn, self.last) = (self.drawn + 1, now);
        self.number
    }
}

/// Generates a uuid of version 7 for an execution.
pub fn draw_execution_uuid() -> Uuid {
    let neighbourhood = NEIGHBOURHOOD.lock().unwrap_or_else(PoisonError::into_inner).draw(Instant::now());
    beside(Uuid::now_v7(), neighbourhood)
}

/// Changes the last two bytes so that all uuids of a neighbourhood have the same CRC, and therefore the same partition
/// for any number of partitions: the CRC over two more bytes depends only on the difference between these bytes and the
/// previous CRC. Consecutive neighbourhoods have different CRCs, until all values have been used.
fn beside(uuid: Uuid, neighbourhood: u64) -> Uuid {
    let mut bytes = uuid.into_bytes();
    let [first, second] = crc16(&bytes[..14]).to_be_bytes();
    let [.., high, low] = neighbourhood.to_be_bytes();
    (bytes[14], bytes[15]) = (first ^ high, second ^ low);
    Uuid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn neighbours_share_a_partition_whatever_the_number_of_partitions() {
        for neighbourhood in 0..100 {
            let crcs: HashSet<_> = (0..100).map(|_| crc16(beside(Uuid::now_v7(), neighbourhood).as_bytes())).collect();
            assert_eq!(crcs.len(), 1);
        }
    }

    #[test]
    fn sixteen_in_a_row_live_together_and_more_without_a_pause() {
        let mut now = Instant::now();
        let mut place = Neighbourhood { number: 7, drawn: 0, last: now };
        for _ in 0..NEIGHBOURS {
            now += 2 * PAUSE;
            assert_eq!(place.draw(now), 7);
        }
        assert_eq!([place.draw(now), place.draw(now + 2 * PAUSE)], [7, 8]);
        now += 2 * PAUSE;
        assert!((1..NEIGHBOURS_AT_MOST).all(|_| place.draw(now) == 8));
        assert_eq!(place.draw(now), 9);
    }

    #[test]
    fn every_partition_gets_as_many_neighbourhoods_as_any_other() {
        let mut of_partition: HashMap<u16, u32> = HashMap::new();
        for neighbourhood in 7_777..7_777 + 2_560 {
            *of_partition.entry(crc16(beside(Uuid::now_v7(), neighbourhood).as_bytes()) % 256).or_default() += 1;
        }
        assert_eq!(of_partition.len(), 256);
        assert!(of_partition.values().all(|count| (5..=15).contains(count)), "{of_partition:?}");
    }

    #[test]
    fn drawn_uuids_differ_sort_by_time_and_are_of_version_7() {
        let drawn: Vec<_> = (0..1_000).map(|_| draw_execution_uuid()).collect();
        assert!(drawn.windows(2).all(|two| two[0] < two[1]));
        assert!(drawn.iter().all(|uuid| uuid.get_version_num() == 7));
    }
}
