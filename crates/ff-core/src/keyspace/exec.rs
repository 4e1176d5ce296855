//! The keys of one execution. All of them carry its partition's tag, so one atomic step can touch them all.

use super::keys;
use crate::partition::Partition;
use crate::types::{AttemptIndex, EdgeId, ExecutionId, SignalId, WaitpointId, WaitpointKey};

/// Builds the keys of one execution.
#[derive(Clone, Debug)]
pub struct ExecKeyContext {
    tag: String,
    eid: String,
}

impl ExecKeyContext {
    /// The keys of the execution `eid`, which lives on `partition`.
    pub fn new(partition: &Partition, eid: &ExecutionId) -> Self {
        Self { tag: partition.hash_tag(), eid: eid.to_string() }
    }

    /// The tag all these keys share, with its braces.
    pub fn hash_tag(&self) -> &str {
        &self.tag
    }

    /// The whole execution id, as it stands in the keys.
    pub fn execution_id_str(&self) -> &str {
        &self.eid
    }
}

keys! { ExecKeyContext { tag, eid }
    /// The record of the execution: the truth about it.
    core() => "ff:exec:{tag}:{eid}:core";
    /// The bytes it was submitted with.
    payload() => "ff:exec:{tag}:{eid}:payload";
    /// The bytes it finished with.
    result() => "ff:exec:{tag}:{eid}:result";
    /// Its policy, when it is not the default one.
    policy() => "ff:exec:{tag}:{eid}:policy";
    /// Its labels.
    tags() => "ff:exec:{tag}:{eid}:tags";

    /// Its current lease; absent when it has none.
    lease_current() => "ff:exec:{tag}:{eid}:lease:current";
    /// The events of its leases, newest last, bounded.
    lease_history() => "ff:exec:{tag}:{eid}:lease:history";
    /// A short permission to claim it, with its own expiry.
    claim_grant() => "ff:exec:{tag}:{eid}:claim_grant";

    /// Its attempts, by when they started.
    attempts() => "ff:exec:{tag}:{eid}:attempts";
    /// One attempt.
    attempt_hash(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}";
    /// The reported usage of one attempt, by dimension.
    attempt_usage(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}:usage";
    /// The policy one attempt started under, when it is not the record's.
    attempt_policy(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}:policy";

    /// The output of one attempt, frame by frame.
    stream(index: AttemptIndex) => "ff:stream:{tag}:{eid}:{index}";
    /// How much that output is, and when and why it closed.
    stream_meta(index: AttemptIndex) => "ff:stream:{tag}:{eid}:{index}:meta";
    /// The document that output is merged into, and its version.
    stream_summary(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}:summary";

    /// Its recorded steps, by number, without the results.
    steps() => "ff:exec:{tag}:{eid}:steps";
    /// The results of the steps, by number.
    step_results() => "ff:exec:{tag}:{eid}:step_results";
    /// The numbers of the steps, by kind, name and key.
    step_index() => "ff:exec:{tag}:{eid}:step_index";

    /// The suspension it is in.
    suspension_current() => "ff:exec:{tag}:{eid}:suspension:current";
    /// The satisfied members of a composite condition; gone when the suspension ends.
    suspension_satisfied_set() => "ff:exec:{tag}:{eid}:suspension:current:satisfied_set";
    /// Which node of a composite condition each waitpoint belongs to, fixed when it suspends.
    suspension_member_map() => "ff:exec:{tag}:{eid}:suspension:current:member_map";
    /// The signals counted by each part of its condition; gone when the suspension ends.
    suspension_tally() => "ff:exec:{tag}:{eid}:suspension:tally";
    /// The last suspension that is over: how it ended, and the signals its worker is handed.
    suspension_last() => "ff:exec:{tag}:{eid}:suspension:last";
    /// The first answer to a suspend under this idempotency key, given again word for word.
    suspend_dedup(idempotency_key: &str) => "ff:dedup:suspend:{tag}:{eid}:{idempotency_key}";

    /// Every waitpoint it ever had.
    waitpoints() => "ff:exec:{tag}:{eid}:waitpoints";
    /// One waitpoint.
    waitpoint(wp_id: &WaitpointId) => "ff:wp:{tag}:{wp_id}";
    /// The signals one waitpoint received, in order.
    waitpoint_signals(wp_id: &WaitpointId) => "ff:wp:{tag}:{wp_id}:signals";
    /// The open condition of one waitpoint.
    waitpoint_condition(wp_id: &WaitpointId) => "ff:wp:{tag}:{wp_id}:condition";

    /// One signal.
    signal(sig_id: &SignalId) => "ff:signal:{tag}:{sig_id}";
    /// The bytes of one signal.
    signal_payload(sig_id: &SignalId) => "ff:signal:{tag}:{sig_id}:payload";
    /// The signals it received, by time.
    exec_signals() => "ff:exec:{tag}:{eid}:signals";
    /// The first signal a waitpoint received under this idempotency key.
    signal_dedup(wp_id: &WaitpointId, idempotency_key: &str) => "ff:sigdedup:{tag}:{wp_id}:{idempotency_key}";

    /// How it stands with its upstreams: counts, flow, revision.
    deps_meta() => "ff:exec:{tag}:{eid}:deps:meta";
    /// One edge into it, as it sees it.
    dep_edge(edge_id: &EdgeId) => "ff:exec:{tag}:{eid}:dep:{edge_id}";
    /// The edges it still waits for.
    deps_unresolved() => "ff:exec:{tag}:{eid}:deps:unresolved";
    /// Every edge it ever had, so that retention finds them all.
    deps_all_edges() => "ff:exec:{tag}:{eid}:deps:all_edges";
    /// Results of upstreams it was given by name, in the order of names.
    deps_inputs() => "ff:exec:{tag}:{eid}:deps:inputs";

    /// Stands where a function takes a key and has no use for it; never read or written.
    noop() => "ff:noop:{tag}";
}

/// The execution submitted under this idempotency key. It shares the execution's partition: the key decides both.
pub fn idempotency_key(tag: &str, namespace: &str, idem_key: &str) -> String {
    format!("ff:idem:{tag}:{namespace}:{idem_key}")
}

/// The waitpoint outsiders know by this key.
pub fn waitpoint_key_resolution(tag: &str, wp_key: &WaitpointKey) -> String {
    format!("ff:wpkey:{tag}:{wp_key}")
}

/// As [`ExecKeyContext::noop`], for a caller that has no execution.
pub fn noop_key(tag: &str) -> String {
    format!("ff:noop:{tag}")
}
