//! Explaining a lane: how much of its work does not run, grouped by cause.

use super::action::suggest;
use super::{LANE_COUNT_MAX, LaneCause, LaneExplanation, TermKind};
use crate::lane::LaneState;
use crate::lane::contracts::{LaneInfo, LanePlace};
use crate::worker::Worker;

/// Explains why executions of a lane do not run, the cause with the most executions first. `workers` are the registered
/// workers of its namespace.
pub fn explain_lane(lane: LaneInfo, workers: &[Worker]) -> LaneExplanation {
    let count = |place| lane.depths.get(&place).map_or(0, |depth| depth.count);
    let (name, waiting, active) = (&lane.lane_id, count(LanePlace::Waiting), count(LanePlace::Active));
    let serving = workers.iter().filter(|worker| worker.lanes.contains(name)).count();
    let limit = lane.settings.concurrency.filter(|limit| active >= u64::from(*limit));
    let for_a_worker = match (lane.settings.state, limit) {
        (LaneState::Paused, _) => (TermKind::Lane, "the lane is paused".to_owned()),
        (_, Some(limit)) => (TermKind::LaneLimit, format!("the lane runs {active} of at most {limit}")),
        _ if serving == 0 => (TermKind::Workers, "no registered worker takes the lane".to_owned()),
        _ => (TermKind::Position, format!("they wait for one of {serving} workers")),
    };
    let candidates = [
        (waiting, for_a_worker.0, for_a_worker.1),
        (count(LanePlace::BlockedByOperator), TermKind::Hold, "operators hold them".to_owned()),
        (
            count(LanePlace::BlockedByRoute),
            TermKind::Requirements,
            "no connected worker has what they require, or they are assigned to one".into(),
        ),
        (
            count(LanePlace::BlockedByQuota),
            TermKind::Quota,
            "quotas are used up, or another of a singleton key lives".into(),
        ),
        (count(LanePlace::BlockedByBudget), TermKind::Budget, "budgets are used up".into()),
        (count(LanePlace::WaitingChildren), TermKind::Dependencies, "others of their flows come first".into()),
        (count(LanePlace::Suspended), TermKind::Suspension, "they wait for signals or people".into()),
        (count(LanePlace::Delayed), TermKind::Delay, "they start later".into()),
    ];
    let mut causes: Vec<_> = candidates
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, term, detail)| {
            let more = count > LANE_COUNT_MAX;
            LaneCause { term, count: count.min(LANE_COUNT_MAX), more, detail }
        })
        .collect();
    // The sort is stable: of causes with the same count, the one that an execution meets last stays first, because that
    // is the one to act on.
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    let summary = match causes.first() {
        None if active == 0 => format!("Nothing waits in lane {name}, and nothing of it runs."),
        None => format!("Nothing waits in lane {name}; {active} run."),
        Some(LaneCause { count, more, detail, .. }) => {
            let over = if *more { "Over " } else { "" };
            format!("{over}{count} of lane {name} do not run, because {detail}; {active} run.")
        }
    };
    let actions = causes.iter().filter_map(|cause| {
        let (what, command) = match cause.term {
            TermKind::Lane => ("resume the lane", format!("ff lanes resume {name}")),
            TermKind::LaneLimit => {
                let more = lane.settings.concurrency.unwrap_or_default().saturating_add(1);
                ("raise its limit", format!("ff lanes set {name} --concurrency {more}"))
            }
            TermKind::Workers => ("start a worker", format!("ff worker --lane {name} --exec COMMAND")),
            TermKind::Hold => ("release what is held", format!("ff release --filter lane={name}")),
            TermKind::Requirements => ("see which", format!("ff list --lane {name} --reason route")),
            TermKind::Quota => ("see which", format!("ff list --lane {name} --reason quota")),
            TermKind::Budget => ("see which", format!("ff list --lane {name} --reason budget")),
            TermKind::Suspension => ("see what they wait for", "ff suspensions".to_owned()),
            _ => return None,
        };
        Some(suggest(&lane.namespace, what, command))
    });
    let actions = actions.collect();
    LaneExplanation {
        namespace: lane.namespace,
        lane_id: lane.lane_id.clone(),
        settings: lane.settings,
        active,
        summary,
        causes,
        actions,
    }
}
