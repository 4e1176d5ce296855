//! Children: members that a running handler adds to its own flow and waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ff_sdk::core::engine_error::Code;
use ff_sdk::core::lease::LeaseEnding;
use ff_sdk::{Context, Fault, Flow, FlowFabric, Growth, Job, Node, Signal, WaitError, Waitpoint, any_of};
use tokio::sync::mpsc;

use super::{World, in_time, retries, states};

/// Returns children of the kind `child`, one for each number.
fn each(numbers: impl IntoIterator<Item = u64>) -> Vec<(String, Node)> {
    numbers.into_iter().map(|n| (format!("n{n}"), Node::new("child", &n).policy(retries(0)))).collect()
}

async fn child(_: Context, n: u64) -> Result<u64, Fault> {
    if n == 13 { Err(Fault::permanent("unlucky", "13")) } else { Ok(10 * n) }
}

fn one(kind: &str) -> Flow {
    Flow::new("f").node("p", Node::empty(kind).policy(retries(2)))
}

pub(crate) async fn a_handler_waits_for_its_children_and_hears_how_they_ended(ff: FlowFabric) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let world = World::start(ff, move |worker| {
        // A single slot: the waiting parent must not keep the children from running.
        worker.concurrency(1).on("child", child).on("parent", move |ctx: Context| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move {
                let children = ctx.children("parts").add_all(each([3, 1, 2])).await?;
                assert!(children.all_succeeded() && children.get("n4").is_none());
                Ok::<_, Fault>((children.results::<u64>()?, children.json::<u64>("n1")?))
            }
        })
    });
    let after = one("parent").node("q", Node::empty("child2")).after("q", "p");
    let flow = world.submit(after).await;
    let end = in_time(world.ff.client().wait(&flow.execution("p").unwrap())).await.unwrap();
    assert_eq!(end.json::<(Vec<u64>, u64)>().unwrap(), (vec![30, 10, 20], 10));
    assert_eq!(calls.load(Ordering::SeqCst), 2, "once to add them, and once with their results");
    let attempts = world.ff.client().attempts(&flow.execution("p").unwrap()).await.unwrap();
    assert_eq!(attempts.attempts.len(), 1, "the same attempt goes on");
    assert_eq!(attempts.leases[0].ended, LeaseEnding::WaitingForChildren);
    let steps = world.ff.client().steps(&flow.execution("p").unwrap()).await.unwrap();
    let recorded: Vec<_> = steps.iter().map(|step| (step.step.kind.as_str(), step.step.name.as_str())).collect();
    assert_eq!(recorded, [("wait", "parts")]);
    let names: Vec<_> = states(&flow).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["p", "p.parts.n1", "p.parts.n2", "p.parts.n3", "q"]);
}

pub(crate) async fn children_that_fail_are_for_the_handler_to_judge(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker.on("child", child).on("parent", |ctx: Context| async move {
            let children = ctx.children("parts").add_all(each([13, 1])).await?;
            let error = children.results::<u64>().unwrap_err().to_string();
            assert!(error.contains("n13") && error.contains("failed: 13"), "{error}");
            let why = children.get("n13").and_then(|child| child.end.clone()).and_then(|end| end.0.failure);
            Ok::<_, Fault>((children.all_succeeded(), why.map(|why| why.message)))
        })
    });
    let (flow, end) = world.run(one("parent")).await;
    assert!(end.succeeded(), "the parent took care of it: {end:?}");
    let result: (bool, Option<String>) = flow.result("p").await.unwrap().json().unwrap();
    assert_eq!(result, (false, Some("13".into())));
}

