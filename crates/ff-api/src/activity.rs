//! The activity of the last hour, on the wire.

use ff_core::types::{Kind, LaneId, Namespace, TimestampMs};

use crate::object::answers;
use crate::query::query;

answers! {
    /// Attempts that ended on this server in the last hour.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Activity {
        /// Per lane and minute.
        pub lanes: Vec<LaneActivity>,
        /// Per kind; kinds with the most failures first.
        pub kinds: Vec<KindActivity>,
        /// True when there were more lanes and kinds than the server can count.
        pub left_out: bool,
    }

    /// Ended attempts of one lane.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LaneActivity {
        pub namespace: Namespace,
        pub lane_id: LaneId,
        #[serde(flatten)]
        pub ends: Ends,
        /// Minutes in which attempts started or ended, earliest first.
        pub minutes: Vec<MinuteActivity>,
    }

    /// Ended attempts of one kind.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct KindActivity {
        pub namespace: Namespace,
        pub kind: Kind,
        #[serde(flatten)]
        pub ends: Ends,
    }

    /// Ended attempts of one minute.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MinuteActivity {
        /// When the minute began.
        pub at: TimestampMs,
        #[serde(flatten)]
        pub ends: Ends,
    }

    /// How many attempts ended, and how long they took. Durations are rounded up to 1, 1.5, 2, 3, 5, 7, 10 and so on.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Ends {
        pub completed: u64,
        /// Failed permanently.
        pub failed: u64,
        /// Failed and retried.
        pub retried: u64,
        /// From submission to the first start.
        pub start_p50_ms: Option<u64>,
        pub start_p95_ms: Option<u64>,
        /// From claim to end of the attempt.
        pub run_p50_ms: Option<u64>,
        pub run_p95_ms: Option<u64>,
    }
}

query! {
    /// Parameters of a read of the activity.
    ActivityQuery within namespace {
        /// Only this namespace (default: all).
        namespace: Namespace,
    }
}
