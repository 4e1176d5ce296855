//! Claiming: a worker takes waiting executions, in the order of their lane.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::admission::{Admission, AdmissionOutcome, AdmissionRequest};
use crate::backend::entropy::Nonce;
use crate::engine_error::{Code, Refusal, check_limit, check_range};
use crate::event::{Event, EventKind};
use crate::execution::{Attempt, AttemptSlot, Execution, FinishedBy, Origin, Phase, Tags};
use crate::fairness::{self, TurnWrite};
use crate::flow::contracts::TaskFlow;
use crate::lane::Lane;
use crate::lease::{Fence, Holder, Lease};
use crate::limits;
use crate::operation::command::{Command, Conditions, Decision};
use crate::partition::{PartitionConfig, check_partition};
use crate::policy::Policy;
use crate::rule::change::Change;
use crate::rule::view::{EligibleQuery, Stop, View, require_all};
use crate::suspension::contracts::Resumption;
use crate::trace::TraceContext;
use crate::types::{
    AttemptId, AttemptIndex, Capability, ExecutionId, FairKey, FlowId, Kind, LaneId, LeaseId, Namespace, Priority,
    RequirementClass, TimestampMs,
};
use crate::worker::contracts::check_capabilities;

/// A request of a worker for executions of one lane on one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimArgs {
    pub partition: u16,
    pub namespace: Namespace,
    pub lane: LaneId,
    /// Kinds to claim; any kind when empty.
    pub kinds: Vec<Kind>,
    /// Capabilities of the worker. It receives only work that requires no others.
    pub capabilities: BTreeSet<Capability>,
    /// Whether to take only executions that are assigned to the holder's worker instance.
    pub assigned: bool,
    pub max: usize,
    pub holder: Holder,
    pub lease_ttl_ms: u64,
}

impl ClaimArgs {
    /// Returns a claim of one execution of any kind from the lane `default` of the namespace `default`.
    pub fn new(partition: u16, holder: Holder) -> Self {
        Self {
            partition,
            namespace: Namespace::default_name(),
            lane: LaneId::default_name(),
            kinds: vec![],
            capabilities: BTreeSet::new(),
            assigned: false,
            max: 1,
            holder,
            lease_ttl_ms: limits::LEASE_TTL_MS,
        }
    }

    pub fn check(&self) -> Result<(), Refusal> {
        check_claim(self.max, &self.kinds, self.lease_ttl_ms)?;
        check_capabilities(&self.capabilities)
    }
}

/// Refuses a claim with a count, a number of kinds or a lease duration that is out of range.
pub fn check_claim(max: usize, kinds: &[Kind], lease_ttl_ms: u64) -> Result<(), Refusal> {
    if max == 0 {
        return Err(Refusal::invalid("max", "must be at least 1"));
    }
    check_limit(Code::LimitExceeded, "max", limits::CLAIM, max)?;
    check_limit(Code::LimitExceeded, "kinds", limits::CLAIM_KINDS, kinds.len())?;
    check_ttl(lease_ttl_ms)
}

pub(super) fn check_ttl(ttl_ms: u64) -> Result<(), Refusal> {
    check_range("lease_ttl_ms", ttl_ms, limits::LEASE_TTL_MIN_MS, limits::LEASE_TTL_MAX_MS)
}

/// A claimed execution, as its worker receives it. Payload, signals, inputs and steps are separate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub execution_id: ExecutionId,
    pub namespace: Namespace,
    pub lane_id: LaneId,
    pub kind: Kind,
    pub priority: Priority,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    pub policy: Policy,
    pub fence: Fence,
    pub attempt_index: AttemptIndex,
    pub attempt: Origin,
    /// True if an attempt that was started before continues.
    pub resumed: bool,
    pub lease_ttl_ms: u64,
    pub lease_expires_at: TimestampMs,
    pub created_at: TimestampMs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<TimestampMs>,
    /// The end of its last suspension, with the signals that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumption: Option<Resumption>,
    /// Its place in a flow, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<TaskFlow>,
    /// The trace of the submission, the same for every attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
}