pub(crate) async fn waits_for_children_and_signals_come_one_after_the_other(ff: FlowFabric) {
    let (tell, mut waitpoints) = mpsc::unbounded_channel::<Waitpoint>();
    let world = World::start(ff, move |worker| {
        worker.on("child", child).on("parent", move |ctx: Context| {
            let tell = tell.clone();
            async move {
                let first: u64 = ctx.children("first").add_all(each([1, 2])).await?.results::<u64>()?.iter().sum();
                let announce = move |waitpoint| {
                    tell.send(waitpoint).unwrap();
                    std::future::ready(Ok::<_, Fault>(()))
                };
                let signal: u64 = ctx.wait_for_signal("go").announce(announce).await?.json()?;
                let second: u64 = ctx.children("second").add_all(each([signal])).await?.results::<u64>()?.iter().sum();
                Ok::<_, Fault>((first, signal, second))
            }
        })
    });
    let flow = world.submit(one("parent")).await;
    let waitpoint = in_time(waitpoints.recv()).await.unwrap();
    world.ff.client().signal(Signal::new(&waitpoint, "go").json(&5)).await.unwrap();
    assert!(in_time(flow.wait()).await.unwrap().succeeded());
    assert_eq!(flow.result("p").await.unwrap().json::<(u64, u64, u64)>().unwrap(), (30, 5, 50));
}

pub(crate) async fn more_children_than_one_call_takes_are_one_wait(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker.concurrency(16).on("child", child).on("parent", |ctx: Context| async move {
            let children = ctx.children("many").add_all(each(100..550)).await?;
            Ok::<_, Fault>(children.results::<u64>()?.iter().sum::<u64>())
        })
    });
    let (flow, end) = world.run(one("parent")).await;
    assert!(end.succeeded() && end.counts().all() == 451, "{end:?}");
    let expected = (100..550_u64).map(|n| 10 * n).sum::<u64>();
    assert_eq!(flow.result("p").await.unwrap().json::<u64>().unwrap(), expected);
}

pub(crate) async fn an_any_of_join_needs_only_the_first_child(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .concurrency(4)
            .on("child", child)
            .on("slow", |ctx: Context| async move {
                ctx.cancelled().await;
                Ok::<_, Fault>(0_u64)
            })
            .on("parent", |ctx: Context| async move {
                let race = ctx.children("race").add("slow", Node::empty("slow")).add("quick", Node::new("child", &4));
                let children = race.join(any_of().cancel_remaining()).await?;
                let first = children.succeeded().first().map(|child| child.name.clone());
                Ok::<_, Fault>((first, children.json::<u64>("quick")?))
            })
    });
    let (flow, end) = world.run(one("parent")).await;
    assert!(end.succeeded());
    let result: (Option<String>, u64) = flow.result("p").await.unwrap().json().unwrap();
    assert_eq!(result, (Some("quick".into()), 40));
    let expected = [("p", "completed"), ("p.race.quick", "completed"), ("p.race.slow", "cancelled")];
    assert_eq!(states(&flow).await, expected.map(|(node, state)| (node.to_owned(), state)));
}

pub(crate) async fn a_retry_adds_no_child_twice(ff: FlowFabric) {
    let runs = Arc::new(AtomicUsize::new(0));
    let (of_child, of_parent) = (runs.clone(), Arc::new(AtomicUsize::new(0)));
    let world = World::start(ff, move |worker| {
        worker
            .on("child", move |ctx: Context, n: u64| {
                of_child.fetch_add(1, Ordering::SeqCst);
                child(ctx, n)
            })
            .on("parent", move |ctx: Context| {
                let run = of_parent.fetch_add(1, Ordering::SeqCst);
                async move {
                    let results = ctx.children("parts").add_all(each([1])).await?.results::<u64>()?;
                    if run < 2 { Err(Fault::retryable("unsteady", "once more")) } else { Ok(results) }
                }
            })
    });
    let (flow, end) = world.run(one("parent")).await;
    assert!(end.succeeded() && end.counts().all() == 2, "{end:?}");
    assert_eq!(flow.result("p").await.unwrap().json::<Vec<u64>>().unwrap(), [10]);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let attempts = world.ff.client().attempts(&flow.execution("p").unwrap()).await.unwrap();
    assert_eq!(attempts.attempts.len(), 2);
}

