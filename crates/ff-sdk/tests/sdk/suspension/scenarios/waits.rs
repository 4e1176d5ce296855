//! Waits: distinguished by name, ended by signals and timeouts, and ending the run of their handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ff_sdk::core::engine_error::Code;
use ff_sdk::core::execution::Outcome;
use ff_sdk::core::lease::LeaseEnding;
use ff_sdk::core::signal::Effect;
use ff_sdk::core::suspension::{Condition, ResumedBy, SuspendReason, TimeoutBehavior};
use ff_sdk::{Context, Fault, FlowFabric, Signal, WaitError};
use tokio::sync::{Notify, mpsc};

use super::{WaitpointSender, World, in_time};

pub(crate) async fn a_wait_returns_the_signal_that_ended_it(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        let paid = ctx.wait_for_signal("paid").announce(sender.to()).await?;
        Ok::<_, Fault>((paid.json::<u64>()?, paid.source().to_string()))
    });
    let id = world.submit().await;
    let waitpoint = world.next_waitpoint().await;
    world.waits(&id).await;
    let info = world.client().get(&id).await.unwrap().suspension.unwrap();
    assert_eq!((info.reason, info.waitpoints[0].id), (SuspendReason::WaitingForSignal, waitpoint.waitpoint_id));
    let other = world.client().signal(Signal::new(&waitpoint, "refunded")).await.unwrap();
    assert_eq!(other.effect, Effect::MatcherFailed, "it waits for a signal of its name");
    let paid = Signal::new(&waitpoint, "paid").json(&17_u64).source("bank", Some("b-7"));
    assert_eq!(world.client().signal(paid).await.unwrap().effect, Effect::Satisfied);
    let end = world.end(&id).await;
    assert_eq!(end.json::<(u64, String)>().unwrap(), (17, "bank:b-7".to_owned()));
    let attempts = world.client().attempts(&id).await.unwrap();
    assert_eq!(attempts.attempts.len(), 1, "the same attempt goes on");
    assert_eq!(attempts.leases.iter().map(|lease| lease.ended).collect::<Vec<_>>(), [LeaseEnding::Suspended]);
}

pub(crate) async fn consecutive_waits_are_distinguished_by_name(ff: FlowFabric) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let mut world = World::start(ff, move |ctx: Context| {
        let calls = counted.clone();
        async move {
            calls.fetch_add(1, Ordering::SeqCst);
            let sender = ctx.state::<WaitpointSender>()?;
            let mut answers = Vec::new();
            for name in ["first", "second", "third"] {
                answers.push(ctx.wait_for_signal(name).announce(sender.to()).await?.json::<String>()?);
            }
            Ok::<_, Fault>(answers)
        }
    });
    let id = world.submit().await;
    for answer in ["a", "b", "c"] {
        let waitpoint = world.next_waitpoint().await;
        world.waits(&id).await;
        let name = waitpoint.waitpoint_key.to_string();
        world.client().signal(Signal::new(&waitpoint, &name).json(&answer)).await.unwrap();
    }
    assert_eq!(world.end(&id).await.json::<Vec<String>>().unwrap(), ["a", "b", "c"]);
    assert_eq!(calls.load(Ordering::SeqCst), 4, "once at first, and once after each wait");
    assert!(world.waitpoints.try_recv().is_err(), "each wait is announced once");
}

pub(crate) async fn the_same_name_again_is_the_next_wait(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        let mut sum = 0;
        for _ in 0..3 {
            sum = sum * 10 + ctx.wait_for_signal("tick").announce(sender.to()).await?.json::<u64>()?;
        }
        Ok::<_, Fault>(sum)
    });
    let id = world.submit().await;
    let mut old = Vec::new();
    for tick in 1..=3_u64 {
        let waitpoint = world.next_waitpoint().await;
        for used in &old {
            let refused = world.client().signal(Signal::new(used, "tick").json(&9)).await.unwrap_err();
            assert_eq!(refused.code(), Some(Code::WaitpointClosed), "an old token opens no later wait");
        }
        world.client().signal(Signal::new(&waitpoint, "tick").json(&tick)).await.unwrap();
        old.push(waitpoint);
    }
    assert_eq!(world.end(&id).await.json::<u64>().unwrap(), 123);
}

