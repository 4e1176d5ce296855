//! The maximum number of buffered signals, and a thousand lanes on every partition: no call occupies the server for
//! long. The limit is relative to a reference script on the same server in the same run, so that the speed of the
//! machine does not matter.

use std::time::Instant;

use ff_backend_valkey::{ValkeyBackend, ValkeyOptions};
use ff_core::backend::Perform;
use ff_core::contracts::{
    CreateWaitpointArgs, GrantedWaitpoint, ResumeArgs, SuspendArgs, SuspendOutcome, WaitpointBinding,
};
use ff_core::limits;
use ff_core::partition::PartitionConfig;
use ff_core::suspension::{Condition, Distinct, OperatorDecision, ResumePolicy, SignalSelection};
use ff_core::types::{ExecutionId, SignalName, WaitpointKey};
use futures_util::future::join_all;

use super::super::{all_pages, in_lane};
use crate::flow::slow::{count_from_zero, reference_us, slow_calls, time_in_functions, watched_server};
use crate::support::Process;
use crate::suspension::{key, signal};
use crate::{claim, connect, options, work};

/// Maximum duration of a call, as a multiple of the reference. The reference takes about a millisecond where a call may
/// take five.
const LONGEST: u64 = 5;

/// Number of pending waitpoints that share the signals.
const AHEAD: usize = 10;

/// Number of runs of each suspension. A busy machine interrupts some of them.
const TIMES: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_step_takes_long_however_many_signals_came_early() {
    let server = watched_server();
    let unit = reference_us(&server);
    let store = connect(&server.url()).await;
    let met = |keys: Vec<WaitpointKey>| {
        let n = u32::try_from(limits::BUFFERED_SIGNALS).unwrap();
        Condition::Count { n, of: Distinct::Signals, waitpoints: keys, name: None }
    };
    // Every part looks at every signal and counts none.
    let unmet = |keys: Vec<WaitpointKey>| {
        let name = Some(SignalName::parse("another").unwrap());
        let part = |waitpoint: &WaitpointKey| Condition::Signal { waitpoint: waitpoint.clone(), name: name.clone() };
        Condition::AllOf { members: keys.iter().map(part).collect() }
    };
    for (signals, is_met) in
        [(SignalSelection::Matched, true), (SignalSelection::Matched, false), (SignalSelection::All, false)]
    {
        for _ in 0..TIMES {
            let (id, waitpoints) = full_of_early_signals(&store).await;
            let keys = waitpoints.iter().map(|granted| granted.waitpoint_key.clone()).collect();
            let args = SuspendArgs {
                waitpoints: waitpoints.iter().map(pending).collect(),
                condition: if is_met { met(keys) } else { unmet(keys) },
                resume_policy: ResumePolicy { signals, ..ResumePolicy::default() },
                ..SuspendArgs::new(id.0, id.1, key("a"))
            };
            let outcome = store.suspend(args).await.unwrap().outcome;
            assert_eq!(matches!(outcome, SuspendOutcome::AlreadySatisfied { .. }), is_met);
            if !is_met {
                store.resume(ResumeArgs::new(id.0, OperatorDecision::Approve)).await.unwrap();
                assert_eq!(claim(&store, &id.0).await.task.execution_id, id.0);
            }
        }
        rarely_slow(&server, unit).await;
    }
}

/// Fails when a function was too slow more often than a busy machine explains.
async fn rarely_slow(server: &Process, unit: u64) {
    let slow = slow_calls(server, LONGEST * unit).await;
    for function in ["ff_suspend_execution", "ff_resume_execution", "ff_claim_execution", "ff_deliver_signal"] {
        let took: Vec<_> = slow.iter().filter(|(call, _)| call.starts_with(function)).map(|(_, took)| took).collect();
        assert!(took.len() <= TIMES / 2, "the reference took {unit} us, and {function} {took:?}");
    }
    assert_eq!(server.ask(&["SLOWLOG", "RESET"]), "+OK");
}

fn pending(granted: &GrantedWaitpoint) -> WaitpointBinding {
    WaitpointBinding::Pending { id: granted.waitpoint_id, key: granted.waitpoint_key.clone() }
}

/// Returns a held execution, and its waitpoints, which have the maximum number of buffered signals.
async fn full_of_early_signals(store: &ValkeyBackend) -> ((ExecutionId, ff_core::lease::Fence), Vec<GrantedWaitpoint>) {
    let execution_id = store.submit(work()).await.unwrap().execution_id;
    let task = claim(store, &execution_id).await.task;
    let (execution_id, fence) = (task.execution_id, task.fence);
    let mut waitpoints = Vec::new();
    for nth in 0..AHEAD {
        let key = key(&format!("w{nth}"));
        let args = CreateWaitpointArgs { execution_id, fence, key, expires_in_ms: 600_000 };
        waitpoints.push(store.create_waitpoint(args).await.unwrap());
    }
    for _ in 0..limits::BUFFERED_SIGNALS / AHEAD {
        let sent = waitpoints.iter().map(|granted| store.deliver(signal(execution_id, granted)));
        for sent in join_all(sent).await {
            sent.unwrap();
        }
    }
    let refused = store.deliver(signal(execution_id, &waitpoints[0])).await;
    assert!(refused.is_err(), "more are not kept");
    ((execution_id, fence), waitpoints)
}

/// Number of lanes in the listing.
const LANES: usize = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listing_a_thousand_lanes_leaves_the_server_to_others() {
    let server = watched_server();
    let unit = reference_us(&server);
    let partitions = Some(PartitionConfig::default());
    let store = ValkeyBackend::connect(&server.url(), ValkeyOptions { partitions, ..options() }).await.unwrap();
    for some in (0..LANES).collect::<Vec<_>>().chunks(100) {
        let submitted = some.iter().map(|nth| store.submit(in_lane(*nth)));
        assert!(join_all(submitted).await.iter().all(Result::is_ok));
    }
    for finished in [true, false] {
        count_from_zero(&server);
        let began = Instant::now();
        assert_eq!(all_pages(&store, finished).await.len(), LANES);
        let (took, busy) = (began.elapsed(), time_in_functions(&server));
        println!("finished {finished}: {took:?}, of which the server worked {busy} us; the reference takes {unit} us");
        // The limit is the time of a thousand references for these lanes on all partitions.
        assert!(busy < 1_000 * unit, "{LANES} lanes took the server {busy} us, the reference {unit} us");
    }
    let slow = slow_calls(&server, LONGEST * unit).await;
    let counts = slow.keys().filter(|call| call.starts_with("ff_count_lanes")).count();
    assert!(counts < 8, "{counts} calls of ff_count_lanes took too long");
}
