//! The keys of one execution. All of them carry the hash tag of its partition, so that one function call can change
//! them atomically.

use super::{key_functions, keys};
use crate::types::{AttemptIndex, EdgeId, ExecutionId, SignalId, WaitpointId, WaitpointKey};

keys! {
    /// A builder of the keys of one execution.
    ExecKeyContext { tag, eid: ExecutionId }

    /// The authoritative record of the execution.
    core() => "ff:exec:{tag}:{eid}:core";
    /// The submitted payload.
    payload() => "ff:exec:{tag}:{eid}:payload";
    /// The result.
    result() => "ff:exec:{tag}:{eid}:result";
    /// Its policy, when it is not the default one.
    policy() => "ff:exec:{tag}:{eid}:policy";
    /// Its tags.
    tags() => "ff:exec:{tag}:{eid}:tags";

    /// Its current lease; absent when it has none.
    lease_current() => "ff:exec:{tag}:{eid}:lease:current";
    /// The events of its leases, newest last, bounded.
    lease_history() => "ff:exec:{tag}:{eid}:lease:history";
    /// The grant that assigns it to one worker instance, with its expiry.
    claim_grant() => "ff:exec:{tag}:{eid}:claim_grant";

    /// Its attempts, by start time.
    attempts() => "ff:exec:{tag}:{eid}:attempts";
    /// One attempt.
    attempt_hash(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}";
    /// The reported usage of one attempt, by dimension.
    attempt_usage(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}:usage";
    /// The policy under which one attempt started, if it differs from the record's.
    attempt_policy(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}:policy";

    /// The output of one attempt, frame by frame.
    stream(index: AttemptIndex) => "ff:stream:{tag}:{eid}:{index}";
    /// The size of that output, and the time and reason of its end.
    stream_meta(index: AttemptIndex) => "ff:stream:{tag}:{eid}:{index}:meta";
    /// The document that output is merged into, and its version.
    stream_summary(index: AttemptIndex) => "ff:attempt:{tag}:{eid}:{index}:summary";

    /// Its recorded steps, by number, without the results.
    steps() => "ff:exec:{tag}:{eid}:steps";
    /// The results of the steps, by number.
    step_results() => "ff:exec:{tag}:{eid}:step_results";
    /// The numbers of the steps, by kind, name and key.
    step_index() => "ff:exec:{tag}:{eid}:step_index";

    /// The current suspension.
    suspension_current() => "ff:exec:{tag}:{eid}:suspension:current";
    /// The satisfied members of a composite condition; gone when the suspension ends.
    suspension_satisfied_set() => "ff:exec:{tag}:{eid}:suspension:current:satisfied_set";
    /// The node of a composite condition to which each waitpoint belongs, fixed when the execution suspends.
    suspension_member_map() => "ff:exec:{tag}:{eid}:suspension:current:member_map";
    /// The signals counted by each part of its condition; gone when the suspension ends.
    suspension_tally() => "ff:exec:{tag}:{eid}:suspension:tally";
    /// The last suspension that has ended: its outcome, and the signals for the worker.
    suspension_last() => "ff:exec:{tag}:{eid}:suspension:last";
    /// The first answer to a suspend call under this idempotency key, which repeated calls return unchanged.
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

    /// The state of its dependencies: flow, graph revision, and counts of upstreams.
    deps_meta() => "ff:exec:{tag}:{eid}:deps:meta";
    /// The state of one edge into it.
    dep_edge(edge_id: &EdgeId) => "ff:exec:{tag}:{eid}:dep:{edge_id}";
    /// The edges it still waits for.
    deps_unresolved() => "ff:exec:{tag}:{eid}:deps:unresolved";
    /// Every edge it ever had, so that retention finds them all.
    deps_all_edges() => "ff:exec:{tag}:{eid}:deps:all_edges";
    /// The results that upstreams passed on as named inputs, in the order of the names.
    deps_inputs() => "ff:exec:{tag}:{eid}:deps:inputs";

    /// A placeholder for a key argument that a function does not need; never read or written.
    noop() => "ff:noop:{tag}";
}

impl ExecKeyContext {
    /// Returns the whole execution id, as used in the keys.
    pub fn execution_id_str(&self) -> &str {
        &self.eid
    }
}

key_functions! {
    /// Returns the key of the execution submitted under this idempotency key. Both are on the same partition, which the
    /// idempotency key determines.
    idempotency_key(tag: &str, namespace: &str, idem_key: &str) => "ff:idem:{tag}:{namespace}:{idem_key}";
    /// Returns the key of the waitpoint with this waitpoint key. It is reserved and not written.
    waitpoint_key_resolution(tag: &str, wp_key: &WaitpointKey) => "ff:wpkey:{tag}:{wp_key}";
    /// Returns the same key as [`ExecKeyContext::noop`], for a caller without an execution.
    noop_key(tag: &str) => "ff:noop:{tag}";
}