/// The decision of a claim: the executions taken, and the state of the lane now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimDecision {
    pub tasks: Vec<Task>,
    /// The best execution of these kinds still waiting on this partition.
    pub next: Option<Head>,
    /// True if work waits that can be taken only with a grant of the lane's home, because the lane has a limit.
    pub limited: bool,
    /// Executions that quota policies have to admit before they are taken.
    pub admissions: Vec<AdmissionRequest>,
}

/// Sort key of a waiting execution; the smallest is claimed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Head {
    /// Inverted priority: the highest priority has the smallest number.
    pub behind: u16,
    pub created_at: TimestampMs,
}

impl Head {
    pub fn new(priority: Priority, created_at: TimestampMs) -> Self {
        Self { behind: limits::PRIORITY_MAX - priority.get(), created_at }
    }

    /// Returns the sort key of an execution among others of its lane. With a fairness key, priority and age count only
    /// among executions of that key.
    pub fn of(execution: &Execution) -> Self {
        let is_fair = !execution.queue_key().is_empty();
        if is_fair { Self::fair(0) } else { Self::new(execution.priority, execution.created_at) }
    }

    /// Returns the head of a fair lane on a partition. Turns decide the order within a partition; partitions are
    /// compared by the virtual time that a claim has used on each.
    pub fn fair(used: u64) -> Self {
        Self { behind: u16::MAX, created_at: TimestampMs(i64::try_from(used).unwrap_or(i64::MAX)) }
    }

    /// Returns whether this is the head of a fair lane.
    pub fn is_fair(self) -> bool {
        self.behind == u16::MAX
    }
}

impl Command for ClaimArgs {
    type Reply = ClaimDecision;

    fn check(&self, partitions: &PartitionConfig) -> Result<(), Refusal> {
        check_partition(self.partition, partitions).and(self.check())
    }

    fn partition(&self, _: &PartitionConfig) -> u16 {
        self.partition
    }

    /// Takes up to `max` executions of a lane on a partition: by priority, then age, then id, unless the lane has
    /// ageing or is fair. Nothing is taken from a paused lane, and nothing from a lane with a limit without a grant.
    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<ClaimDecision>, Stop> {
        let lane = self.lane.within(&self.namespace);
        let quotas = || view.quotas(self.partition, &self.namespace);
        let lane_known = view.lane(self.partition, &lane).map(drop);
        // Most lanes are not configured. While the record of the lane is missing, the query assumes the defaults, so
        // that the record and the waiting executions are reported as one miss.
        let wanted = eligible(self, view.lane(self.partition, &lane).ok().flatten());
        require_all([lane_known, view.eligible(&wanted).map(drop), quotas().map(drop)])?;
        let known = view.lane(self.partition, &lane)?;
        if known.is_some_and(|lane| !lane.hands_out()) {
            return Ok(Decision::of(ClaimDecision::default(), None));
        }
        if known.is_some_and(|lane| lane.settings.concurrency.is_some()) {
            let limited = !first(view, known.filter(|_| !self.assigned), &wanted)?.is_empty();
            return Ok(Decision::of(ClaimDecision { limited, ..ClaimDecision::default() }, None));
        }
        let (taken, changes, turns) = hand_out(view, self, known, Admission::Unasked(quotas()?), &at.nonce, at.now)?;
        Ok(Decision { turns, ..Decision::of(taken, changes) })
    }
}

/// Returns the query of a claim, with the classes and the ageing of its lane.
fn eligible(args: &ClaimArgs, lane: Option<&Lane>) -> EligibleQuery {
    let of_lane = lane.into_iter().flat_map(|lane| lane.classes_for(&args.capabilities)).cloned();
    let classes = match args.assigned {
        true => vec![RequirementClass::assigned_to(&args.holder.worker_instance_id)],
        false => [RequirementClass::PLAIN].into_iter().chain(of_lane).collect(),
    };
    EligibleQuery {
        partition: args.partition,
        lane: args.lane.within(&args.namespace),
        kinds: args.kinds.clone(),
        classes,
        key: FairKey::default(),
        ageing_ms: lane.and_then(|lane| lane.settings.ageing_ms),
        limit: at_once(args) + 1,
    }
}

