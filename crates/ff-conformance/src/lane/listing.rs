//! Lanes are listed with their settings and the number of executions in each standing.

use crate::prelude::*;

pub(crate) async fn a_lane_need_not_be_made(world: World) {
    let unknown = world.lane("mail").describe().await;
    assert_eq!((unknown.settings, unknown.depths.len()), (LaneSettings::default(), 0));
    assert_eq!(names(&world, None).await, Vec::<String>::new());
    world.job("send").lane("mail").submit().await;
    assert_eq!(names(&world, None).await, ["default/mail"]);
}

pub(crate) async fn lanes_are_listed_by_name_page_by_page(world: World) {
    for (namespace, lane) in [("default", "b"), ("acme", "c"), ("default", "a"), ("default", "b")] {
        world.job("send").namespace(namespace).lane(lane).submit().await;
    }
    world.lane("d").pause().await;
    assert_eq!(names(&world, Some("default")).await, ["default/a", "default/b", "default/d"]);
    assert_eq!(names(&world, Some("acme")).await, ["acme/c"]);
    assert_eq!(names(&world, None).await.len(), 4);
    assert_eq!(names(&world, Some("unknown")).await, Vec::<String>::new());
}

pub(crate) async fn a_lane_says_how_much_of_it_is_where(world: World) {
    let start = world.clock.now();
    let held = world.held().await;
    world.clock.advance(ms(10)).await;
    let (suspended, _) = world.suspended().await;
    world.clock.advance(ms(10)).await;
    world.job("resize").priority(5).submit().await;
    world.clock.advance(ms(10)).await;
    world.job("resize").submit().await;
    world.job("resize").priority(9).submit().await;
    world.job("resize").after(ms(5_000)).submit().await;
    let over = world.submit("resize", b"cat.png").await;
    world.cancel(&over).await.unwrap();
    let lane = world.lane("default");
    for (standing, count, first_at) in [
        (LanePlace::Active, 1, Some(start)),
        (LanePlace::Suspended, 1, Some(start + 10)),
        (LanePlace::Waiting, 3, Some(start + 20)),
        (LanePlace::Delayed, 1, Some(start + 5_030)),
        (LanePlace::Finished, 1, None),
        (LanePlace::WaitingChildren, 0, None),
    ] {
        let depth = lane.depth(standing).await;
        assert_eq!((depth.count, depth.first_at), (count, first_at), "{standing}");
    }
    drop((held, suspended));
}

pub(crate) async fn lane_settings_left_out_of_a_change_keep_their_values(world: World) {
    let lane = world.lane("mail");
    let (concurrency, ageing_ms) = (Setting::To(7), Setting::To(1_000));
    lane.configure(ConfigureLaneArgs { concurrency, ageing_ms, ..lane.args() }).await.unwrap();
    let paused = lane.pause().await.settings;
    assert_eq!((paused.state, paused.concurrency, paused.ageing_ms), (LaneState::Paused, Some(7), Some(1_000)));
    let unlimited =
        lane.configure(ConfigureLaneArgs { concurrency: Setting::Default, ..lane.args() }).await.unwrap().settings;
    assert_eq!((unlimited.state, unlimited.concurrency, unlimited.ageing_ms), (LaneState::Paused, None, Some(1_000)));
    assert_eq!(lane.describe().await.settings, unlimited);
}

pub(crate) async fn settings_out_of_range_are_refused_by_their_field(world: World) {
    let lane = world.lane("mail");
    let before = world.contents().await;
    for (args, field) in [
        (ConfigureLaneArgs { concurrency: Setting::To(0), ..lane.args() }, "concurrency"),
        (ConfigureLaneArgs { concurrency: Setting::To(limits::CONCURRENCY_MAX + 1), ..lane.args() }, "concurrency"),
        (ConfigureLaneArgs { ageing_ms: Setting::To(0), ..lane.args() }, "ageing_ms"),
        (ConfigureLaneArgs { ageing_ms: Setting::To(limits::AGEING_MAX_MS + 1), ..lane.args() }, "ageing_ms"),
        (ConfigureLaneArgs { retention_ms: Setting::To(limits::SPAN_MAX_MS + 1), ..lane.args() }, "retention_ms"),
    ] {
        assert_refused!(lane.configure(args).await, "limit_exceeded", field);
    }
    assert_eq!(world.contents().await, before);
    let (concurrency, retention_ms) = (Setting::To(limits::CONCURRENCY_MAX), Setting::To(limits::SPAN_MAX_MS));
    let ageing_ms = Setting::To(limits::AGEING_MAX_MS);
    lane.configure(ConfigureLaneArgs { concurrency, ageing_ms, retention_ms, ..lane.args() }).await.unwrap();
}

pub(crate) async fn a_page_of_lanes_has_at_most_a_thousand(world: World) {
    let list = |limit| ListLanesArgs { namespace: None, after: None, limit, finished: true };
    assert!(world.backend.list_lanes(list(limits::PAGE)).await.is_ok());
    assert_refused!(world.backend.list_lanes(list(limits::PAGE + 1)).await, "limit_exceeded", "limit", 1_000, 1_001);
    assert_refused!(world.backend.list_lanes(list(0)).await, "invalid_input");
}

pub(crate) async fn finished_executions_are_counted_only_on_request(world: World) {
    for lane in ["a", "b"] {
        let over = world.job("send").lane(lane).submit().await;
        world.cancel(&over).await.unwrap();
    }
    world.job("send").lane("b").submit().await;
    let listed = async |finished| {
        let args = ListLanesArgs { namespace: None, after: None, limit: 9, finished };
        let lanes = world.backend.list_lanes(args).await.unwrap().lanes;
        lanes.iter().map(|lane| (lane.lane_id.to_string(), lane.depths.len())).collect::<Vec<_>>()
    };
    assert_eq!(listed(true).await, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    assert_eq!(listed(false).await, [("b".to_owned(), 1)]);
    world.lane("a").pause().await;
    assert_eq!(listed(false).await, [("a".to_owned(), 0), ("b".to_owned(), 1)]);
}

/// Returns the names of the lanes of one namespace or of all, read one per page.
async fn names(world: &World, namespace: Option<&str>) -> Vec<String> {
    let namespace = namespace.map(|name| Namespace::parse(name).unwrap());
    let (mut names, mut after): (_, Option<LaneId>) = (Vec::new(), None);
    loop {
        let args = ListLanesArgs { namespace: namespace.clone(), after, limit: 1, finished: true };
        let page = world.backend.list_lanes(args).await.unwrap();
        names.extend(page.lanes.iter().map(|lane| format!("{}/{}", lane.namespace, lane.lane_id)));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}
