//! Quotas are defined by name, and an invalid definition is refused.

use super::{Quota, named, submit_for};
use crate::prelude::*;

pub(crate) async fn a_quota_is_listed_as_it_was_put(world: World) {
    let second = Quota::new(&world, "second").scope("lane:mail").per("tag:customer").rate(100, 60_000).put().await;
    let first = Quota::new(&world, "first").at_once(2).put().await;
    assert_eq!((first.name.as_str(), first.max_concurrent, first.rate), ("first", Some(2), None));
    assert_eq!(second.scope.to_string(), "lane:mail");
    let again = Quota::new(&world, "first").at_once(2).put().await;
    assert_eq!(again, first, "the same again changes nothing");
    let listed = world.backend.list_quotas(&Namespace::default_name()).await.unwrap().quotas;
    assert_eq!(listed, [first.clone(), second]);
    let info = world.backend.describe_quota(named("first")).await.unwrap();
    assert_eq!((info.policy, info.keys, info.more), (first, vec![], false));
    let other = Namespace::parse("acme").unwrap();
    assert_eq!(world.backend.list_quotas(&other).await.unwrap().quotas, []);
}

pub(crate) async fn a_quota_that_makes_no_sense_is_refused(world: World) {
    let field = async |quota: Quota, code: Code| {
        let refusal = match quota.try_put().await.unwrap_err() {
            EngineError::Refused(refusal) => refusal,
            other => panic!("{other}"),
        };
        assert_eq!(refusal.code, code, "{refusal}");
        refusal.field.unwrap_or_default()
    };
    let quota = || Quota::new(&world, "bad");
    assert_eq!(field(quota(), Code::InvalidQuotaSpec).await, "rate");
    assert_eq!(field(quota().at_once(0), Code::LimitExceeded).await, "max_concurrent");
    assert_eq!(field(quota().rate(0, 1_000), Code::LimitExceeded).await, "rate.limit");
    assert_eq!(field(quota().rate(1, 0), Code::LimitExceeded).await, "rate.window_ms");
    assert_eq!(field(quota().rate(1, 99), Code::LimitExceeded).await, "rate.window_ms");
    let nowhere = format!("flow:{}", FlowId::new());
    assert_eq!(field(quota().scope(&nowhere).at_once(1), Code::FlowNotFound).await, "scope");
    assert_eq!(world.backend.list_quotas(&Namespace::default_name()).await.unwrap().quotas, []);
    assert_refused!(world.backend.describe_quota(named("bad")).await, "quota_policy_not_found");
}

pub(crate) async fn a_namespace_has_a_limited_number_of_quotas(world: World) {
    for nth in 0..limits::QUOTAS {
        Quota::new(&world, &format!("q{nth}")).scope("kind:none").at_once(1).put().await;
    }
    let refused = Quota::new(&world, "more").at_once(1).try_put().await;
    assert_refused!(refused, "limit_exceeded");
    submit_for(&world, "acme", 1).await;
    assert_eq!(super::claim_all(&world).await.len(), 1);
}
