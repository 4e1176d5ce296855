//! Budgets are defined by name, and an invalid definition is refused.

use super::{named, put, try_put};
use crate::prelude::*;

pub(crate) async fn a_budget_is_listed_as_it_was_put(world: World) {
    let json = r#"{"scope":"kind:send","limits":{"tokens":{"hard":10,"soft":8},"calls":{"soft":1}},
        "reset":{"calendar":{"unit":"day","time_zone":"Europe/Berlin"}},"on_hard_limit":"fail",
        "estimate":{"*":{"tokens":2}}}"#;
    let budget = put(&world, "daily", json).await;
    assert_eq!(put(&world, "daily", json).await, budget, "the same again changes nothing");
    assert_eq!(
        world.backend.list_budgets(&Namespace::default_name()).await.unwrap().budgets,
        std::slice::from_ref(&budget)
    );
    let info = world.backend.describe_budget(named("daily")).await.unwrap();
    assert_eq!((info.budget.clone(), info.waiting), (budget, 0));
    let until = info.period.until.unwrap();
    assert!(info.period.from <= world.clock.now() && world.clock.now() < until, "{:?}", info.period);
    assert!(!world.backend.delete_budget(named("daily")).await.unwrap().already);
    assert!(world.backend.delete_budget(named("daily")).await.unwrap().already);
    assert_refused!(world.backend.describe_budget(named("daily")).await, "budget_not_found");
    assert_refused!(world.backend.reset_budget(named("daily")).await, "budget_not_found");
}

pub(crate) async fn a_budget_that_makes_no_sense_is_refused(world: World) {
    let field = async |json: &str| match try_put(&world, "bad", json).await.unwrap_err() {
        EngineError::Refused(refusal) => refusal.field.unwrap_or_default(),
        other => panic!("{other}"),
    };
    let with = |more: &str| format!(r#"{{"scope":"namespace","limits":{{"tokens":{{"hard":10}}}},{more}}}"#);
    assert_eq!(field(r#"{"scope":"namespace","limits":{}}"#).await, "limits");
    assert_eq!(field(&with(r#""estimate":{"*":{"tokens":11}}"#)).await, "estimate.*.tokens");
    assert_eq!(field(&with(r#""estimate":{"*":{"calls":1}}"#)).await, "estimate.*.calls");
    assert_eq!(field(&with(r#""reset":{"interval":{"every_ms":999}}"#)).await, "reset.interval.every_ms");
    let zone = r#""reset":{"calendar":{"unit":"day","time_zone":"Mars/Base"}}"#;
    assert_eq!(field(&with(zone)).await, "reset.calendar.time_zone");
    let nowhere = format!(r#"{{"scope":"flow:{}","limits":{{"tokens":{{"hard":10}}}}}}"#, FlowId::new());
    assert_eq!(field(&nowhere).await, "scope");
    assert_eq!(world.backend.list_budgets(&Namespace::default_name()).await.unwrap().budgets, []);
}
