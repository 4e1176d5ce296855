//! Schedules are defined by name, and an invalid definition is refused.

use ff_core::schedule::Zone;

use super::{MINUTE, Overlap, Plan, Timing, named, show};
use crate::prelude::*;

pub(crate) async fn a_schedule_is_listed_as_it_was_put(world: World) {
    let second = Plan::new(&world, "second").overlap(Overlap::Allow).put().await;
    let first = Plan::new(&world, "first").put().await;
    assert_eq!(first.next_ticks.len(), limits::TICKS_LISTED);
    assert_eq!(first.next_ticks[0], world.clock.now() + MINUTE);
    assert_eq!(show(&world, "first").await, first);
    let again = Plan::new(&world, "first").put().await;
    assert_eq!(again, first, "the same again changes nothing");
    let namespace = Namespace::default_name();
    let args = ListSchedulesArgs { namespace: namespace.clone(), after: None, limit: 10 };
    let page = world.backend.schedules(args.clone()).await.unwrap();
    assert_eq!((page.schedules, page.next), (vec![first.schedule.clone(), second.schedule.clone()], None));
    let page = world.backend.schedules(ListSchedulesArgs { limit: 1, ..args.clone() }).await.unwrap();
    assert_eq!((page.schedules.len(), page.next.clone()), (1, Some(first.schedule.name)));
    let page = world.backend.schedules(ListSchedulesArgs { after: page.next, ..args.clone() }).await.unwrap();
    assert_eq!((page.schedules, page.next), (vec![second.schedule], None));
    let other = ListSchedulesArgs { namespace: Namespace::parse("acme").unwrap(), ..args };
    assert_eq!(world.backend.schedules(other).await.unwrap(), SchedulesPage::default());
}

pub(crate) async fn many_schedules_are_listed_page_by_page(world: World) {
    for nth in 0..23 {
        Plan::new(&world, &format!("s{nth:02}")).put().await;
    }
    Plan::new(&world, "s05").of("acme").put().await;
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let args = ListSchedulesArgs { namespace: Namespace::default_name(), after, limit: 5 };
        let page = world.backend.schedules(args).await.unwrap();
        names.extend(page.schedules.into_iter().map(|schedule| schedule.name.to_string()));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(names, (0..23).map(|nth| format!("s{nth:02}")).collect::<Vec<_>>());
}

pub(crate) async fn a_schedule_that_makes_no_sense_is_refused(world: World) {
    let now = world.clock.now();
    let field = async |plan: Plan| match plan.try_put().await.unwrap_err() {
        EngineError::Refused(refusal) => refusal.field.unwrap_or_default(),
        other => panic!("{other}"),
    };
    let plan = || Plan::new(&world, "bad");
    assert_eq!(field(plan().with(|it| it.timing = Timing::EveryMs(999))).await, "every_ms");
    assert_eq!(field(plan().with(|it| it.timing = Timing::At(now))).await, "at");
    assert_eq!(field(plan().with(|it| (it.starts_at, it.ends_at) = (Some(now + 9), Some(now + 8)))).await, "ends_at");
    assert_eq!(field(plan().with(|it| it.ends_at = Some(now))).await, "ends_at");
    assert_eq!(field(plan().with(|it| it.jitter_ms = limits::JITTER_MAX_MS + 1)).await, "jitter_ms");
    assert_eq!(field(plan().with(|it| it.catch_up_ms = 1)).await, "catch_up_ms");
    let mut target = world.job("report").args();
    target.policy.max_reclaim_count = 5_000_000;
    let wrong = field(plan().starts(target)).await;
    assert!(wrong.starts_with("execution.") && wrong.ends_with("max_reclaim_count"), "{wrong}");
    let args = ListSchedulesArgs { namespace: Namespace::default_name(), after: None, limit: 10 };
    assert_eq!(world.backend.schedules(args).await.unwrap(), SchedulesPage::default(), "nothing was written");
    assert_refused!(world.backend.describe_schedule(named("bad")).await, "schedule_not_found");
}

pub(crate) async fn a_schedule_says_when_it_ticks_next(world: World) {
    let zone: Zone = "Europe/Berlin".parse().unwrap();
    let timing = Timing::Cron("0 9 * * *".parse().unwrap());
    let put = Plan::new(&world, "daily").with(|it| (it.timing, it.time_zone) = (timing, zone.clone())).put().await;
    let next = world.backend.next_ticks(named("daily"), 400).await.unwrap().ticks;
    assert_eq!((next.len(), &next[..5]), (400, &put.next_ticks[..]));
    let is_nine = |tick: &TimestampMs| zone.local(*tick).is_some_and(|local| local.to_string().ends_with("T09:00:00"));
    assert!(next.iter().all(is_nine), "summer and winter");
    assert!(next.windows(2).any(|pair| pair[1].since(pair[0]) != 86_400_000), "the clocks changed in between");
    assert_refused!(world.backend.next_ticks(named("none"), 5).await, "schedule_not_found");
    assert_refused!(world.backend.next_ticks(named("daily"), limits::PAGE + 1).await, "limit_exceeded");
}

pub(crate) async fn a_deleted_schedule_ticks_no_more(world: World) {
    Plan::new(&world, "gone").put().await;
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(super::everything(&world).await.len(), 1);
    assert!(!world.backend.delete_schedule(named("gone")).await.unwrap().already);
    assert!(world.backend.delete_schedule(named("gone")).await.unwrap().already);
    world.clock.advance(ms(5 * MINUTE)).await;
    assert_eq!(super::everything(&world).await.len(), 1, "what it has started stays");
    assert_refused!(world.backend.describe_schedule(named("gone")).await, "schedule_not_found");
    let anew = Plan::new(&world, "gone").put().await;
    assert_eq!(anew.schedule.version, 1);
    world.clock.advance(ms(MINUTE)).await;
    assert_eq!(super::everything(&world).await.len(), 2);
}
