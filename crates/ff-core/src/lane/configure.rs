//! Configuring a lane: its home partition decides, and the other partitions receive a copy.

use std::collections::BTreeMap;

use super::Lane;
use crate::engine_error::{Code, Refusal, check_limit, check_range};
use crate::lane::{LaneSettings, LaneState};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, lane_partition};
use crate::quota::Per;
use crate::rule::view::{Stop, View};
use crate::types::{FairKey, LaneId, Namespace};

/// A request to change the settings of a lane. Settings that are not named do not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigureLaneArgs {
    pub namespace: Namespace,
    pub lane: LaneId,
    pub state: Option<LaneState>,
    pub concurrency: Setting<u32>,
    pub ageing_ms: Setting<u64>,
    pub retention_ms: Setting<u64>,
    pub fair_by: Setting<Per>,
    /// The weights of keys. `Default` removes a weight.
    pub weights: BTreeMap<FairKey, Setting<u32>>,
}

/// The change of one setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Setting<T> {
    #[default]
    Keep,
    /// The default, as if it had never been set.
    Default,
    To(T),
}

impl ConfigureLaneArgs {
    /// Returns a request that changes no setting.
    pub fn new(namespace: Namespace, lane: LaneId) -> Self {
        Self {
            namespace,
            lane,
            state: None,
            concurrency: Setting::Keep,
            ageing_ms: Setting::Keep,
            retention_ms: Setting::Keep,
            fair_by: Setting::Keep,
            weights: BTreeMap::new(),
        }
    }

    /// Returns a request that changes only the state of a lane: paused, draining, or active again.
    pub fn state(namespace: Namespace, lane: LaneId, state: LaneState) -> Self {
        Self { state: Some(state), ..Self::new(namespace, lane) }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        within("concurrency", self.concurrency.map(u64::from), 1, limits::CONCURRENCY_MAX.into())?;
        within("ageing_ms", self.ageing_ms, 1, limits::AGEING_MAX_MS)?;
        within("retention_ms", self.retention_ms, 0, limits::SPAN_MAX_MS)?;
        check_weights(self.weights.len())?;
        for (key, weight) in &self.weights {
            if key.is_empty() {
                return Err(Refusal::invalid("weights", "a key must not be empty"));
            }
            within(&format!("weights.{key}"), weight.map(u64::from), 1, limits::WEIGHT_MAX.into())?;
        }
        Ok(())
    }
}

impl<T: Copy> Setting<T> {
    fn map<U>(self, map: impl FnOnce(T) -> U) -> Setting<U> {
        match self {
            Self::Keep => Setting::Keep,
            Self::Default => Setting::Default,
            Self::To(value) => Setting::To(map(value)),
        }
    }
}

fn within(field: &str, setting: Setting<u64>, low: u64, high: u64) -> Result<(), Refusal> {
    match setting {
        Setting::To(sent) => check_range(field, sent, low, high),
        _ => Ok(()),
    }
}

impl Command for ConfigureLaneArgs {
    type Reply = Lane;

    fn check(&self, _: &PartitionConfig) -> Result<(), Refusal> {
        self.check()
    }

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        lane_partition(&self.lane.within(&self.namespace), partitions)
    }

    /// Changes the named settings and leaves the rest. A repeated request changes nothing, so that a change whose
    /// copies did not all arrive can simply be repeated.
    ///
    /// After a change of the limit, the held counts are unknown until every partition is counted again.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Lane>, Stop> {
        let now = at.now;
        let key = self.lane.within(&self.namespace);
        let home = self.partition(&at.partitions);
        let known = view.lane(home, &key)?.cloned();
        let before = known.unwrap_or_else(|| Lane::plain(self.namespace.clone(), self.lane.clone(), now));
        let mut after = before.clone();
        let settings = &mut after.settings;
        settings.state = self.state.unwrap_or(settings.state);
        set(&mut settings.concurrency, &self.concurrency);
        set(&mut settings.ageing_ms, &self.ageing_ms);
        set(&mut settings.retention_ms, &self.retention_ms);
        self.weigh(settings)?;
        after.keyed |= after.settings.fair_by.is_some();
        if after.settings == before.settings {
            return Ok(Decision::of(before, None));
        }
        if after.settings.concurrency != before.settings.concurrency {
            after.shares.clear();
        }
        (after.revision, after.changed_at) = (before.revision + 1, now);
        Ok(Decision::about_lane(after.clone(), home, Some(after)))
    }
}

impl ConfigureLaneArgs {
    /// Changes the key by which the lane queues its work, and the weights of keys. A change to another key drops all
    /// weights.
    fn weigh(&self, settings: &mut LaneSettings) -> Result<(), Refusal> {
        let before = settings.fair_by.clone();
        set(&mut settings.fair_by, &self.fair_by);
        if settings.fair_by != before {
            settings.weights.clear();
        }
        for (key, weight) in &self.weights {
            match weight {
                Setting::Keep => {}
                Setting::Default => drop(settings.weights.remove(key)),
                Setting::To(_) if settings.fair_by.is_none() => {
                    return Err(Refusal::invalid(
                        "weights",
                        "the lane has no fair_by, and so no keys that weigh anything",
                    ));
                }
                Setting::To(weight) => drop(settings.weights.insert(key.clone(), *weight)),
            }
        }
        check_weights(settings.weights.len())
    }
}

fn check_weights(sent: usize) -> Result<(), Refusal> {
    check_limit(Code::LimitExceeded, "weights", limits::LANE_WEIGHTS, sent)
}