pub(crate) async fn two_waits_at_once_are_one_after_the_other(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        let left = async { ctx.wait_for_signal("left").announce(sender.to()).await };
        let right = async { ctx.wait_for_signal("right").announce(sender.to()).await };
        let (left, right) = tokio::join!(left, right);
        Ok::<_, Fault>((left?.json::<u8>()?, right?.json::<u8>()?))
    });
    let id = world.submit().await;
    for (name, answer) in [("left", 1), ("right", 2)] {
        let waitpoint = world.next_waitpoint().await;
        assert_eq!(waitpoint.waitpoint_key.as_str(), name);
        world.client().signal(Signal::new(&waitpoint, name).json(&answer)).await.unwrap();
    }
    assert_eq!(world.end(&id).await.json::<(u8, u8)>().unwrap(), (1, 2));
}

pub(crate) async fn a_signal_that_came_early_is_returned_at_once(ff: FlowFabric) {
    let client = ff.client();
    let world = World::start(ff, move |ctx: Context| {
        let client = client.clone();
        async move {
            let waitpoint = ctx.create_waitpoint("paid").expires_in(Duration::from_secs(60)).await?;
            let Some(waitpoint) = waitpoint else { return Err(Fault::permanent("test", "the run began again")) };
            let early = client.signal(Signal::new(&waitpoint, "paid").json(&5)).await?;
            let paid = ctx.wait_for_signal("paid").await?.json::<u8>()?;
            Ok((early.effect.to_string(), paid))
        }
    });
    let id = world.submit().await;
    let end = world.end(&id).await.json::<(String, u8)>().unwrap();
    assert_eq!(end, (Effect::Buffered.to_string(), 5));
    assert_eq!(world.client().attempts(&id).await.unwrap().leases, [], "the lease was kept");
}

pub(crate) async fn a_waitpoint_made_ahead_is_handed_out_once(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        for _ in 0..2 {
            if let Some(waitpoint) = ctx.create_waitpoint("answer").await? {
                sender.0.send(waitpoint).unwrap();
            }
            ctx.wait_for_signal("go").at("answer").await?;
        }
        Ok::<_, Fault>(())
    });
    let id = world.submit().await;
    let first = world.next_waitpoint().await;
    world.client().signal(Signal::new(&first, "go")).await.unwrap();
    let second = world.next_waitpoint().await;
    assert_ne!(first.waitpoint_id, second.waitpoint_id);
    world.client().signal(Signal::by_key(id, "answer", &second.waitpoint_token.expose(), "go")).await.unwrap();
    world.end(&id).await.payload().unwrap();
    assert!(world.waitpoints.try_recv().is_err(), "nothing is handed out for a wait that is over");
}

pub(crate) async fn a_waitpoint_an_earlier_run_made_is_waited_on(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        if ctx.task().attempt_index.0 == 0 {
            let waitpoint = ctx.create_waitpoint("go").await?;
            sender.0.send(waitpoint.unwrap()).unwrap();
            return Err(Fault::retryable("test", "the worker forgets what it made"));
        }
        ctx.wait_for_signal("go").await?.json::<u8>().map_err(Fault::from)
    });
    let id = world.submit().await;
    let waitpoint = world.next_waitpoint().await;
    world.client().signal(Signal::new(&waitpoint, "go").json(&7)).await.unwrap();
    assert_eq!(world.end(&id).await.json::<u8>().unwrap(), 7);
}

pub(crate) async fn a_wait_that_times_out_is_an_error_the_handler_may_handle(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let unheard = ctx.wait_for_signal("paid").timeout(Duration::from_millis(5)).await.unwrap_err();
        let unasked = ctx.suspend("more").timeout(Duration::from_millis(5)).await?;
        assert!(unheard.is_timeout());
        assert_eq!(unasked.by, ResumedBy::Timeout);
        ctx.wait_for_approval("deploy").timeout(Duration::from_millis(5)).await?.approved()?;
        Ok::<_, Fault>(())
    });
    let id = world.submit().await;
    let failure = world.end(&id).await.0.failure.unwrap();
    assert_eq!((failure.category.as_str(), failure.permanent), ("wait_timed_out", true));
}

pub(crate) async fn a_timeout_may_end_the_execution_instead(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let wait = ctx.wait_for_signal("paid").timeout(Duration::from_millis(5));
        wait.on_timeout(TimeoutBehavior::Cancel).await?;
        Ok::<_, Fault>(())
    });
    let id = world.submit().await;
    assert_eq!(world.end(&id).await.0.outcome, Outcome::Cancelled);
}

