//! Conformance tests for workers.

pub(crate) mod listing;
pub(crate) mod registering;

use crate::prelude::*;

/// Returns the registration of a tenant's worker instance that expires after one second.
pub(crate) fn worker(name: &str, namespace: &str) -> RegisterWorkerArgs {
    RegisterWorkerArgs {
        namespace: Namespace::parse(namespace).unwrap(),
        ttl_ms: 1_000,
        ..RegisterWorkerArgs::new(WorkerInstanceId::parse(name).unwrap(), WorkerId::parse("resizer").unwrap())
    }
}

/// Returns the names of the workers of one namespace or of all, read one per page.
pub(crate) async fn names(world: &World, namespace: Option<&str>) -> Vec<String> {
    let namespace = namespace.map(|name| Namespace::parse(name).unwrap());
    let (mut names, mut after): (_, Option<WorkerInstanceId>) = (Vec::new(), None);
    loop {
        let args = ListWorkersArgs { namespace: namespace.clone(), after, limit: 1 };
        let page = world.backend.list_workers(args).await.unwrap();
        names.extend(page.workers.iter().map(|worker| worker.worker_instance_id.to_string()));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}
