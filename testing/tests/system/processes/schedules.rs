//! Schedules whose servers are killed and whose store is frozen around their ticks. Each tick has one start.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ff_core::contracts::{Filter, ListArgs, PauseScheduleArgs, PutScheduleArgs, ScheduleRef, SubmitArgs};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::schedule::{CatchUp, Overlap, ScheduleDefinition, ScheduleTarget, Timing};
use ff_core::types::{Kind, Namespace, ScheduleName, TagKey, TagValue};
use ff_sdk::FlowFabric;
use ff_testing::number;
use ff_testing::postgres_server::Postgres;
use ff_testing::processes::{ServerProcess, within};
use ff_testing::servers::{Flavour, Process};

use super::freezing::pass;
use super::stop_and_examine;

/// Number of schedules, which tick every second at different times.
const SCHEDULES: usize = 20;

/// Longer than any part of the system waits for an answer before it doubts the connection.
const FROZEN: Duration = Duration::from_millis(4_500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tick_has_one_start_though_the_server_is_killed() {
    let mut server = ServerProcess::start().await;
    create(&server.connect().await).await;
    for _ in 0..number("FF_KILLS", 6) {
        ticks(&server.connect().await, 3).await;
        server.kill_and_start_again().await;
    }
    settle(vec![server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tick_has_one_start_with_two_servers_on_valkey() {
    let valkey = Process::start(Flavour::Valkey, &[]);
    let servers = [ServerProcess::over(valkey.url()).await, ServerProcess::over(valkey.url()).await];
    two_servers(servers, || valkey.freeze(), || valkey.thaw()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tick_has_one_start_with_two_servers_on_postgres() {
    let postgres = Postgres::quick();
    let url = || postgres.url("flowfabric");
    let servers = [ServerProcess::over(url()).await, ServerProcess::over(url()).await];
    two_servers(servers, || postgres.freeze(), || postgres.thaw()).await;
}

/// Kills one server after the other, and then freezes the store for some ticks.
async fn two_servers(mut servers: [ServerProcess; 2], freeze: impl Fn(), thaw: impl Fn()) {
    create(&servers[0].connect().await).await;
    for nth in 0..number("FF_KILLS", 6) {
        ticks(&servers[1].connect().await, 3).await;
        servers[nth % 2].kill_and_start_again().await;
    }
    freeze();
    pass(FROZEN).await;
    thaw();
    ticks(&servers[0].connect().await, 3).await;
    settle(servers.into()).await;
}

fn named(nth: usize) -> ScheduleRef {
    ScheduleRef { namespace: Namespace::default_name(), name: ScheduleName::parse(&format!("s{nth}")).unwrap() }
}

async fn create(flowfabric: &FlowFabric) {
    for nth in 0..SCHEDULES {
        let mut work = SubmitArgs::new(Kind::parse("ticked").unwrap(), Payload::default());
        for (key, value) in [("schedule", "{{schedule}}"), ("tick", "{{tick}}")] {
            work.tags.insert(TagKey::parse(key).unwrap(), TagValue::parse(value).unwrap());
        }
        let target = ScheduleTarget::Execution(Box::new(work));
        let definition = ScheduleDefinition {
            overlap: Overlap::Allow,
            catch_up: CatchUp::All,
            ..ScheduleDefinition::new(Timing::EveryMs(1_000), target)
        };
        flowfabric.backend().put_schedule(PutScheduleArgs { schedule: named(nth), definition }).await.unwrap();
    }
}

/// Waits until the last schedule has ticked this many more times. Returns while it continues to tick.
async fn ticks(flowfabric: &FlowFabric, more: u64) {
    let last = async || {
        // While a store restarts, a server may report that the store does not answer.
        let described = flowfabric.backend().describe_schedule(named(SCHEDULES - 1)).await;
        described.ok().and_then(|info| info.schedule.next_tick).map_or(0, |tick| tick.0)
    };
    let waited = async {
        let mut first = 0;
        while first == 0 {
            first = last().await;
        }
        while last().await < first + 1_000 * i64::try_from(more).unwrap() {}
    };
    within("schedules tick", waited).await;
}

/// Stops all schedules and servers, and compares the started ticks with the expected ones.
async fn settle(servers: Vec<ServerProcess>) {
    let flowfabric = servers[0].connect().await;
    let mut next = BTreeMap::new();
    for nth in 0..SCHEDULES {
        let pause = PauseScheduleArgs { schedule: named(nth), reason: None };
        let schedule = flowfabric.backend().pause_schedule(pause).await.unwrap().schedule;
        next.insert(schedule.name.to_string(), (schedule.created_at.0, schedule.next_tick.unwrap().0));
    }
    let mut started: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    let (mut after, mut count) = (None, 0);
    loop {
        let filter = Filter::everything(Namespace::default_name());
        let page = flowfabric.backend().list(ListArgs { filter, after, limit: limits::PAGE }).await.unwrap();
        for one in page.executions {
            let tag = |key: &str| one.tags[&TagKey::parse(key).unwrap()].to_string();
            let tick: jiff::Timestamp = tag("tick").parse().unwrap();
            let is_new = started.entry(tag("schedule")).or_default().insert(tick.as_millisecond());
            assert!(is_new, "{} ticked twice at {tick}", tag("schedule"));
            count += 1;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    for (name, (created_at, next_tick)) in next {
        let expected: BTreeSet<_> =
            (created_at..).step_by(1_000).skip(1).take_while(|tick| *tick < next_tick).collect();
        let found: BTreeSet<_> = started.remove(&name).unwrap_or_default();
        // A tick submitted at the time of the pause is started, but may not be recorded.
        let found: BTreeSet<_> = found.into_iter().filter(|tick| *tick < next_tick).collect();
        assert_eq!(found, expected, "{name} did not start each of its ticks");
        assert!(expected.len() > 10);
    }
    assert_eq!(stop_and_examine(servers).await, count);
}
