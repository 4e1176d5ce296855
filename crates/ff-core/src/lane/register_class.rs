//! Registering requirement classes. A lane has a queue for each class, so that a claim looks only at work that its
//! worker can run. The lane's home decides on new classes and limits their number. They are copied from there to the
//! partitions that have such work.

use std::collections::BTreeSet;

use super::Lane;
use crate::engine_error::{Code, Refusal};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, lane_partition};
use crate::rule::view::{Stop, View};
use crate::types::{LaneId, Namespace, RequirementClass};

/// A request to add requirement classes to a lane, at its home. Existing classes stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterClassesArgs {
    pub namespace: Namespace,
    pub lane: LaneId,
    pub classes: BTreeSet<RequirementClass>,
}

impl Command for RegisterClassesArgs {
    type Reply = Lane;

    fn partition(&self, partitions: &PartitionConfig) -> u16 {
        lane_partition(&self.lane.within(&self.namespace), partitions)
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<Lane>, Stop> {
        let home = self.partition(&at.partitions);
        let known = view.lane(home, &self.lane.within(&self.namespace))?.cloned();
        let before = known.unwrap_or_else(|| Lane::plain(self.namespace.clone(), self.lane.clone(), at.now));
        if self.classes.is_subset(&before.classes) {
            return Ok(Decision::of(before, None));
        }
        let after = Lane { classes: &before.classes | &self.classes, ..before };
        if after.classes.len() > limits::LANE_CLASSES {
            return Err(too_many(&self.lane, after.classes.len()).into());
        }
        Ok(Decision::about_lane(after.clone(), home, Some(after)))
    }
}

/// Returns the refusal of a requirement class over the limit.
fn too_many(lane: &LaneId, sent: usize) -> Refusal {
    let field = "policy.routing_requirements.required_capabilities";
    let (limit, refusal) =
        (limits::LANE_CLASSES, Refusal::over_limit(Code::LimitExceeded, field, limits::LANE_CLASSES, sent));
    refusal.because(format!(
        "the lane {lane} has executions with {limit} different sets of requirements, and takes no others; use fewer, or another lane"
    ))
}

/// The field that a refusal of an unknown class names.
const UNKNOWN_CLASS: &str = "requirement_class";

/// Refuses new work of a class that the partition does not know for its lane. The class is then registered, and the
/// work is submitted again.
pub(crate) fn check_class(
    view: &dyn View,
    partition: u16,
    (namespace, lane): (&Namespace, &LaneId),
    class: &RequirementClass,
) -> Result<(), Stop> {
    if class.is_plain() {
        return Ok(());
    }
    match view.lane(partition, &lane.within(namespace))? {
        Some(known) if known.classes.contains(class) => Ok(()),
        _ => {
            let why = format!("{lane} does not know the requirements {class} here yet");
            Err(Refusal::new(Code::NotRunnable).at(UNKNOWN_CLASS).because(why).into())
        }
    }
}

/// Returns whether new work was refused only because its class is not registered yet.
pub fn is_unknown_class(refusal: &Refusal) -> bool {
    refusal.code == Code::NotRunnable && refusal.field.as_deref() == Some(UNKNOWN_CLASS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::contracts::SubmitArgs;
    use crate::lane::LaneState;
    use crate::lane::contracts::CopyLaneArgs;
    use crate::lane::fixture::{LaneFixture, lane};
    use crate::lease::Holder;
    use crate::lease::contracts::ClaimArgs;
    use crate::types::{Capability, ExecutionId, Priority};

    fn set(words: &[&str]) -> BTreeSet<Capability> {
        words.iter().map(|word| Capability::parse(word).unwrap()).collect()
    }

    fn register(fixture: &mut LaneFixture, classes: impl IntoIterator<Item = String>) -> Result<Lane, Refusal> {
        let classes = classes.into_iter().map(|class| RequirementClass::parse(&class).unwrap()).collect();
        fixture.ask(RegisterClassesArgs { namespace: lane().namespace, lane: lane().lane, classes })
    }

    fn submit(fixture: &mut LaneFixture, required: &[&str], priority: i64) -> Result<ExecutionId, Refusal> {
        let mut work = SubmitArgs { priority: Priority::new(priority).unwrap(), ..fixture.work(1) };
        work.policy.routing_requirements.required_capabilities = set(required);
        Ok(fixture.ask(work)?.execution_id)
    }

    fn claim(fixture: &mut LaneFixture, capabilities: &[&str], max: usize) -> Vec<ExecutionId> {
        let holder = Holder::parse("w", "w-1").unwrap();
        let args = ClaimArgs { max, capabilities: set(capabilities), ..ClaimArgs::new(1, holder) };
        fixture.ask(args).unwrap().tasks.iter().map(|task| task.execution_id).collect()
    }

    #[test]
    fn work_of_a_class_waits_until_its_partition_knows_the_class() {
        let mut fixture = LaneFixture::new();
        let refusal = submit(&mut fixture, &["gpu"], 0).unwrap_err();
        assert!(is_unknown_class(&refusal), "{refusal}");
        let known = register(&mut fixture, ["gpu".into()]).unwrap();
        assert!(submit(&mut fixture, &["gpu"], 0).is_err(), "the partition does not know it yet");
        fixture.ask(CopyLaneArgs { partition: 1, lane: known }).unwrap();
        submit(&mut fixture, &["gpu"], 0).unwrap();
    }

    #[test]
    fn a_worker_is_handed_what_it_can_run_in_the_usual_order_and_nothing_else() {
        for (capabilities, expected) in [
            (&["region=eu", "gpu"][..], &["both", "plain", "gpu"][..]),
            (&["gpu"], &["plain", "gpu"]),
            (&[], &["plain"]),
            (&["ssd", "other"], &["ssd", "plain"]),
        ] {
            let mut fixture = LaneFixture::new();
            let known = register(&mut fixture, ["gpu".into(), "gpu,region=eu".into(), "ssd".into()]).unwrap();
            fixture.ask(CopyLaneArgs { partition: 1, lane: known }).unwrap();
            let submitted = [
                ("gpu", submit(&mut fixture, &["gpu"], 1).unwrap()),
                ("both", submit(&mut fixture, &["region=eu", "gpu"], 5).unwrap()),
                ("plain", submit(&mut fixture, &[], 3).unwrap()),
                ("ssd", submit(&mut fixture, &["ssd"], 9).unwrap()),
            ];
            let name = |id: ExecutionId| submitted.iter().find(|(_, of)| *of == id).map(|(name, _)| *name).unwrap();
            let taken: Vec<_> = claim(&mut fixture, capabilities, 9).into_iter().map(name).collect();
            assert_eq!(taken, expected);
        }
    }

    #[test]
    fn classes_stay_when_settings_change_and_settings_when_classes_come() {
        let mut fixture = LaneFixture::new();
        let first = register(&mut fixture, ["gpu".into()]).unwrap();
        let paused = fixture.stands(LaneState::Paused);
        assert_eq!(paused.classes, first.classes);
        fixture.ask(CopyLaneArgs { partition: 1, lane: first }).unwrap();
        let second = register(&mut fixture, ["ssd".into()]).unwrap();
        assert_eq!((second.revision, second.settings.state), (paused.revision, LaneState::Paused));
        fixture.ask(CopyLaneArgs { partition: 1, lane: second }).unwrap();
        submit(&mut fixture, &["gpu"], 0).unwrap();
        submit(&mut fixture, &["ssd"], 0).unwrap();
        assert_eq!(claim(&mut fixture, &["gpu", "ssd"], 9), [], "it is paused here as well");
    }

    #[test]
    fn a_lane_has_so_many_classes_and_no_more() {
        let mut fixture = LaneFixture::new();
        let class = |nth: usize| format!("c{nth}");
        register(&mut fixture, (0..limits::LANE_CLASSES).map(class)).unwrap();
        let refusal = register(&mut fixture, [class(limits::LANE_CLASSES)]).unwrap_err();
        assert_eq!((refusal.code, refusal.limit), (Code::LimitExceeded, Some((256, 257))));
        assert_eq!(refusal.field.as_deref(), Some("policy.routing_requirements.required_capabilities"));
        register(&mut fixture, [class(3)]).unwrap();
    }
}