fn set<T: Clone>(known: &mut Option<T>, to: &Setting<T>) {
    match to {
        Setting::Keep => {}
        Setting::Default => *known = None,
        Setting::To(value) => *known = Some(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::hint::Hint;
    use crate::execution::contracts::{CancelArgs, ReplayArgs, SubmitArgs};
    use crate::lane::contracts::CopyLaneArgs;
    use crate::lane::fixture::{LaneFixture, lane};

    #[test]
    fn a_paused_lane_hands_out_no_work_until_it_is_resumed() {
        let mut fixture = LaneFixture::new();
        fixture.stands(LaneState::Paused);
        let id = fixture.submit(2, 0).unwrap();
        assert_eq!(fixture.claim(2, 1).tasks, []);
        assert_eq!(fixture.model.find(&id).unwrap().public_state().as_str(), "waiting", "pausing moves nothing");
        let open = fixture.ask(ConfigureLaneArgs { state: Some(LaneState::Active), ..lane() }).unwrap();
        let mut hints = fixture.hints.clone();
        fixture.ask(CopyLaneArgs { partition: 2, lane: open }).unwrap();
        hints.append(&mut fixture.hints);
        assert!(matches!(hints[..], [Hint::Ready { partition: 2, .. }]), "{hints:?}");
        assert_eq!(fixture.claim(2, 1).tasks.len(), 1);
    }

    #[test]
    fn a_draining_lane_takes_no_new_work_and_hands_out_what_is_there() {
        let mut fixture = LaneFixture::new();
        let work = fixture.work(1);
        fixture.ask(work.clone()).unwrap();
        let over = fixture.submit(1, 0).unwrap();
        fixture.ask(CancelArgs { execution_id: over, reason: None, requested_by: None }).unwrap();
        fixture.stands(LaneState::Draining);
        let refusal = fixture.submit(1, 0).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::NotRunnable, Some("lane")));
        assert!(refusal.to_string().contains("draining"), "{refusal}");
        assert!(fixture.ask(work).unwrap().duplicate, "what was handed in before is answered as before");
        let replay = ReplayArgs::new(over);
        assert_eq!(fixture.ask(replay).unwrap_err().code, Code::NotRunnable);
        assert_eq!(fixture.claim(1, 9).tasks.len(), 1);
    }

    #[test]
    fn lane_settings_not_named_stay_and_a_repeat_changes_nothing() {
        let mut fixture = LaneFixture::new();
        let first = fixture.limit(3);
        let second = fixture.stands(LaneState::Paused);
        assert_eq!((second.revision, second.settings.concurrency), (first.revision + 1, Some(3)));
        assert_eq!(fixture.stands(LaneState::Paused).revision, second.revision);
        let third = fixture.configure(ConfigureLaneArgs { concurrency: Setting::Default, ..lane() });
        assert_eq!((third.settings.concurrency, third.settings.state), (None, LaneState::Paused));
    }

    #[test]
    fn work_is_kept_as_its_lane_says_when_it_is_submitted() {
        let mut fixture = LaneFixture::new();
        let before = fixture.submit(0, 0).unwrap();
        fixture.configure(ConfigureLaneArgs { retention_ms: Setting::To(5_000), ..lane() });
        let after = fixture.submit(0, 0).unwrap();
        let mut own = fixture.work(0);
        own.policy.retention_ms = Some(7);
        let own = fixture.ask(SubmitArgs { ..own }).unwrap().execution_id;
        let retention_ms = |id| fixture.model.find(id).unwrap().retention_ms();
        assert_eq!((retention_ms(&before), retention_ms(&after), retention_ms(&own)), (limits::RETENTION_MS, 5_000, 7));
    }

    #[test]
    fn old_work_goes_before_better_work_where_the_lane_weighs_age() {
        let mut fixture = LaneFixture::new();
        let old = fixture.submit(3, 0).unwrap();
        fixture.now = fixture.now + 2_001;
        let better = fixture.submit(3, 2).unwrap();
        let first = |fixture: &mut LaneFixture| fixture.claim(3, 1).tasks[0].execution_id;
        let mut strict = LaneFixture::new();
        (strict.model, strict.now) = (fixture.model.clone(), fixture.now);
        assert_eq!(first(&mut strict), better);
        fixture.configure(ConfigureLaneArgs { ageing_ms: Setting::To(1_000), ..lane() });
        assert_eq!(first(&mut fixture), old, "it has waited for longer than two steps weigh");
        assert_eq!(first(&mut fixture), better);
    }

    #[test]
    fn settings_are_taken_at_their_limits_and_refused_past_them() {
        let lane = || ConfigureLaneArgs::new(Namespace::default_name(), LaneId::default_name());
        let limited = |to| ConfigureLaneArgs { concurrency: Setting::To(to), ..lane() }.check();
        assert_eq!((limited(1), limited(limits::CONCURRENCY_MAX)), (Ok(()), Ok(())));
        assert_eq!(limited(0).unwrap_err().limit, Some((1, 0)));
        assert_eq!(limited(limits::CONCURRENCY_MAX + 1).unwrap_err().limit, Some((1_000_000, 1_000_001)));
        let ageing = |to| ConfigureLaneArgs { ageing_ms: Setting::To(to), ..lane() }.check();
        assert_eq!((ageing(1), ageing(limits::AGEING_MAX_MS)), (Ok(()), Ok(())));
        assert_eq!(ageing(limits::AGEING_MAX_MS + 1).unwrap_err().field.as_deref(), Some("ageing_ms"));
        let retention = |to| ConfigureLaneArgs { retention_ms: Setting::To(to), ..lane() }.check();
        assert_eq!((retention(0), retention(limits::SPAN_MAX_MS)), (Ok(()), Ok(())));
        assert_eq!(retention(limits::SPAN_MAX_MS + 1).unwrap_err().code, Code::LimitExceeded);
    }
}
