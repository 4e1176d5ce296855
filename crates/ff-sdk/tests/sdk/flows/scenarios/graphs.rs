//! Graphs: order, joins and passed results.

use ff_sdk::core::engine_error::Code;
use ff_sdk::core::execution::Outcome;
use ff_sdk::core::flow::FlowState;
use ff_sdk::core::payload::Payload;
use ff_sdk::core::state::PublicState;
use ff_sdk::{Context, Fault, Flow, FlowFabric, Node, Reply, any_of, quorum};

use super::{World, in_time, retries, states};

pub(crate) async fn a_diamond_runs_in_order_and_passes_its_results(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .on("two", |_: Context| async { Ok::<_, Fault>(2_u64) })
            .on("plus", |ctx: Context, n: u64| async move { Ok::<_, Fault>(ctx.input::<u64>("n").await? + n) })
            .on("both", |ctx: Context| async move {
                let names: Vec<_> = ctx.inputs().map(str::to_owned).collect();
                let node = ctx.flow().map(|flow| flow.node.to_string());
                Ok::<_, Fault>((names, ctx.input::<u64>("left").await? * ctx.input::<u64>("right").await?, node))
            })
    });
    let diamond = Flow::new("diamond")
        .node("bottom", Node::empty("both"))
        .node("left", Node::new("plus", &1))
        .node("right", Node::new("plus", &3))
        .node("top", Node::empty("two"))
        .after("left", "top")
        .passing("n")
        .after("right", "top")
        .passing("n")
        .after("bottom", "left")
        .passing("left")
        .after("bottom", "right")
        .passing("right");
    let (flow, end) = world.run(diamond).await;
    assert!(end.succeeded() && end.counts().of(PublicState::Completed) == 4, "{end:?}");
    let bottom: (Vec<String>, u64, Option<String>) = flow.result("bottom").await.unwrap().json().unwrap();
    assert_eq!(bottom, (vec!["left".into(), "right".into()], 15, Some("bottom".into())));
    let members = flow.members().await.unwrap();
    let at = |node: &str| members.iter().find(|member| member.node.as_str() == node).unwrap();
    assert!(at("top").finished_at <= at("left").started_at && at("right").finished_at <= at("bottom").started_at);
}

pub(crate) async fn a_result_takes_the_place_of_the_payload_byte_for_byte(ff: FlowFabric) {
    let bytes: Vec<u8> = (0..=255).collect();
    let made = bytes.clone();
    let world = World::start(ff, move |worker| {
        worker
            .on("make", move |_: Context| {
                let made = made.clone();
                async move { Ok::<_, Fault>(Reply::payload(Payload::bytes(made))) }
            })
            .on("keep", |ctx: Context| async move { Ok::<_, Fault>(Reply::payload(ctx.payload().clone())) })
    });
    let flow = Flow::new("copy").node("a", Node::empty("make")).node("b", Node::new("keep", &"replaced"));
    let (flow, end) = world.run(flow.after("b", "a").passing_payload()).await;
    assert!(end.succeeded());
    assert_eq!(flow.result("b").await.unwrap().payload().unwrap(), Payload::bytes(bytes));
}

pub(crate) async fn inputs_too_large_to_come_along_are_read(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .on(
                "large",
                |_: Context, n: u8| async move { Ok::<_, Fault>(Reply::payload(Payload::bytes(vec![n; 1 << 20]))) },
            )
            .on("sum", |ctx: Context| async move {
                let names: Vec<_> = ctx.inputs().map(str::to_owned).collect();
                let mut sum = 0;
                for name in names {
                    let part = ctx.input_payload(&name).await?;
                    sum += part.bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
                }
                Ok::<_, Fault>(sum)
            })
    });
    let mut flow = Flow::new("large").node("sum", Node::empty("sum"));
    for n in 1..=6_u8 {
        let name = format!("n{n}");
        flow = flow.node(&name, Node::new("large", &n)).after("sum", &name).passing(&name);
    }
    let (flow, end) = world.run(flow).await;
    assert!(end.succeeded());
    assert_eq!(flow.result("sum").await.unwrap().json::<u64>().unwrap(), 21 << 20);
}

pub(crate) async fn the_first_of_two_upstreams_suffices_and_the_other_is_cancelled(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .concurrency(2)
            .on("quick", |_: Context| async { Ok::<_, Fault>("quick") })
            .on("slow", |ctx: Context| async move {
                ctx.cancelled().await;
                Ok::<_, Fault>("slow")
            })
            .on("tell", |ctx: Context| async move {
                let slow = ctx.input_if_any::<String>("slow").await?;
                Ok::<_, Fault>((ctx.input::<String>("quick").await?, slow))
            })
    });
    let race = Flow::new("race")
        .node("slow", Node::empty("slow"))
        .node("quick", Node::empty("quick"))
        .node("tell", Node::empty("tell"))
        .after("tell", "slow")
        .passing("slow")
        .after("tell", "quick")
        .passing("quick")
        .join(any_of().cancel_remaining());
    let (flow, end) = world.run(race).await;
    assert!(end.succeeded(), "{end:?}");
    let result: (String, Option<String>) = flow.result("tell").await.unwrap().json().unwrap();
    assert_eq!(result, ("quick".into(), None));
    assert_eq!(flow.result("slow").await.unwrap().0.outcome, Outcome::Cancelled);
}