/// Returns the first executions of a claim's query: by priority and age, or by turns if work of the lane has keys.
fn first(view: &dyn View, lane: Option<&Lane>, wanted: &EligibleQuery) -> Result<Vec<ExecutionId>, Stop> {
    match lane.filter(|lane| lane.keyed) {
        Some(lane) => fairness::first(view, lane, wanted),
        None => Ok(view.eligible(wanted)?),
    }
}

/// Returns the maximum number of executions that a claim takes: the requested number, up to the limit of one claim.
fn at_once(args: &ClaimArgs) -> usize {
    args.max.min(limits::CLAIM_AT_ONCE)
}

/// Takes the first waiting executions, up to the limit of one claim. Stops before payloads, signals, inputs and steps
/// together exceed the limit of one reply, but takes at least one execution if there is one.
pub(super) fn hand_out(
    view: &dyn View,
    args: &ClaimArgs,
    lane: Option<&Lane>,
    admission: Admission<'_>,
    nonce: &Nonce,
    now: TimestampMs,
) -> Result<(ClaimDecision, Vec<Change>, Vec<TurnWrite>), Stop> {
    let (max, chosen) = (at_once(args), admission.chosen());
    // Assigned work has no turn.
    let fair = lane.filter(|lane| lane.keyed && (chosen.is_some() || !args.assigned));
    let waiting = chosen.map_or_else(|| first(view, fair, &eligible(args, lane)), Ok)?;
    require_all(waiting.iter().filter_map(|id| Some(view.flow(&flow_of(view.execution(id).ok()??)?))))?;
    let (mut taken, mut passed_over) = (ClaimDecision::default(), None);
    let mut changes = Vec::new();
    let (mut bytes, mut served) = (0, Vec::new());
    for id in &waiting {
        let Some(execution) = view.execution(id)? else { continue };
        if execution.grant().is_some_and(|grant| !grant.is_for(&args.holder, now)) {
            continue;
        }
        let Some(admittance) = admission.of((&args.namespace, &args.lane), execution) else { continue };
        let is_done = taken.tasks.len() + taken.admissions.len() == max;
        let full = |bytes| is_done || bytes > limits::CLAIM_BYTES as u64 && !taken.tasks.is_empty();
        let head = Head::of(execution);
        // A claim that is full leaves the next execution alone, whether or not its flow lets it start.
        if full(bytes + execution.input_size()) {
            taken.next = Some(head);
            break;
        }
        if !may_start(view, execution)? {
            passed_over = Some(head);
            changes.push(execution.cancelled(FinishedBy::FlowCancel, now));
            continue;
        }
        let slots = match admittance {
            AdmissionOutcome::Listed(request) => {
                taken.admissions.push(request);
                continue;
            }
            AdmissionOutcome::Taken(slots) => slots,
        };
        let resumption = execution.last_suspension.as_deref().and_then(Resumption::of);
        let with_it = sent_input_bytes(execution)
            + sent_step_bytes(execution)
            + resumption.as_ref().map_or(0, |(_, bytes)| *bytes);
        if full(bytes + execution.input_size() + with_it) {
            taken.next = Some(head);
            break;
        }
        bytes += execution.input_size() + with_it;
        let mut change = take(execution, &args.holder, args.lease_ttl_ms, nonce.lease(taken.tasks.len()), now);
        if let Phase::Running { lease } = &mut change.after.phase {
            lease.slots = slots;
        }
        if execution.phase == Phase::Waiting {
            served.push(execution.fair_key.clone());
        }
        taken.tasks.extend(task(&change.after, execution, resumption.map(|(resumption, _)| resumption)));
        changes.push(change);
    }
    // More executions may wait behind those that were passed over.
    taken.next = taken.next.or(passed_over.filter(|_| waiting.len() > max));
    let Some(lane) = fair else { return Ok((taken, changes, Vec::new())) };
    let (turns, used) = fairness::charge(view, args.partition, lane, &served)?;
    taken.next = taken.next.map(|_| Head::fair(used));
    Ok((taken, changes, turns))
}

