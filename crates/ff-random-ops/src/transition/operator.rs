//! Requests of operators, worker processes and readers, and the messages between the partitions of a lane, in numbers.

use ff_core::contracts::Setting;
use ff_core::lane::LaneState;

use crate::adjustment::Adjustment;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Adjust {
        job: u32,
        adjustment: Adjustment,
    },
    Hold {
        job: u32,
        reason: Option<usize>,
    },
    ReleaseHold {
        job: u32,
    },
    Assign {
        job: u32,
        worker: u8,
        ttl_ms: u64,
        reason: Option<usize>,
    },
    Unassign {
        job: u32,
    },
    /// Admission keeps executions of the first one's partition back.
    Block {
        jobs: Vec<u32>,
        /// The number of the blocker.
        on: u8,
        /// Until so long from now.
        in_ms: Option<u64>,
        /// Whether the epochs it shows are those of later leases.
        is_late: bool,
    },
    Unblock {
        jobs: Vec<u32>,
        from: u8,
    },
    Configure {
        namespace: u8,
        lane: u8,
        state: LaneState,
        concurrency: Setting<u32>,
        ageing_ms: Setting<u64>,
        retention_ms: Setting<u64>,
        /// By kind, by a label, or by namespace.
        fair_by: Setting<u8>,
        /// The new weight of one of the keys.
        weight: Option<(u8, Setting<u32>)>,
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
    /// The newest settings of the default lane arrive on a partition.
    CopyLane {
        partition: u16,
    },
    /// A partition asks the home of the default lane for leave to start executions.
    Allot {
        partition: u16,
        want: u32,
    },
    /// A grant is used: the last one, or so many before it, perhaps for the second time.
    ClaimGranted {
        back: usize,
    },
    /// A partition counts the running executions of the default lane, up to the last grant or so many before it.
    Recount {
        partition: u16,
        behind: u64,
    },
    /// Some of the last counts arrive at the home of the default lane, perhaps again.
    Settle {
        back: usize,
        counts: usize,
    },
}
