//! The text of the library, as a server loads it.

use std::fmt::Write;

use ff_core::backend::entropy::JITTER_SCALE;
use ff_core::fairness::step_of;
use ff_core::flow::CancelPolicy;
use ff_core::lease::contracts::Head;
use ff_core::limits;
use ff_core::policy::Policy;
use ff_core::suspension::TimeoutBehavior;

/// The library's name on a server.
pub const LIBRARY: &str = "flowfabric";

/// The version of this program's library. Raise the minor number with every change to the Lua, because a server
/// replaces its library only with a newer one. Raise the major number when programs of the previous version cannot use
/// it.
pub const VERSION: Version = Version { major: 5, minor: 0 };

/// A version of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

/// The source of the library's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryClock {
    /// The server's clock.
    Server,
    /// One key per partition, which tests set.
    Test,
}

/// Maximum number of queues that a server remembers per partition: more than are busy at once, few enough to drop and
/// read again.
const QUEUES_REMEMBERED: usize = 4_096;
/// Maximum number of key names that a server remembers per partition, likewise.
const NAMES_REMEMBERED: usize = 4_096;

/// Maximum number of policies that a server remembers, by their text.
const POLICIES_REMEMBERED: usize = 256;

/// Maximum number of executions of one partition whose end callers wait for.
const AWAITED_REMEMBERED: usize = 10_000;
/// Maximum number of executions that a listing reads from its index in one step.
const LISTED_AT_ONCE: usize = 100;
/// Maximum number of executions that one call of a listing looks at; then other calls get their turn.
const LISTED_IN_ALL: usize = 1_000;

/// Maximum number of members, edges or flows that one reading call looks at, likewise.
const FLOW_READ_AT_ONCE: usize = 100;
/// Maximum number of named inputs that one call returns, likewise.
const INPUTS_AT_ONCE: usize = 200;
/// Maximum number of flow events that one call reads, likewise.
const FLOW_EVENTS_AT_ONCE: usize = 500;

/// Returns the text of the library.
pub fn library(clock: LibraryClock) -> String {
    let mut text = format!("#!lua name={LIBRARY}\n{}", constants(clock));
    text += match clock {
        LibraryClock::Server => include_str!(concat!(env!("OUT_DIR"), "/server.lua")),
        LibraryClock::Test => include_str!(concat!(env!("OUT_DIR"), "/test.lua")),
    };
    text
}

/// Returns the key by which tests set a partition's clock.
pub fn test_clock_key(tag: &str) -> String {
    format!("ff:test:{tag}:now")
}

/// Returns the names and values of limits. Lua has the same names in lower case.
macro_rules! shared_limits {
    ($($name:ident)*) => {
        [$((stringify!($name), limits::$name.to_string())),*]
    };
}

/// Returns the limits that Lua shares with the Rust rules, as a Lua table. Their values are written only in Rust.
fn constants(clock: LibraryClock) -> String {
    let mut text = "local limits = {\n".to_owned();
    let mut constant = |name: &str, value: String| {
        // Writing to a string cannot fail.
        writeln!(text, "{name} = {value},").ok();
    };
    constant("version", format!("'{VERSION}'"));
    constant("clock", format!("'{clock}'"));
    constant("forgets", (clock == LibraryClock::Server).to_string());
    constant("default_policy", format!("'{}'", serde_json::json!(Policy::default())));
    constant("jitter_scale", JITTER_SCALE.to_string());
    let shared = shared_limits! {
        PRIORITY_MAX CLAIM_AT_ONCE CLAIM_BYTES PUMP_BATCH LEASE_HISTORY LEASE_TTL_MS NAME_BYTES TEXT_BYTES
        SPAN_MAX_MS MAX_RETRIES_MAX BACKOFF_CEILING_MS BACKOFF_MULTIPLIER_MAX RETRYABLE_CATEGORIES
        REQUIREMENTS CAPABILITY_BYTES LANE_CLASSES LANE_WEIGHTS IDLE_TURNS WAITPOINTS PENDING_WAITPOINTS
        SUSPEND_DEDUP_MS CONDITION_SIGNALS RESUME_BYTES SIGNALS BUFFERED_SIGNALS FRAME_BYTES
        BEST_EFFORT_FRAMES SUMMARY_PATCHES PAGE STEPS STEPS_MAX STEP_RESULT_BYTES CLAIM_STEP_BYTES
        FORK_BYTES FEED RING_KIDS SECRET_BYTES TAGS RETENTION_MS CANCEL_GRACE_MS FORGET FOLLOWED_MS
        FOLLOWED_STEP_MS AGEING_PRIORITIES RECOUNT_MS RECOUNT KEY_QUEUE AMOUNT_MAX BUDGET_DIMENSIONS
        BUDGET_DRAWS_FORGOTTEN USAGE_REMEMBERED_MS QUOTA_STEP QUOTA_RESERVED_MS FLOW_NODES FLOW_EDGES
        NODE_EDGES FLOW_BYTES FLOW_STEP CYCLE_SEARCH INPUT_BYTES FLOW_EVENTS STAGING_MS FLOW_DEDUP_MS
    };
    for (name, value) in shared {
        constant(&name.to_ascii_lowercase(), value);
    }
    constant("queues_remembered", QUEUES_REMEMBERED.to_string());
    constant("names_remembered", NAMES_REMEMBERED.to_string());
    constant("policies_remembered", POLICIES_REMEMBERED.to_string());
    constant("awaited_remembered", AWAITED_REMEMBERED.to_string());
    constant("listed_at_once", LISTED_AT_ONCE.to_string());
    constant("listed_in_all", LISTED_IN_ALL.to_string());
    constant("fair_behind", Head::fair(0).behind.to_string());
    constant("turn_step", step_of(1).to_string());
    constant("step_numbers", u32::MAX.to_string());
    constant("inputs_at_once", INPUTS_AT_ONCE.to_string());
    constant("flow_read_at_once", FLOW_READ_AT_ONCE.to_string());
    constant("flow_events_at_once", FLOW_EVENTS_AT_ONCE.to_string());
    constant("cancel_policies", set(CancelPolicy::ALL.iter().map(|word| word.as_str())));
    constant("timeout_behaviors", set(TimeoutBehavior::ALL.iter().map(|word| word.as_str())));
    text + "}\n"
}

/// Returns a Lua table with each of the words as a key.
fn set<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let members: String = words.map(|word| format!("{word} = true, ")).collect();
    format!("{{ {members}}}")
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl std::str::FromStr for Version {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self { major: major.parse()?, minor: minor.parse()? })
    }
}

impl std::fmt::Display for LibraryClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Test => "test",
        })
    }
}
