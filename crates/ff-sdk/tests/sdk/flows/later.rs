//! Members that a handler added are recognised even after the idempotency key of the addition is forgotten.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_sdk::core::backend::clock::ManualClock;
use ff_sdk::core::backend::entropy::SystemEntropy;
use ff_sdk::core::limits;
use ff_sdk::core::partition::PartitionConfig;
use ff_sdk::core::state::PublicState;
use ff_sdk::core::types::TimestampMs;
use ff_sdk::{Context, Fault, Flow, FlowFabric, Growth, Node};

use super::scenarios::in_time;

#[tokio::test]
async fn children_that_take_days_are_not_added_again() {
    let clock = Arc::new(ManualClock::at(TimestampMs(1_000_000)));
    let store = MemoryBackend::new(PartitionConfig::default(), clock.clone(), Arc::new(SystemEntropy));
    let ff = FlowFabric::over(Arc::new(store));
    let parent = ff.worker("parent").on("parent", |ctx: Context| async move {
        ctx.grow("side", Growth::new().node("side", Node::empty("nobody")).after("last", "side")).await?;
        let children =
            ctx.children("days").add("one", Node::new("child", &1)).add("two", Node::new("child", &2)).await?;
        Ok::<_, Fault>(children.results::<u64>()?.iter().sum::<u64>())
    });
    let _parent = tokio::spawn(parent.run_until(std::future::pending()));
    let flow = Flow::new("slow").node("p", Node::empty("parent")).node("last", Node::empty("nobody"));
    let flow = ff.client().submit_flow(flow.after("last", "p")).await.unwrap();
    let waits = async {
        while flow.members().await.unwrap()[0].public_state != PublicState::WaitingChildren {
            tokio::task::yield_now().await;
        }
    };
    in_time(waits).await;
    clock.advance(limits::FLOW_DEDUP_MS + 1);
    let child = ff.worker("child").on("child", |_: Context, n: u64| async move { Ok::<_, Fault>(n) });
    let _child = tokio::spawn(child.run_until(std::future::pending()));
    let end = in_time(ff.client().wait(&flow.execution("p").unwrap())).await.unwrap();
    assert_eq!(end.json::<u64>().unwrap(), 3);
    assert_eq!(flow.describe().await.unwrap().nodes, 5, "two of the flow, one on the side, two children");
}