pub(crate) async fn children_have_children(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker.on("count", |ctx: Context, depth: u64| async move {
            if depth == 0 {
                return Ok::<_, Fault>(1_u64);
            }
            let halves = ["l", "r"].map(|half| (half, Node::new("count", &(depth - 1))));
            Ok(ctx.children("half").add_all(halves).await?.results::<u64>()?.iter().sum())
        })
    });
    let (flow, end) = world.run(Flow::new("tree").node("t", Node::new("count", &4))).await;
    assert!(end.succeeded() && end.counts().all() == 31, "{end:?}");
    assert_eq!(flow.result("t").await.unwrap().json::<u64>().unwrap(), 16);
}

pub(crate) async fn a_handler_grows_its_flow_without_waiting(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker
            .on("child", child)
            .on("split", |ctx: Context| async move {
                let mut growth = Growth::new();
                for n in 1..=3_u64 {
                    let name = format!("part-{n}");
                    growth = growth.node(&name, Node::new("child", &n)).after("merge", &name).passing(&name);
                }
                Ok::<_, Fault>(ctx.grow("parts", growth).await?.len())
            })
            .on("merge", |ctx: Context| async move {
                let mut sum = 0;
                for name in ctx.inputs().map(str::to_owned).collect::<Vec<_>>() {
                    sum += ctx.input::<u64>(&name).await?;
                }
                Ok::<_, Fault>(sum)
            })
    });
    let flow = Flow::new("f").node("split", Node::empty("split")).node("merge", Node::empty("merge"));
    let (flow, end) = world.run(flow.after("merge", "split")).await;
    assert!(end.succeeded(), "{end:?}");
    assert_eq!(flow.result("split").await.unwrap().json::<u64>().unwrap(), 3);
    assert_eq!(flow.result("merge").await.unwrap().json::<u64>().unwrap(), 60);
}

pub(crate) async fn a_handler_in_no_flow_has_no_children(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker.on("parent", |ctx: Context| async move {
            assert!(ctx.flow().is_none() && ctx.inputs().count() == 0);
            let grown = ctx.grow("g", Growth::new().node("a", Node::empty("k"))).await;
            assert_eq!(grown.unwrap_err().code(), Some(Code::ExecutionNotInFlow));
            ctx.children("parts").add_all(each([1])).await?;
            Ok::<_, Fault>(())
        })
    });
    let client = world.ff.client();
    let id = client.submit(Job::new("parent", &())).await.unwrap().execution_id;
    let failure = in_time(client.wait(&id)).await.unwrap().0.failure.unwrap();
    assert!(failure.permanent && failure.message.contains("in no flow"), "{failure:?}");
}

pub(crate) async fn children_set_up_wrongly_say_what_is_wrong(ff: FlowFabric) {
    let world = World::start(ff, |worker| {
        worker.on("child", child).on("parent", |ctx: Context| async move {
            let why = |error: WaitError| error.to_string();
            let mut errors = vec![
                why(ctx.children("a.b").add_all(each([1])).await.unwrap_err()),
                why(ctx.children("twice").add_all(each([1, 1])).await.unwrap_err()),
                why(ctx.children("bad").add("x", Node::empty("k k")).await.unwrap_err()),
                why(ctx.children("long").add(&"n".repeat(128), Node::empty("k")).await.unwrap_err()),
            ];
            assert!(ctx.children("none").await?.iter().next().is_none(), "no children are no wait");
            ctx.children("fine").add_all(each([1])).await?;
            errors.push(why(ctx.children("fine").add_all(each([2])).await.unwrap_err()));
            Ok::<_, Fault>(errors)
        })
    });
    let (flow, end) = world.run(one("parent")).await;
    assert!(end.succeeded(), "{end:?}");
    let errors: Vec<String> = flow.result("p").await.unwrap().json().unwrap();
    for (error, expected) in errors.iter().zip(["no dot", "nodes.n1", "nodes.p.bad.x.kind", "at most 128", "\"fine\""])
    {
        assert!(error.contains(expected), "{error} does not say {expected}");
    }
}
