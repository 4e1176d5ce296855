//! Every number a caller sends is accepted or refused. No number breaks a store, a server, or stored data.

use std::collections::BTreeMap;
use std::fmt::Debug;

use ff_core::backend::entropy::SystemEntropy;

use crate::prelude::*;
use crate::world::conditions::key;

/// Boundary values of integer types, columns and doubles.
const COUNTS: [u64; 11] = [
    0,
    1,
    1 << 15,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 53,
    (1 << 53) + 1,
    limits::SPAN_MAX_MS,
    (1 << 63) - 1,
    u64::MAX,
];
const MOMENTS: [i64; 8] =
    [i64::MIN, -1, 0, 1 << 32, 1 << 53, limits::TIMESTAMP_MAX_MS, limits::TIMESTAMP_MAX_MS + 1, i64::MAX];

/// Returns the answer, or `None` for a refusal. Panics on an error of the store.
#[track_caller]
fn answered<T: Debug>(answer: Answer<T>, what: impl Debug) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(EngineError::Refused(refusal)) if refusal.code.http_status() < 500 => None,
        Err(error) => panic!("{what:?} was neither taken nor refused: {error:?}"),
    }
}

fn sized(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

type Spoil = fn(&mut SubmitArgs, u64);

pub(crate) async fn any_number_in_a_submission_is_taken_or_refused(world: World) {
    let spoils: [Spoil; 11] = [
        |args, n| args.start = Start::After(n),
        |args, n| args.policy.dedup_window_ms = n,
        |args, n| args.policy.retention_ms = Some(n),
        |args, n| args.policy.timeout_policy.attempt_timeout_ms = Some(n),
        |args, n| args.policy.timeout_policy.execution_deadline_ms = Some(n),
        |args, n| args.policy.retry_policy.max_retries = small(n),
        |args, n| args.policy.max_reclaim_count = small(n),
        |args, n| args.policy.max_replay_count = small(n),
        |args, n| args.policy.retry_policy.backoff = Backoff::Fixed { delay_ms: n, jitter: true },
        |args, n| args.policy.retry_policy.backoff = exponential(n, n, 100.0),
        |args, n| args.policy.retry_policy.backoff = exponential(1, 1, n as f64),
    ];
    for (nth, spoil) in spoils.into_iter().enumerate() {
        for n in COUNTS {
            let mut args = world.job("extreme").key(&format!("{nth} {n}")).args();
            spoil(&mut args, n);
            answered(world.backend.submit(args).await, (nth, n));
            fail_what_waits(&world).await;
        }
    }
    for at in MOMENTS {
        let args = SubmitArgs { start: Start::At(TimestampMs(at)), ..world.job("extreme").args() };
        answered(world.backend.submit(args).await, at);
    }
    fail_what_waits(&world).await;
}

fn exponential(initial_delay_ms: u64, max_delay_ms: u64, multiplier: f64) -> Backoff {
    Backoff::Exponential { initial_delay_ms, max_delay_ms, multiplier, jitter: true }
}

/// Claims waiting executions and fails them, so that every policy is applied.
async fn fail_what_waits(world: &World) {
    for held in world.worker("hand").claim_up_to(10).await {
        held.fail("network").await.unwrap();
    }
}

pub(crate) async fn any_number_of_a_holder_is_taken_or_refused(world: World) {
    let holder = Holder::parse("hand", "hand-1").unwrap();
    for n in COUNTS {
        let claim = ClaimArgs { kinds: Vec::new(), ..ClaimArgs::new(0, holder.clone()) };
        answered(world.backend.claim(ClaimArgs { lease_ttl_ms: n, ..claim.clone() }).await, n);
        answered(world.backend.claim(ClaimArgs { max: sized(n), ..claim }).await, n);
        let next = NextArgs { kinds: Vec::new(), ..NextArgs::new(holder.clone()) };
        answered(world.long_poll.next(NextArgs { max: sized(n), ..next.clone() }).await, n);
        if n <= 1 || n > limits::LONG_POLL_MS {
            answered(world.long_poll.next(NextArgs { wait_ms: n, ..next }).await, n);
        }
        let held = world.held().await;
        let (execution_id, fence) = (held.id(), held.fence());
        answered(world.backend.renew(RenewArgs { execution_id, fence, lease_ttl_ms: Some(n) }).await, n);
        let epoch = held.with_fence(|fence| fence.lease_epoch = LeaseEpoch(n));
        answered(epoch.renew().await, n);
        let other = epoch.with_fence(|fence| fence.lease_epoch = LeaseEpoch(n ^ 1));
        answered(other.complete(b"done").await, n);
        answered(held.progress(u8::try_from(n).ok().or(Some(u8::MAX)), None).await, n);
        answered(held.delay_to(Start::After(n)).await, n);
    }
    for at in MOMENTS {
        answered(world.held().await.delay_to(Start::At(TimestampMs(at))).await, at);
    }
}

pub(crate) async fn any_number_about_waiting_is_taken_or_refused(world: World) {
    for n in COUNTS {
        let wish = |change: fn(&mut SuspendArgs, u64)| {
            let world = world.clone();
            async move {
                let held = world.held().await;
                let mut wish = held.wish("approval");
                wish.idempotency_key = Some(IdempotencyKey::parse("once").unwrap());
                change(&mut wish, n);
                answered(world.backend.suspend(wish).await, n);
                held.id()
            }
        };
        let id = wish(|wish, n| wish.timeout = Some(Timeout::After(n))).await;
        let resume = ResumeArgs { resume_delay_ms: Some(n), ..ResumeArgs::new(id, OperatorDecision::Resume) };
        answered(world.backend.resume(resume).await, n);
        wish(|wish, n| wish.dedup_ttl_ms = n).await;
        let delayed = |wish: &mut SuspendArgs, n| {
            wish.resume_policy = ResumePolicy { resume_delay_ms: n, ..ResumePolicy::default() };
        };
        let id = wish(delayed).await;
        answered(world.backend.resume(ResumeArgs::new(id, OperatorDecision::Resume)).await, n);
        wish(|wish, n| {
            let count =
                |n| Condition::Count { n, of: Distinct::Signals, waitpoints: vec![key("approval")], name: None };
            wish.condition = Condition::AllOf { members: vec![count(small(n)), count(small(n))] };
        })
        .await;
        let held = world.held().await;
        let ahead = CreateWaitpointArgs { expires_in_ms: n, ..held.ahead_args("approval") };
        answered(world.backend.create_waitpoint(ahead).await, n);
        let waitpoint = world.suspended().await.1;
        let signal = DeliverArgs { dedup_ttl_ms: n, ..waitpoint.signal_once("go", "once") };
        answered(world.backend.deliver(signal.clone()).await, n);
        answered(world.backend.deliver(signal).await, n);
        let mut rotation = RotateSecretArgs::parse(&format!("k-{n}"), &"0a".repeat(16), 0).unwrap();
        rotation.grace_ms = n;
        if let Some(report) = answered(world.backend.rotate_secret(rotation).await, n) {
            for (_, error) in report.failed {
                answered::<()>(Err(error), n);
            }
        }
    }
    for at in MOMENTS {
        let held = world.held().await;
        let wish = SuspendArgs { timeout: Some(Timeout::At(TimestampMs(at))), ..held.wish("approval") };
        answered(world.backend.suspend(wish).await, at);
    }
}

pub(crate) async fn any_number_about_a_flow_is_taken_or_refused(world: World) {
    let flow = world.graph("a>c b>c").submit().await;
    for n in COUNTS {
        let members = |from, limit| FlowMembersArgs { flow_id: flow.id, from, limit };
        answered(world.backend.flow_members(members(small(n), 10)).await, n);
        answered(world.backend.flow_members(members(0, sized(n))).await, n);
        let edges = FlowEdgesArgs { flow_id: flow.id, after: None, limit: sized(n) };
        answered(world.backend.flow_edges(edges).await, n);
        let events = |from, limit| FlowEventsArgs { flow_id: flow.id, from, limit };
        answered(world.backend.flow_events(events(n, 10)).await, n);
        answered(world.backend.flow_events(events(0, sized(n))).await, n);
        answered(world.long_poll.next_flow_events(events(n, 10), 1).await, n);
        let grown = GrowFlowArgs { expected_graph_revision: Some(n), ..flow.growth(&[&format!("n{n}")], &[]) };
        answered(world.backend.grow_flow(grown).await, n);
        let quorum = Join::Quorum { k: small(n), on_satisfied: OnSatisfied::LetRun };
        answered(world.graph("a>c b>c").join("c", quorum).try_submit().await, n);
        answered(world.graph("a").with("a", |node| node.start = Start::After(n)).try_submit().await, n);
    }
    for at in MOMENTS {
        answered(world.graph("a").with("a", |node| node.start = Start::At(TimestampMs(at))).try_submit().await, at);
        let after = Some(FlowCursor { created_at: TimestampMs(at), flow_id: FlowId::from_uuid(Uuid::max()) });
        answered(world.backend.list_flows(ListFlowsArgs { after, ..flows(10) }).await, at);
    }
    for n in COUNTS {
        answered(world.backend.list_flows(flows(sized(n))).await, n);
    }
}

fn flows(limit: usize) -> ListFlowsArgs {
    ListFlowsArgs { limit, ..ListFlowsArgs::new(Namespace::default_name()) }
}

pub(crate) async fn any_number_in_a_question_is_taken_or_refused(world: World) {
    let (held, waitpoint) = world.suspended().await;
    waitpoint.send("go").await.unwrap();
    answered(world.backend.events(events(None, 10)).await, "the first");
    world.submit("resize", b"").await;
    for n in COUNTS {
        let limit = sized(n);
        answered(world.backend.list(list(None, limit)).await, n);
        answered(world.backend.list_lanes(lanes(limit)).await, n);
        let workers = ListWorkersArgs { namespace: None, after: None, limit };
        answered(world.backend.list_workers(workers).await, n);
        answered(world.backend.events(events(None, limit)).await, n);
        answered(world.backend.deliveries(DeliveriesArgs { after: None, limit }).await, n);
        let signals = |skip, limit| SignalsArgs { execution_id: held.id(), skip, limit };
        answered(world.backend.signals(signals(limit, 10)).await, n);
        answered(world.backend.signals(signals(0, limit)).await, n);
        for at in MOMENTS {
            let position = Position { at: TimestampMs(at), nth: n };
            let feed = FeedCursor(BTreeMap::from([(0, position), (u16::MAX, position)]));
            answered(world.backend.deliveries(DeliveriesArgs { after: Some(feed), limit: 10 }).await, position);
            let places = BTreeMap::from([(0, position), (u16::MAX, position)]);
            let cursor = EventCursor { from: TimestampMs(at), places, sealed: None };
            answered(world.backend.events(events(Some(cursor), 10)).await, position);
        }
    }
    for at in MOMENTS {
        let place =
            |partition, uuid| Cursor { created_at: TimestampMs(at), execution_id: ExecutionId::new(partition, uuid) };
        for after in [place(0, Uuid::nil()), place(u16::MAX, Uuid::max())] {
            answered(world.backend.list(list(Some(after), 10)).await, after);
        }
        for until in MOMENTS {
            let (created_from, created_until) = (Some(TimestampMs(at)), Some(TimestampMs(until)));
            let filter = Filter { created_from, created_until, ..everything() };
            answered(world.backend.list(ListArgs { filter, after: None, limit: 10 }).await, (at, until));
        }
        let action = BulkAction::Cancel { reason: None, requested_by: None };
        let as_of = Some(TimestampMs(at));
        let bulk = BulkArgs { filter: everything(), action, dry_run: true, as_of, after: None, limit: 10 };
        answered(world.backend.bulk(bulk).await, at);
    }
}

fn everything() -> Filter {
    Filter::everything(Namespace::default_name())
}

fn list(after: Option<Cursor>, limit: usize) -> ListArgs {
    ListArgs { filter: everything(), after, limit }
}

fn lanes(limit: usize) -> ListLanesArgs {
    ListLanesArgs { namespace: None, after: None, limit, finished: true }
}

fn events(after: Option<EventCursor>, limit: usize) -> EventsArgs {
    EventsArgs { after, namespace: None, execution: None, limit }
}

pub(crate) async fn any_number_of_an_operator_is_taken_or_refused(world: World) {
    for n in COUNTS {
        let lane = || ConfigureLaneArgs::new(Namespace::default_name(), LaneId::default_name());
        let settings = [
            ConfigureLaneArgs { concurrency: Setting::To(small(n)), ..lane() },
            ConfigureLaneArgs { ageing_ms: Setting::To(n), ..lane() },
            ConfigureLaneArgs { retention_ms: Setting::To(n), ..lane() },
        ];
        for args in settings {
            answered(world.backend.configure_lane(args).await, n);
            for priority in [0, i64::from(limits::PRIORITY_MAX)] {
                world.job("aged").priority(priority).submit().await;
            }
            for held in world.worker("hand").claim_up_to(4).await {
                held.complete(b"done").await.unwrap();
            }
        }
        let worker = RegisterWorkerArgs { ttl_ms: n, ..crate::worker::worker("a", "default") };
        answered(world.backend.register_worker(worker).await, n);
        let secret = SecretKey::draw(&SystemEntropy);
        let key = CreateKeyArgs {
            key_id: secret.id().clone(),
            name: KeyName::parse("extreme").unwrap(),
            secret_hash: secret.hash(),
            roles: [Role::Operate].into(),
            namespace: None,
            ttl_ms: Some(n),
        };
        answered(world.backend.create_key(key).await, n);
        answered(world.backend.list_keys(ListKeysArgs { after: None, limit: sized(n) }).await, n);
    }
}

pub(crate) async fn any_wait_is_taken_or_refused(world: World, held: LeasedExecution) {
    let flow = world.graph("a").submit().await;
    for n in COUNTS.into_iter().filter(|n| *n <= 1 || *n > limits::LONG_POLL_MS) {
        answered(world.long_poll.ended(&held.id(), n).await, n);
        answered(world.long_poll.flow_ended(&flow.id, n).await, n);
        answered(world.long_poll.next_events(events(None, 10), n).await, n);
        answered(world.long_poll.next_deliveries(DeliveriesArgs { after: None, limit: 10 }, n).await, n);
        let worker_instance_id = WorkerInstanceId::parse("hand-1").unwrap();
        let control = ControlArgs { worker_instance_id, after: None, wait_ms: 0 };
        let after = answered(world.long_poll.control(control.clone()).await, n).map(|control| control.next);
        let boot = after.as_deref().and_then(|after| after.split_once('-')).map(|(boot, _)| format!("{boot}-{n}"));
        answered(world.long_poll.control(ControlArgs { after: boot, ..control.clone() }).await, n);
        answered(world.long_poll.control(ControlArgs { wait_ms: n, ..control }).await, n);
    }
}
