//! Requests of operators, worker processes and readers of events, and messages between the partitions of a lane.

use ff_core::contracts::Setting;
use ff_core::lane::LaneState;

use crate::adjustment::Adjustment;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub enum OperatorRequest {
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
    /// Admission blocks executions on the partition of the first one.
    Block {
        jobs: Vec<u32>,
        /// The number of the blocker.
        on: u8,
        /// Milliseconds from now until the `retry_at` of the block, if it has one.
        in_ms: Option<u64>,
        /// Whether the request names the epochs of later leases.
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
        /// By kind, by a tag, or by namespace.
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
    /// A reader of events continues from its cursor.
    Read {
        limit: usize,
    },
    /// The newest settings of the default lane arrive on a partition.
    CopyLane {
        partition: u16,
    },
    /// A partition requests a grant to start executions from the home of the default lane.
    Allot {
        partition: u16,
        want: u32,
    },
    /// A partition uses a grant, counted back from the last one, possibly for the second time.
    ClaimGranted {
        back: usize,
    },
    /// A partition counts the running executions of the default lane, as of the last grant or an earlier one.
    Recount {
        partition: u16,
        behind: u64,
    },
    /// Some of the last counts arrive at the home of the default lane, possibly again.
    Settle {
        back: usize,
        counts: usize,
    },
}
