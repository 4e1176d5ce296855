//! What is promised about workers.

pub(crate) mod listing;
pub(crate) mod registering;

/// What is promised here, by theme.
#[doc(hidden)]
#[macro_export]
macro_rules! worker_promises {
    ($for:ident => $($make:tt)+) => { $($make)+! { $for:
        worker {
            listing {
                workers_are_listed_by_name_page_by_page,
                a_list_of_workers_is_of_one_tenant_or_of_all,
                a_worker_is_listed_as_it_said_it_is,
                a_page_of_workers_has_at_most_a_thousand,
            }
            registering {
                a_worker_that_is_heard_of_stays,
                a_worker_that_was_not_heard_of_is_gone,
                one_that_is_gone_is_told_so_and_may_come_back,
                registering_again_renews_what_is_known,
                the_name_of_a_worker_that_is_there_cannot_be_taken,
                another_tenants_worker_is_not_there,
                leaving_twice_is_one_leave,
                only_those_gone_are_swept,
                a_registration_out_of_range_is_refused_by_its_field,
                a_namespace_has_ten_thousand_workers_at_once_and_no_more,
                nobody_has_to_register_in_order_to_work,
            }
        }
    } };
}

use ff_core::contracts::{ListWorkersArgs, RegisterWorkerArgs};
use ff_core::types::{Namespace, WorkerId, WorkerInstanceId};

use crate::World;

/// A worker instance of a tenant, which counts as gone after a second.
pub(crate) fn worker(name: &str, namespace: &str) -> RegisterWorkerArgs {
    RegisterWorkerArgs {
        namespace: Namespace::parse(namespace).unwrap(),
        ttl_ms: 1_000,
        ..RegisterWorkerArgs::new(WorkerInstanceId::parse(name).unwrap(), WorkerId::parse("resizer").unwrap())
    }
}

/// The names of the workers of a tenant or of everybody, one to a page.
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
