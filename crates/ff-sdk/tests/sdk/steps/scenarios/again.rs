//! Replays and forks.

use std::time::Duration;

use ff_sdk::core::engine_error::Code;
use ff_sdk::core::execution::Outcome;
use ff_sdk::{Client, Context, Fault, FlowFabric, Signal, WaitError, Waitpoint};

use super::{World, did, step};

pub(crate) async fn a_replay_of_a_success_does_everything_again(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move { step(&ctx, "a").await });
    let id = world.submit(0).await;
    world.end(&id).await;
    world.client().replay(&id, None).await.unwrap();
    world.end(&id).await;
    assert_eq!(world.ledger.all(), ["a", "a"]);
    assert_eq!(world.steps(&id).await, ["step a"]);
}

pub(crate) async fn a_replay_of_a_failure_repeats_nothing_that_succeeded(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        step(&ctx, "a").await?;
        let is_replay = ctx.task().attempt_index.0 > 0;
        let action = || async { if is_replay { did(&ctx, "b") } else { Err(Fault::permanent("never", "no")) } };
        ctx.step("b", action).await
    });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Failed);
    world.client().replay(&id, None).await.unwrap();
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "B");
    assert_eq!(world.ledger.all(), ["a", "b"]);
    assert_eq!(world.steps(&id).await, ["step a", "step b"]);
}

pub(crate) async fn a_replay_asks_again_when_nothing_was_heard(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        did(&ctx, "run")?;
        ctx.wait_for_signal("paid").timeout(Duration::from_millis(10)).await?;
        Ok::<_, Fault>(())
    });
    let id = world.submit(0).await;
    for replays in 0..2 {
        assert_eq!(world.failure(&id).await.0, "wait_timed_out");
        assert_eq!(world.ledger.all().len(), 2 * (replays + 1), "once to ask, and once to hear that nothing came");
        assert_eq!(world.steps(&id).await, ["wait paid failed: wait_timed_out"]);
        world.client().replay(&id, None).await.unwrap();
    }
    world.end(&id).await;
}

pub(crate) async fn a_replay_begins_at_a_step(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        step(&ctx, "a").await?;
        for nth in 0..2 {
            ctx.step("b", || async { did(&ctx, &format!("b {nth}")) }).key(nth).await?;
        }
        step(&ctx, "c").await
    });
    let id = world.submit(0).await;
    world.end(&id).await;
    world.client().replay(&id, None).from_step("c").await.unwrap();
    world.end(&id).await;
    assert_eq!(world.ledger.all()[4..], ["c"]);
    world.client().replay(&id, Some("again")).from_keyed_step("b", "1").await.unwrap();
    world.end(&id).await;
    assert_eq!(world.ledger.all()[5..], ["b 1", "c"]);
    let error = world.client().replay(&id, None).from_step("b").await.unwrap_err();
    assert_eq!(error.code(), Some(Code::InvalidInput), "there is none without a key");
    let error = world.client().replay(&id, None).from_step("").await.unwrap_err();
    assert!(error.to_string().contains("from_step.name"), "{error}");
    assert_eq!(world.client().get(&id).await.unwrap().replays, 2);
}

pub(crate) async fn a_fork_begins_with_the_steps_before_one(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let a = step(&ctx, "a").await?;
        let own = ctx.clone();
        let wait = ctx.wait_for_signal("paid").announce(move |waitpoint: Waitpoint| async move {
            did(&own, "ask")?;
            let client = own.state::<Client>()?;
            Ok(client.signal(Signal::new(&waitpoint, "paid").json(&17)).await.map(drop)?)
        });
        let paid: u64 = wait.await.map_err(|error: WaitError| Fault::from(error))?.json()?;
        let b = step(&ctx, "b").await?;
        Ok::<_, Fault>((a, paid, b))
    });
    let id = world.submit(0).await;
    let end = world.end(&id).await.json::<(String, u64, String)>().unwrap();
    let fork = world.client().fork(&id).before("b").await.unwrap();
    assert_eq!((fork.steps, fork.duplicate), (2, false));
    assert_eq!(world.end(&fork.execution_id).await.json::<(String, u64, String)>().unwrap(), end);
    assert_eq!(world.ledger.all(), ["a", "ask", "b", "b"]);
    assert_eq!(world.steps(&fork.execution_id).await, world.steps(&id).await);

    let whole = world.client().fork(&id).await.unwrap();
    assert_eq!(whole.steps, 3);
    world.end(&whole.execution_id).await;
    assert_eq!(world.ledger.all().len(), 4, "all of its steps were there");
    let error = world.client().fork(&id).before("z").await.unwrap_err();
    assert_eq!(error.code(), Some(Code::InvalidInput));
}
