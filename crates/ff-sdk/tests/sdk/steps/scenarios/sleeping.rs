//! Waits as steps.

use std::time::Duration;

use ff_sdk::core::contracts::{NextArgs, SuspendArgs, WaitpointBinding};
use ff_sdk::core::execution::Outcome;
use ff_sdk::core::lease::Holder;
use ff_sdk::core::limits;
use ff_sdk::core::state::PublicState;
use ff_sdk::core::suspension::{Condition, ResumePolicy, SuspendReason, SuspendedBy, TimeoutBehavior};
use ff_sdk::core::types::WaitpointKey;
use ff_sdk::{Context, Fault, FlowFabric, Job, Signal, Waitpoint};

use super::{World, did, in_time, later, step};

pub(crate) async fn a_sleep_is_a_step(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        did(&ctx, "run")?;
        step(&ctx, "a").await?;
        ctx.sleep("let it settle", Duration::from_millis(30)).await?;
        step(&ctx, "b").await
    });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "B");
    assert_eq!(world.ledger.all(), ["run", "a", "run", "b"]);
    assert_eq!(world.steps(&id).await, ["step a", "wait let it settle", "step b"]);
    let recorded = world.client().steps(&id).await.unwrap();
    assert!(recorded[1].recorded_at.since(recorded[0].recorded_at) >= 30);
}

pub(crate) async fn an_operator_may_end_a_sleep(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        ctx.sleep("long", Duration::from_secs(3_600)).await?;
        Ok::<_, Fault>(1)
    });
    for (reject, outcome) in [(false, Outcome::Success), (true, Outcome::Failed)] {
        let id = world.submit(0).await;
        let waits = async {
            while world.client().get(&id).await.unwrap().public_state != PublicState::Suspended {
                tokio::task::yield_now().await;
            }
        };
        in_time(waits).await;
        let client = world.client();
        if reject {
            client.reject(&id, None).await.unwrap()
        } else {
            client.resume(&id, None).await.unwrap()
        };
        assert_eq!(world.end(&id).await.0.outcome, outcome);
    }
}

pub(crate) async fn more_than_a_hundred_waits_are_remembered(ff: FlowFabric) {
    const WAITS: usize = 120;
    let world = World::start(ff, |ctx: Context| async move {
        for _ in 0..WAITS {
            // The signal arrives before the wait begins, so the run continues.
            if let Some(waitpoint) = ctx.create_waitpoint("tick").await? {
                did(&ctx, "tick")?;
                ctx.state::<ff_sdk::Client>()?.signal(Signal::new(&waitpoint, "tick")).await?;
            }
            ctx.wait_for_signal("tick").await?;
        }
        if ctx.task().attempt_index.0 == 0 { later() } else { Ok(()) }
    });
    let id = world.submit(1).await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Success);
    assert_eq!(world.ledger.all().len(), WAITS);
    let steps = world.steps(&id).await;
    assert_eq!((steps.len(), steps[0].as_str(), steps[119].as_str()), (WAITS, "wait tick", "wait tick [119]"));
}

pub(crate) async fn a_wait_not_repeated_by_a_later_run_is_kept(ff: FlowFabric) {
    let nap = Duration::from_millis(1);
    let world = World::start(ff, move |ctx: Context| async move {
        did(&ctx, "run")?;
        // The second run skips the first wait and begins the second one. The third run makes both waits.
        let has_slept = ctx.state::<super::Ledger>()?.all().len() == 2;
        if !has_slept {
            ctx.sleep("first", nap).await?;
        }
        ctx.sleep("second", nap).await?;
        Ok::<_, Fault>(())
    });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Success);
    assert_eq!(world.ledger.all().len(), 3);
    assert_eq!(world.steps(&id).await, ["wait first", "wait second"]);
}

pub(crate) async fn a_step_may_tell_of_a_waitpoint(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let own = ctx.clone();
        let wait = ctx.wait_for_signal("paid").announce(move |waitpoint: Waitpoint| async move {
            let client = own.state::<ff_sdk::Client>()?;
            let send = || async { Ok(client.signal(Signal::new(&waitpoint, "paid").json(&17)).await.map(drop)?) };
            own.step("send invoice", send).await
        });
        Ok::<_, Fault>(wait.await?.json::<u64>()?)
    });
    let id = world.submit(0).await;
    assert_eq!(world.end(&id).await.json::<u64>().unwrap(), 17);
    assert_eq!(world.steps(&id).await, ["step send invoice", "wait paid"]);
}

pub(crate) async fn a_wait_begun_by_an_older_sdk_is_recorded_as_a_step(ff: FlowFabric) {
    let id = ff.client().submit(Job::new("k", &())).await.unwrap().execution_id;
    let next = NextArgs { wait_ms: 10_000, ..NextArgs::new(Holder::parse("old", "old-1").unwrap()) };
    let task = in_time(ff.long_poll().next(next)).await.unwrap().remove(0).task;
    let key = WaitpointKey::parse("paid").unwrap();
    let note = r#"{"wait":["paid",0,[]],"over":[[["first",0,[]],"timeout",[]]]}"#;
    let args = SuspendArgs {
        execution_id: id,
        fence: task.fence,
        waitpoints: vec![WaitpointBinding::Fresh { key: key.clone() }],
        condition: Condition::Signal { waitpoint: key, name: None },
        reason: SuspendReason::WaitingForSignal,
        requested_by: SuspendedBy::Worker,
        timeout: None,
        timeout_behavior: TimeoutBehavior::AutoResume,
        resume_policy: ResumePolicy::default(),
        continuation: Some(note.to_owned()),
        idempotency_key: None,
        dedup_ttl_ms: limits::SUSPEND_DEDUP_MS,
    };
    let granted = ff.backend().suspend(args).await.unwrap().waitpoints.remove(0);
    ff.client().signal(Signal::new(&Waitpoint::new(id, granted), "paid").json(&17)).await.unwrap();

    let world = World::start(ff, |ctx: Context| async move {
        ctx.sleep("first", Duration::from_secs(3_600)).await?;
        Ok::<_, Fault>(ctx.wait_for_signal("paid").await?.json::<u64>()?)
    });
    assert_eq!(world.end(&id).await.json::<u64>().unwrap(), 17);
    assert_eq!(world.steps(&id).await, ["wait first", "wait paid"]);
}