pub(crate) async fn a_retry_hears_what_was_said_before(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        let first = ctx.wait_for_signal("first").announce(sender.to()).await?.json::<u8>()?;
        let second = ctx.wait_for_signal("second").announce(sender.to()).await?.json::<u8>()?;
        if ctx.task().attempt_index.0 < 2 {
            return Err(Fault::retryable("network", "no answer"));
        }
        Ok((first, second))
    });
    let id = world.submit().await;
    for (name, answer) in [("first", 1), ("second", 2)] {
        let waitpoint = world.next_waitpoint().await;
        world.client().signal(Signal::new(&waitpoint, name).json(&answer)).await.unwrap();
    }
    assert_eq!(world.end(&id).await.json::<(u8, u8)>().unwrap(), (1, 2));
    assert!(world.waitpoints.try_recv().is_err(), "nobody is asked twice");
    world.client().replay(&id, None).await.unwrap();
    assert_eq!(world.next_waitpoint().await.waitpoint_key.as_str(), "first", "a replay asks again");
}

pub(crate) async fn a_wait_that_cannot_be_announced_has_not_begun(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let (sender, attempt) = (ctx.state::<WaitpointSender>()?, ctx.task().attempt_index.0);
        let announced = ctx.wait_for_signal("go").announce(move |waitpoint| async move {
            sender.0.send(waitpoint).unwrap();
            if attempt == 0 { Err(Fault::retryable("mail", "no mail server")) } else { Ok(()) }
        });
        announced.await?;
        Ok::<_, Fault>(())
    });
    let id = world.submit().await;
    let (first, second) = (world.next_waitpoint().await, world.next_waitpoint().await);
    assert_eq!(first, second, "it is the same waitpoint until a wait has used it");
    world.client().signal(Signal::new(&first, "go")).await.unwrap();
    world.end(&id).await.payload().unwrap();
    let attempts = world.client().attempts(&id).await.unwrap().attempts;
    assert_eq!(attempts[0].end.as_ref().unwrap().failure.as_ref().unwrap().category.as_str(), "mail");
}

/// A guard that notifies the test when it is dropped.
struct DropNotice(Arc<Notify>);

impl Drop for DropNotice {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

pub(crate) async fn a_handler_that_drops_its_wait_is_dropped_all_the_same(ff: FlowFabric) {
    let dropped = Arc::new(Notify::new());
    let tell = dropped.clone();
    let world = World::start(ff, move |ctx: Context| {
        let tell = tell.clone();
        async move {
            if ctx.task().resumption.is_some() {
                return Ok("went on");
            }
            let _dropped = DropNotice(tell);
            // The timeout drops the wait while its call to the store may be under way.
            let wait = tokio::time::timeout(Duration::from_millis(1), ctx.wait_for_signal("go").into_future());
            assert!(wait.await.is_err());
            std::future::pending::<Result<&str, Fault>>().await
        }
    });
    let id = world.submit().await;
    in_time(dropped.notified()).await;
    world.waits(&id).await;
    world.client().resume(&id, None).await.unwrap();
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "went on");
}

pub(crate) async fn a_spawned_task_gets_an_error_when_the_run_suspends(ff: FlowFabric) {
    let (tell, mut receiver) = mpsc::unbounded_channel();
    let world = World::start(ff, move |ctx: Context| {
        let tell = tell.clone();
        async move {
            if ctx.task().resumption.is_some() {
                return Ok(());
            }
            tokio::spawn(async move {
                let over = ctx.wait_for_signal("go").await;
                tell.send(matches!(over, Err(WaitError::Suspended))).unwrap();
            });
            std::future::pending::<Result<(), Fault>>().await
        }
    });
    let id = world.submit().await;
    assert!(in_time(receiver.recv()).await.unwrap());
    world.client().resume(&id, None).await.unwrap();
    world.end(&id).await.payload().unwrap();
}

pub(crate) async fn a_wait_set_up_wrongly_says_what_is_wrong(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        let mut errors = Vec::new();
        errors.push(ctx.wait_for_signal("no spaces").await.unwrap_err().to_string());
        errors.push(ctx.wait_for_signal("go").at("").await.unwrap_err().to_string());
        errors.push(ctx.create_waitpoint("").await.unwrap_err().to_string());
        errors.push(ctx.suspend("a").timeout(Duration::ZERO).await.unwrap_err().to_string());
        errors.push(ctx.suspend("b").until(["x", "x"], Condition::OperatorOnly).await.unwrap_err().to_string());
        Ok::<_, Fault>(errors)
    });
    let id = world.submit().await;
    let errors = world.end(&id).await.json::<Vec<String>>().unwrap();
    for (error, field) in errors.iter().zip(["name", "waitpoint", "key", "timeout_in_ms", "waitpoints[1].key"]) {
        assert!(error.contains(field), "{error} does not name {field}");
    }
}
