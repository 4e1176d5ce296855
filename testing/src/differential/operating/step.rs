//! What somebody who operates a store asks, in numbers.

use ff_core::contracts::Setting;
use ff_core::lane::LaneState;

/// One thing that is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Label {
        job: u32,
        /// A key and a value.
        set: (u8, u8),
        remove: u8,
    },
    Prioritise {
        job: u32,
        to: i64,
    },
    Configure {
        namespace: u8,
        lane: u8,
        state: LaneState,
        concurrency: Setting<u32>,
        ageing_ms: Setting<u64>,
        retention_ms: Setting<u64>,
    },
    Register {
        worker: u8,
        namespace: u8,
        ttl_ms: u64,
    },
    Heartbeat {
        worker: u8,
        namespace: u8,
    },
    Leave {
        worker: u8,
        namespace: u8,
    },
    SweepWorkers,
    /// A reader goes on where it was.
    Read {
        limit: usize,
    },
}
