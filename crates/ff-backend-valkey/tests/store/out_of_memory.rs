//! A server without free memory: it takes no new work, and running work can end.

use ff_backend_valkey::ValkeyBackend;
use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{
    CancelArgs, CompleteArgs, DelayArgs, FailArgs, ProgressArgs, RenewArgs, ResumeArgs, RevokeArgs, Start, SubmitArgs,
    SuspendArgs, Task,
};
use ff_core::engine_error::{Code, EngineError};
use ff_core::execution::Failure;
use ff_core::payload::Payload;
use ff_core::suspension::OperatorDecision;
use ff_core::types::{Kind, WaitpointKey};

use crate::look::held;
use crate::support::{Flavour, Process};
use crate::{claim, connect, findings, work};

#[tokio::test]
async fn submissions_are_refused_running_work_ends_and_more_memory_is_all_it_takes() {
    let server = Process::start(Flavour::Valkey, &["--maxmemory-policy", "noeviction"]);
    let address = format!("127.0.0.1:{}", server.port);
    let store = connect(&server.url()).await;
    let mut running = Vec::new();
    for _ in 0..8 {
        let id = store.submit(work()).await.unwrap().execution_id;
        running.push(claim(&store, &id).await.task);
    }
    let due = store.submit(SubmitArgs { start: Start::After(1), ..work() }).await.unwrap().execution_id;

    let refused = fill(&server, &store).await;
    let before = held(&address).await;
    let error = store.submit(refused.clone()).await.unwrap_err();
    assert!(matches!(&error, EngineError::Unavailable(why) if why.contains("OOM")), "{error:?}");
    assert_eq!(held(&address).await, before, "a refused submission wrote something");
    let id = refused.execution_id(&crate::FEW_PARTITIONS);
    assert_eq!(store.describe(&id).await.unwrap_err().code(), Code::ExecutionNotFound);

    end(&store, running).await;
    let fired = store.pump(due.partition()).await.unwrap();
    assert!(fired.fired >= 1, "the pump runs");
    assert_eq!(store.describe(&due).await.unwrap().public_state.as_str(), "waiting");
    store.sweep(due.partition()).await.unwrap();
    assert_eq!(findings(&store).await, []);

    server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    assert!(!store.submit(refused).await.unwrap().duplicate);
    assert_eq!(findings(&store).await, []);
}

/// Submits until the server refuses a submission, and returns that one.
async fn fill(server: &Process, store: &ValkeyBackend) -> SubmitArgs {
    let memory = server.ask(&["INFO", "memory"]);
    let used = memory.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    let maxmemory = used.parse::<usize>().unwrap() + 4 * 1024 * 1024;
    server.ask(&["CONFIG", "SET", "maxmemory", &maxmemory.to_string()]);
    for _ in 0..1_000 {
        let args = SubmitArgs { payload: Payload::bytes(vec![7; 64 * 1024]), ..work() };
        if store.submit(args.clone()).await.is_err() {
            return args;
        }
    }
    panic!("the server was never full");
}

/// Does everything that can be done with running work.
async fn end(store: &ValkeyBackend, running: Vec<Task>) {
    let [renewed, with_progress, done, failed, put_off, cancelled, revoked, waiting] = &running[..] else {
        panic!("eight run")
    };
    let held = |task: &Task| (task.execution_id, task.fence);
    let (execution_id, fence) = held(renewed);
    store.renew(RenewArgs { execution_id, fence, lease_ttl_ms: None }).await.unwrap();
    let (execution_id, fence) = held(with_progress);
    let message = Some("half".into());
    store.progress(ProgressArgs { execution_id, fence, percent: Some(50), message }).await.unwrap();
    let (execution_id, fence) = held(done);
    let result = Some(Payload::bytes(vec![9; 1024]));
    store.complete(CompleteArgs { execution_id, fence, result: result.clone() }).await.unwrap();
    assert_eq!(store.result(&execution_id).await.unwrap().result, result);
    let (execution_id, fence) = held(failed);
    let failure = Failure { category: Kind::parse("network").unwrap(), message: "no".into(), permanent: true };
    store.fail(FailArgs { execution_id, fence, failure }).await.unwrap();
    let (execution_id, fence) = held(put_off);
    store.delay(DelayArgs { execution_id, fence, start: Start::After(60_000) }).await.unwrap();
    let (execution_id, _) = held(cancelled);
    store.cancel(CancelArgs { execution_id, reason: None, requested_by: None }).await.unwrap();
    let (execution_id, _) = held(revoked);
    store.revoke(RevokeArgs { execution_id, lease_id: None, reason: None }).await.unwrap();
    let (execution_id, fence) = held(waiting);
    store.suspend(SuspendArgs::new(execution_id, fence, WaitpointKey::parse("approval").unwrap())).await.unwrap();
    store.resume(ResumeArgs::new(execution_id, OperatorDecision::Approve)).await.unwrap();
}