/// Returns whether the flow of an execution lets it start. An execution that a cancelled flow does not spare is
/// cancelled instead.
fn may_start(view: &dyn View, execution: &Execution) -> Result<bool, Stop> {
    let Some(flow) = flow_of(execution) else { return Ok(true) };
    Ok(view.flow(&flow)?.is_none_or(|flow| flow.spares(execution)))
}

fn flow_of(execution: &Execution) -> Option<FlowId> {
    execution.membership.as_ref().map(|membership| membership.flow_id)
}

/// Returns the size of the named inputs that are sent with an execution.
fn sent_input_bytes(execution: &Execution) -> u64 {
    let all = execution.membership.as_ref().map_or(0, |membership| membership.input_bytes);
    all.min(limits::INPUT_BYTES as u64)
}

/// Returns the size of the recorded steps that are sent with an execution.
fn sent_step_bytes(execution: &Execution) -> u64 {
    execution.steps.map_or(0, |steps| steps.bytes.min(limits::CLAIM_STEP_BYTES as u64))
}

/// Gives a holder the lease of one waiting execution: with a new attempt, or with the open attempt, which resumes.
fn take(
    execution: &Execution,
    holder: &Holder,
    ttl_ms: u64,
    (lease_id, new_attempt): (LeaseId, AttemptId),
    now: TimestampMs,
) -> Change {
    let lease_epoch = execution.epoch().next();
    let (attempt, what) = match &execution.attempt {
        AttemptSlot::Open(open) => {
            let attempt = Attempt { holder: holder.clone(), lease_epoch, ..open.clone() };
            (attempt, EventKind::Resumed { attempt: open.index })
        }
        AttemptSlot::Next(origin) => {
            let index = AttemptIndex(execution.attempts_made);
            let (holder, origin) = (holder.clone(), origin.clone());
            let attempt =
                Attempt { index, id: new_attempt, origin, started_at: now, holder, lease_epoch, ran_ms: 0, end: None };
            (attempt, EventKind::Started { attempt: index })
        }
    };
    let timeout_ms = execution.policy.timeout_policy.attempt_timeout_ms;
    let lease = Lease {
        fence: Fence { lease_id, lease_epoch, attempt_id: attempt.id },
        holder: holder.clone(),
        acquired_at: now,
        until: now + ttl_ms,
        ttl_ms,
        timeout_at: timeout_ms.map(|ms| now + ms.saturating_sub(attempt.ran_ms)),
        limited: false,
        slots: Vec::new(),
    };
    let mut change = execution.enter(Phase::Running { lease }, now);
    if matches!(what, EventKind::Started { .. }) {
        change.after.attempts_made += 1;
        change.after.progress = None;
    }
    change.after.attempt = AttemptSlot::Open(attempt);
    change.after.started_at = execution.started_at.or(Some(now));
    change.events.push(Event::new(&execution.id, now, what));
    change
}

/// Returns the task for the worker, or nothing if the execution is not running.
fn task(after: &Execution, before: &Execution, resumption: Option<Resumption>) -> Option<Task> {
    let (Phase::Running { lease }, AttemptSlot::Open(attempt)) = (&after.phase, &after.attempt) else { return None };
    Some(Task {
        execution_id: after.id,
        namespace: after.namespace.clone(),
        lane_id: after.lane.clone(),
        kind: after.kind.clone(),
        priority: after.priority,
        tags: after.tags.clone(),
        policy: after.policy.clone(),
        fence: lease.fence,
        attempt_index: attempt.index,
        attempt: attempt.origin.clone(),
        resumed: matches!(before.attempt, AttemptSlot::Open(_)),
        lease_ttl_ms: lease.ttl_ms,
        lease_expires_at: lease.until,
        created_at: after.created_at,
        deadline_at: after.deadline_at,
        resumption,
        flow: after.membership.as_deref().map(TaskFlow::from),
        trace: after.trace.clone(),
    })
}
