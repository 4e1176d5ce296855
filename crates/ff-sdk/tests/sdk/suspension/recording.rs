//! The end of a wait is recorded while the handler continues.

use std::sync::Arc;
use std::time::Duration;

use ff_sdk::core::backend::hint::{Hint, Hints};
use ff_sdk::core::backend::outage::OutageLog;
use ff_sdk::core::backend::{BoxedAnswer, EngineStore, Perform};
use ff_sdk::core::operation::query::{Query, QueryReply};
use ff_sdk::core::operation::{Operation, Reply};
use ff_sdk::core::partition::PartitionConfig;
use ff_sdk::core::state::PublicState;
use ff_sdk::core::types::ExecutionId;
use ff_sdk::{Client, Connect, Context, Fault, FlowFabric, Job, Signal, Waitpoint};
use futures_util::future::BoxFuture;
use tokio::sync::{Semaphore, mpsc};

use super::in_time;

/// A store that records a step only when there is a permit for it.
struct SlowSteps {
    store: Arc<dyn EngineStore>,
    permits: Arc<Semaphore>,
}

impl Perform for SlowSteps {
    fn partitions(&self) -> PartitionConfig {
        self.store.partitions()
    }

    fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        Box::pin(async move {
            if matches!(operation, Operation::RecordStep(_)) {
                self.permits.acquire().await.unwrap().forget();
            }
            self.store.perform(operation).await
        })
    }

    fn query(&self, query: Query) -> BoxedAnswer<'_, QueryReply> {
        self.store.query(query)
    }
}

impl EngineStore for SlowSteps {
    fn sweep_every(&self) -> Option<Duration> {
        self.store.sweep_every()
    }

    fn claims_at_once(&self) -> usize {
        self.store.claims_at_once()
    }

    fn hints(&self) -> Hints {
        self.store.hints()
    }

    fn announce(&self, hints: Vec<Hint>) -> BoxedAnswer<'_, ()> {
        self.store.announce(hints)
    }

    fn flush_hints(&self) -> BoxFuture<'_, ()> {
        self.store.flush_hints()
    }

    fn outages(&self) -> &OutageLog {
        self.store.outages()
    }
}

/// Connects to a store in memory that has no permits yet. Returns its permits too.
async fn slow_steps() -> (FlowFabric, Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(0));
    let front = permits.clone();
    let slow = move |store| Arc::new(SlowSteps { store, permits: front.clone() }) as Arc<dyn EngineStore>;
    (Connect::to("memory:").through(slow).connect().await.unwrap(), permits)
}

/// A worker whose handler waits for a signal, notifies the test and runs a step.
struct World {
    client: Client,
    permits: Arc<Semaphore>,
    resumed: mpsc::UnboundedReceiver<u64>,
    id: ExecutionId,
}

impl World {
    /// Submits an execution, waits until it is suspended, and sends it the signal.
    async fn start() -> Self {
        let (ff, permits) = slow_steps().await;
        let (resume, resumed) = mpsc::unbounded_channel();
        let mut waitpoints = work(&ff, resume);
        let client = ff.client();
        let id = client.submit(Job::new("k", &())).await.unwrap().execution_id;
        let waitpoint = in_time(waitpoints.recv()).await.unwrap();
        // A signal that arrives before the suspension would end the wait at once.
        while client.get(&id).await.unwrap().public_state != PublicState::Suspended {
            tokio::task::yield_now().await;
        }
        client.signal(Signal::new(&waitpoint, "paid").json(&7)).await.unwrap();
        Self { client, permits, resumed, id }
    }

    async fn steps(&self) -> Vec<String> {
        let steps = self.client.steps(&self.id).await.unwrap();
        steps.iter().map(|step| step.step.name.to_string()).collect()
    }
}

fn work(ff: &FlowFabric, resume: mpsc::UnboundedSender<u64>) -> mpsc::UnboundedReceiver<Waitpoint> {
    let (announce, waitpoints) = mpsc::unbounded_channel();
    let handler = move |ctx: Context| {
        let (announce, resume) = (announce.clone(), resume.clone());
        async move {
            let tell = move |waitpoint| {
                announce.send(waitpoint).unwrap();
                std::future::ready(Ok(()))
            };
            let paid = ctx.wait_for_signal("paid").announce(tell).await?.json::<u64>()?;
            resume.send(paid).unwrap();
            ctx.step("ship", || async move { Ok(paid + 1) }).await
        }
    };
    // Two slots: the next run starts while the lost run still waits for the store.
    tokio::spawn(ff.worker("w").concurrency(2).on("k", handler).run_until(std::future::pending()));
    waitpoints
}

#[tokio::test]
async fn a_handler_continues_while_the_end_of_its_wait_is_recorded() {
    let mut world = World::start().await;
    assert_eq!(in_time(world.resumed.recv()).await, Some(7));
    assert_eq!(world.steps().await, Vec::<String>::new());
    world.permits.add_permits(2);
    let end = in_time(world.client.wait(&world.id)).await.unwrap();
    assert_eq!(end.json::<u64>().unwrap(), 8);
    assert_eq!(world.steps().await, ["paid", "ship"], "in the order of the handler");
}

#[tokio::test]
async fn a_run_that_is_lost_before_the_end_of_its_wait_is_recorded_leaves_it_to_the_next() {
    let mut world = World::start().await;
    assert_eq!(in_time(world.resumed.recv()).await, Some(7));
    world.client.revoke(&world.id, None).await.unwrap();
    assert_eq!(in_time(world.resumed.recv()).await, Some(7), "the next run does not wait again");
    // Two permits for the next run, and one for the record of the lost run, which is refused.
    world.permits.add_permits(3);
    let end = in_time(world.client.wait(&world.id)).await.unwrap();
    assert_eq!(end.json::<u64>().unwrap(), 8);
    assert_eq!(world.steps().await, ["paid", "ship"]);
}

#[tokio::test]
async fn an_execution_does_not_end_before_the_end_of_its_wait_is_recorded() {
    let (ff, permits) = slow_steps().await;
    let handler = |ctx: Context| async move { Ok::<_, Fault>(ctx.sleep("nap", Duration::from_millis(1)).await?) };
    tokio::spawn(ff.worker("w").on("k", handler).run_until(std::future::pending()));
    let id = ff.client().submit(Job::new("k", &())).await.unwrap().execution_id;
    let end = ff.client();
    let mut ended = std::pin::pin!(end.wait(&id));
    assert!(tokio::time::timeout(Duration::from_millis(200), ended.as_mut()).await.is_err());
    permits.add_permits(1);
    in_time(ended).await.unwrap();
    assert_eq!(ff.client().steps(&id).await.unwrap().len(), 1);
}
