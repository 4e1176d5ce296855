//! The text of the library, as a server loads it.

use std::fmt::Write;

use ff_core::entropy::JITTER_SCALE;
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
    constant("priority_max", limits::PRIORITY_MAX.to_string());
    constant("claim_at_once", limits::CLAIM_AT_ONCE.to_string());
    constant("claim_bytes", limits::CLAIM_BYTES.to_string());
    constant("pump_batch", limits::PUMP_BATCH.to_string());
    constant("lease_history", limits::LEASE_HISTORY.to_string());
    constant("lease_ttl_ms", limits::LEASE_TTL_MS.to_string());
    constant("queues_remembered", QUEUES_REMEMBERED.to_string());
    constant("names_remembered", NAMES_REMEMBERED.to_string());
    constant("policies_remembered", POLICIES_REMEMBERED.to_string());
    constant("awaited_remembered", AWAITED_REMEMBERED.to_string());
    constant("listed_at_once", LISTED_AT_ONCE.to_string());
    constant("listed_in_all", LISTED_IN_ALL.to_string());
    constant("name_bytes", limits::NAME_BYTES.to_string());
    constant("text_bytes", limits::TEXT_BYTES.to_string());
    constant("span_max_ms", limits::SPAN_MAX_MS.to_string());
    constant("max_retries_max", limits::MAX_RETRIES_MAX.to_string());
    constant("backoff_ceiling_ms", limits::BACKOFF_CEILING_MS.to_string());
    constant("backoff_multiplier_max", limits::BACKOFF_MULTIPLIER_MAX.to_string());
    constant("retryable_categories", limits::RETRYABLE_CATEGORIES.to_string());
    constant("requirements", limits::REQUIREMENTS.to_string());
    constant("capability_bytes", limits::CAPABILITY_BYTES.to_string());
    constant("lane_classes", limits::LANE_CLASSES.to_string());
    constant("lane_weights", limits::LANE_WEIGHTS.to_string());
    constant("fair_behind", Head::fair(0).behind.to_string());
    constant("idle_turns", limits::IDLE_TURNS.to_string());
    constant("turn_step", step_of(1).to_string());
    constant("waitpoints", limits::WAITPOINTS.to_string());
    constant("pending_waitpoints", limits::PENDING_WAITPOINTS.to_string());
    constant("suspend_dedup_ms", limits::SUSPEND_DEDUP_MS.to_string());
    constant("condition_signals", limits::CONDITION_SIGNALS.to_string());
    constant("resume_bytes", limits::RESUME_BYTES.to_string());
    constant("signals", limits::SIGNALS.to_string());
    constant("buffered_signals", limits::BUFFERED_SIGNALS.to_string());
    constant("frame_bytes", limits::FRAME_BYTES.to_string());
    constant("best_effort_frames", limits::BEST_EFFORT_FRAMES.to_string());
    constant("summary_patches", limits::SUMMARY_PATCHES.to_string());
    constant("page", limits::PAGE.to_string());
    constant("steps", limits::STEPS.to_string());
    constant("steps_max", limits::STEPS_MAX.to_string());
    constant("step_numbers", u32::MAX.to_string());
    constant("step_result_bytes", limits::STEP_RESULT_BYTES.to_string());
    constant("claim_step_bytes", limits::CLAIM_STEP_BYTES.to_string());
    constant("fork_bytes", limits::FORK_BYTES.to_string());
    constant("feed", limits::FEED.to_string());
    constant("ring_kids", limits::RING_KIDS.to_string());
    constant("secret_bytes", limits::SECRET_BYTES.to_string());
    constant("tags", limits::TAGS.to_string());
    constant("retention_ms", limits::RETENTION_MS.to_string());
    constant("cancel_grace_ms", limits::CANCEL_GRACE_MS.to_string());
    constant("forget", limits::FORGET.to_string());
    constant("followed_ms", limits::FOLLOWED_MS.to_string());
    constant("followed_step_ms", limits::FOLLOWED_STEP_MS.to_string());
    constant("ageing_priorities", limits::AGEING_PRIORITIES.to_string());
    constant("recount_ms", limits::RECOUNT_MS.to_string());
    constant("recount", limits::RECOUNT.to_string());
    constant("key_queue", limits::KEY_QUEUE.to_string());
    constant("amount_max", limits::AMOUNT_MAX.to_string());
    constant("budget_dimensions", limits::BUDGET_DIMENSIONS.to_string());
    constant("budget_draws_forgotten", limits::BUDGET_DRAWS_FORGOTTEN.to_string());
    constant("usage_remembered_ms", limits::USAGE_REMEMBERED_MS.to_string());
    constant("quota_step", limits::QUOTA_STEP.to_string());
    constant("quota_reserved_ms", limits::QUOTA_RESERVED_MS.to_string());
    constant("flow_nodes", limits::FLOW_NODES.to_string());
    constant("flow_edges", limits::FLOW_EDGES.to_string());
    constant("node_edges", limits::NODE_EDGES.to_string());
    constant("flow_bytes", limits::FLOW_BYTES.to_string());
    constant("flow_step", limits::FLOW_STEP.to_string());
    constant("cycle_search", limits::CYCLE_SEARCH.to_string());
    constant("input_bytes", limits::INPUT_BYTES.to_string());
    constant("flow_events", limits::FLOW_EVENTS.to_string());
    constant("staging_ms", limits::STAGING_MS.to_string());
    constant("flow_dedup_ms", limits::FLOW_DEDUP_MS.to_string());
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
