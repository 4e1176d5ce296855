//! The directory of the capabilities of worker instances.

use ff_core::backend::Perform;
use ff_core::contracts::{LeaveArgs, RegisterWorkerArgs};
use ff_core::types::{Capability, Namespace, WorkerId, WorkerInstanceId};

use crate::start;

fn worker(name: &str, words: &[&str]) -> RegisterWorkerArgs {
    let instance = WorkerInstanceId::parse(name).unwrap();
    RegisterWorkerArgs {
        capabilities: words.iter().map(|word| Capability::parse(word).unwrap()).collect(),
        ..RegisterWorkerArgs::new(instance, WorkerId::parse("w").unwrap())
    }
}

#[tokio::test]
async fn an_instance_is_listed_under_what_it_offers_and_under_nothing_else() {
    let (server, store) = start().await;
    let members = |key: &str| {
        let answer = server.ask(&["SMEMBERS", key]);
        let is_member = |line: &&str| !line.is_empty() && !line.starts_with(['*', '$']);
        let mut members: Vec<_> = answer.lines().filter(is_member).map(str::to_owned).collect();
        members.sort_unstable();
        members
    };
    store.register_worker(worker("a", &["region=eu", "gpu"])).await.unwrap();
    store.register_worker(worker("b", &["gpu"])).await.unwrap();
    assert_eq!(members("ff:idx:workers:cap:gpu:"), ["a", "b"]);
    assert_eq!(members("ff:idx:workers:cap:region:eu"), ["a"]);
    assert!(server.ask(&["GET", "ff:worker:a:caps"]).lines().any(|line| line == "gpu,region=eu"));

    store.register_worker(worker("a", &["region=us"])).await.unwrap();
    assert_eq!(members("ff:idx:workers:cap:gpu:"), ["b"]);
    assert_eq!((members("ff:idx:workers:cap:region:eu").len(), members("ff:idx:workers:cap:region:us").len()), (0, 1));

    let worker_instance_id = WorkerInstanceId::parse("b").unwrap();
    store.leave(LeaveArgs { namespace: Namespace::default_name(), worker_instance_id }).await.unwrap();
    store.register_worker(worker("a", &[])).await.unwrap();
    assert_eq!(server.ask(&["KEYS", "ff:idx:workers:cap:*"]).trim(), "*0");
    assert_eq!(members("ff:idx:workers"), ["a"]);
}