pub(crate) async fn a_failure_skips_what_can_no_longer_run(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .on("ok", |_: Context| async { Ok::<_, Fault>(()) })
            .on("bad", |_: Context| async { Err::<(), _>(Fault::permanent("bad", "no luck")) })
    });
    let flow = Flow::new("f")
        .node("a", Node::empty("bad"))
        .node("b", Node::empty("ok"))
        .node("c", Node::empty("ok"))
        .node("d", Node::empty("ok"))
        .node("e", Node::empty("ok"))
        .after_each("c", ["a", "b"])
        .after("d", "c")
        .after_each("e", ["a", "b"])
        .join(quorum(1));
    let (flow, end) = world.run(flow).await;
    assert_eq!(end.state(), FlowState::Failed);
    let expected = [("a", "failed"), ("b", "completed"), ("c", "skipped"), ("d", "skipped"), ("e", "completed")];
    assert_eq!(states(&flow).await, expected.map(|(node, state)| (node.to_owned(), state)));
    assert_eq!(end.counts().of(PublicState::Skipped), 2);
}

pub(crate) async fn an_input_that_is_not_there_says_which_are(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .on("text", |_: Context| async { Ok::<_, Fault>("text") })
            .on("wants", |ctx: Context, name: String| async move { ctx.input::<u64>(&name).await })
    });
    let flow = Flow::new("f")
        .node("a", Node::empty("text"))
        .node("other", Node::new("wants", &"rwos"))
        .node("type", Node::new("wants", &"rows"))
        .after("other", "a")
        .passing("rows")
        .after("type", "a")
        .passing("rows");
    let (flow, _) = world.run(flow).await;
    let failure = |end: ff_sdk::End| end.0.failure.unwrap();
    let other = failure(flow.result("other").await.unwrap());
    assert_eq!((other.category.as_str(), other.permanent), ("missing_input", true));
    assert!(other.message.contains("rwos") && other.message.contains("there are rows"), "{}", other.message);
    assert_eq!(failure(flow.result("type").await.unwrap()).category.as_str(), "invalid_input");
}

pub(crate) async fn a_flow_in_a_file_runs(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .lane("sums")
            .on("give", |_: Context, n: u64| async move { Ok::<_, Fault>(n) })
            .on("add", |ctx: Context| async move {
                Ok::<_, Fault>(ctx.input::<u64>("x").await? + ctx.input::<u64>("y").await?)
            })
    });
    let text = "
kind: sum
tags: {team: numbers}
nodes:
  x: {kind: give, lane: sums, payload: 4}
  y: {kind: give, lane: sums, payload: 5}
  sum:
    kind: add
    lane: sums
    after:
      - {node: x, passes: {input: x}}
      - {node: y, passes: {input: y}}
";
    let (flow, end) = world.run(Flow::from_yaml(text).unwrap()).await;
    assert!(end.succeeded());
    assert_eq!(flow.result("sum").await.unwrap().json::<u64>().unwrap(), 9);
}

pub(crate) async fn the_same_flow_again_is_the_same_flow(ff: FlowFabric) {
    let client = ff.client();
    let keyed = |payload: u64| Flow::new("f").idempotency_key("nightly").node("a", Node::new("k", &payload));
    let first = client.submit_flow(keyed(1)).await.unwrap();
    assert_eq!(client.submit_flow(keyed(1)).await.unwrap().id(), first.id());
    let other = client.submit_flow(keyed(2)).await.err().unwrap();
    assert_eq!(other.code(), Some(Code::IdempotencyConflict));
    let nobody = client.flow(&ff_sdk::core::types::FlowId::new());
    assert_eq!(nobody.describe().await.unwrap_err().code(), Some(Code::FlowNotFound));
    assert_eq!(in_time(nobody.wait()).await.unwrap_err().code(), Some(Code::FlowNotFound));
    let changed = || Node::new("k", &1).policy(retries(0));
    let again = client.submit_flow(Flow::new("f").idempotency_key("nightly").node("a", changed())).await;
    assert_eq!(again.err().unwrap().code(), Some(Code::IdempotencyConflict));
    let by_id = client.submit_flow(Flow::new("f").id(first.id()).node("a", changed())).await;
    assert_eq!(by_id.err().unwrap().code(), Some(Code::InvalidInput), "who names it shows its key");
    let acme = |flow: Flow| flow.namespace("acme").node("a", Node::new("k", &1));
    let before = client.submit_flow(acme(Flow::new("f").idempotency_key("nightly"))).await.unwrap();
    let after = client.submit_flow(acme(Flow::new("f")).idempotency_key("nightly")).await.unwrap();
    assert_eq!(before.id(), after.id(), "in whichever order the namespace and the key are given");
}
