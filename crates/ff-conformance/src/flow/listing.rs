//! Flows are listed by state, kind, label and tenant, and stay listed after their end.

use crate::prelude::*;

pub(crate) async fn flows_are_listed_newest_first_a_page_at_a_time(world: World) {
    let mut submitted = Vec::new();
    for nth in 0..9 {
        submitted.push(world.graph("a").submit().await.id);
        world.clock.slip(ms(nth % 2));
    }
    let all = all(&world, wanted(1_000)).await;
    assert_eq!(all.len(), 9);
    for limit in [1, 2, 4, 9] {
        let (mut listed, mut after): (Vec<FlowId>, Option<FlowCursor>) = (vec![], None);
        loop {
            let page = list(&world, ListFlowsArgs { after, ..wanted(limit) }).await;
            assert!(page.flows.len() <= limit);
            listed.extend(page.flows.iter().map(|flow| flow.flow_id));
            let Some(next) = page.next else { break };
            after = Some(next.to_string().parse().unwrap());
        }
        assert_eq!(listed, all, "pages of {limit}");
    }
    let mut times = Vec::new();
    for id in &all {
        times.push(world.backend.describe_flow(id).await.unwrap().created_at);
    }
    assert!(times.is_sorted_by(|newer, older| newer >= older));
}

pub(crate) async fn flows_are_listed_by_their_state(world: World) {
    let [open, running, completed, failed, cancelled] = [(); 5].map(|()| world.graph("a"));
    let open = open.submit().await;
    let flows = [running.submit().await, completed.submit().await, failed.submit().await, cancelled.submit().await];
    let [running, completed, failed, cancelled] = &flows;
    let started = world.worker("hand").claim_up_to(100).await;
    let held = |flow: &Flow| started.iter().find(|held| held.id() == flow.member("a")).unwrap();
    held(completed).complete(b"done").await.unwrap();
    held(failed).fail_for_good().await;
    world.revoke(&open.member("a")).await.unwrap();
    cancelled.cancel(CancelPolicy::CancelAll).await.unwrap();
    let untouched = world.held_open().await;
    let by = async |state| all(&world, ListFlowsArgs { state: Some(state), ..wanted(10) }).await;
    assert_eq!(by(FlowState::Open).await, [untouched.id]);
    assert_eq!(by(FlowState::Completed).await, [completed.id], "what has ended is still listed");
    assert_eq!(by(FlowState::Failed).await, [failed.id]);
    assert_eq!(by(FlowState::Cancelled).await, [cancelled.id]);
    let mut both = vec![running.id, open.id];
    both.sort_unstable();
    let mut listed = by(FlowState::Running).await;
    listed.sort_unstable();
    assert_eq!(listed, both, "what has once started runs");
}

pub(crate) async fn flows_are_listed_by_kind_tag_and_tenant(world: World) {
    let submit = async |namespace: &str, kind: &str, team: &str| {
        let mut args = world.graph("a").args();
        args.header.namespace = Namespace::parse(namespace).unwrap();
        args.header.kind = Kind::parse(kind).unwrap();
        args.header.tags = tags(&[("team", team)]);
        world.clock.slip(ms(1));
        world.backend.submit_flow(args).await.unwrap().flow_id
    };
    let first = submit("default", "etl", "data").await;
    let second = submit("default", "train", "data").await;
    let third = submit("default", "etl", "web").await;
    let theirs = submit("acme", "etl", "data").await;
    let kind = Some(Kind::parse("etl").unwrap());
    let tag = Some((TagKey::parse("team").unwrap(), TagValue::parse("data").unwrap()));
    assert_eq!(all(&world, wanted(10)).await, [third, second, first]);
    assert_eq!(all(&world, ListFlowsArgs { kind: kind.clone(), ..wanted(10) }).await, [third, first]);
    assert_eq!(all(&world, ListFlowsArgs { tag: tag.clone(), ..wanted(10) }).await, [second, first]);
    assert_eq!(all(&world, ListFlowsArgs { kind, tag: tag.clone(), ..wanted(1) }).await, [first]);
    let namespace = Namespace::parse("acme").unwrap();
    assert_eq!(all(&world, ListFlowsArgs { namespace, tag, ..wanted(10) }).await, [theirs]);
}

pub(crate) async fn new_flow_tags_are_merged_with_the_existing_tags(world: World) {
    let flow = world.graph("a").submit().await;
    let set = async |pairs: &[(&str, &str)]| {
        world.backend.set_flow_tags(SetFlowTagsArgs { flow_id: flow.id, tags: tags(pairs) }).await.unwrap().tags
    };
    assert_eq!(set(&[("team", "data"), ("stage", "test")]).await.len(), 2);
    assert_eq!(set(&[("stage", "live")]).await, tags(&[("team", "data"), ("stage", "live")]));
    let tag = |value: &str| Some((TagKey::parse("stage").unwrap(), TagValue::parse(value).unwrap()));
    assert_eq!(all(&world, ListFlowsArgs { tag: tag("live"), ..wanted(10) }).await, [flow.id]);
    assert_eq!(all(&world, ListFlowsArgs { tag: tag("test"), ..wanted(10) }).await, []);
    flow.run().await;
    assert_eq!(set(&[("seen", "yes")]).await.len(), 3, "what has ended may still be labelled");
    let before = world.contents().await;
    assert_eq!(set(&[("seen", "yes")]).await, flow.info().await.tags);
    assert_eq!(world.contents().await, before);
}

pub(crate) async fn a_flow_takes_thirty_two_tags_in_total(world: World) {
    let flow = world.graph("a").submit().await;
    let named = |from: usize, until: usize| {
        let tag = |nth| (TagKey::parse(&format!("tag-{nth}")).unwrap(), TagValue::parse("value").unwrap());
        SetFlowTagsArgs { flow_id: flow.id, tags: (from..until).map(tag).collect() }
    };
    world.backend.set_flow_tags(named(0, 20)).await.unwrap();
    assert_eq!(world.backend.set_flow_tags(named(10, 32)).await.unwrap().tags.len(), 32);
    let answer = world.writes_nothing(world.backend.set_flow_tags(named(32, 33))).await;
    assert_refused!(answer, "limit_exceeded", "tags", 32, 33);
    let unknown = SetFlowTagsArgs { flow_id: FlowId::new(), ..named(0, 1) };
    assert_refused!(world.backend.set_flow_tags(unknown).await, "flow_not_found");
}

pub(crate) async fn a_listing_asks_for_one_to_a_thousand(world: World) {
    assert_refused!(world.backend.list_flows(wanted(0)).await, "invalid_input");
    assert_refused!(world.backend.list_flows(wanted(1_001)).await, "limit_exceeded");
    assert_eq!(list(&world, wanted(1_000)).await, FlowsPage { flows: vec![], next: None });
}

fn wanted(limit: usize) -> ListFlowsArgs {
    ListFlowsArgs { limit, ..ListFlowsArgs::new(Namespace::default_name()) }
}

fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| (TagKey::parse(key).unwrap(), TagValue::parse(value).unwrap())).collect()
}

async fn list(world: &World, args: ListFlowsArgs) -> FlowsPage {
    world.backend.list_flows(args).await.unwrap()
}

/// Returns the ids of all flows that match, read page by page.
async fn all(world: &World, mut args: ListFlowsArgs) -> Vec<FlowId> {
    let mut ids = Vec::new();
    loop {
        let page = list(world, args.clone()).await;
        ids.extend(page.flows.iter().map(|flow| flow.flow_id));
        if page.next.is_none() {
            return ids;
        }
        args.after = page.next;
    }
}
