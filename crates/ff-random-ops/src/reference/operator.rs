//! Requests of operators, worker processes and readers of events, and the model's answers to them.

use super::{Call, Reference, vocabulary};
use crate::prelude::*;
use crate::transition::OperatorRequest;

/// Messages about the default lane, which may arrive late, repeatedly or never.
#[derive(Default)]
pub(super) struct LaneMessages {
    settings: Option<Lane>,
    grants: Vec<(u16, Grant)>,
    counts: Vec<LaneCount>,
}

impl LaneMessages {
    pub(super) fn note(&mut self, operation: &Operation, reply: &Reply) {
        let lane = match operation {
            Operation::ConfigureLane(args) => args.lane.within(&args.namespace),
            Operation::CopyLane(args) => args.lane.key(),
            Operation::Allot(args) => args.lane.within(&args.namespace),
            Operation::RecountLane(args) => args.lane.within(&args.namespace),
            Operation::ClaimGranted(args) => args.claim.lane.within(&args.claim.namespace),
            _ => return,
        };
        if lane != LaneId::default_name() {
            return;
        }
        match (operation, reply) {
            (_, Reply::LaneConfigured(lane)) => self.settings = Some(lane.clone()),
            (Operation::Allot(args), Reply::Allotted(allotted)) => {
                self.grants.extend(allotted.grant.map(|grant| (args.partition, grant)));
            }
            (_, Reply::LaneCopied(count) | Reply::LaneRecounted(count)) => self.counts.push(*count),
            (_, Reply::ClaimGranted(granted)) => self.counts.push(granted.count),
            _ => {}
        }
    }
}

impl Reference {
    /// Returns the call of a request. A message that was never sent is replaced by a `FollowArgs`, which depends on no
    /// message.
    pub(super) fn order(&self, order: &OperatorRequest) -> Call {
        let (home, lane) = (Namespace::default_name, LaneId::default_name);
        let settings = self.messages.settings.clone();
        match order {
            OperatorRequest::Configure {
                namespace,
                lane,
                state,
                concurrency,
                ageing_ms,
                retention_ms,
                fair_by,
                weight,
            } => {
                let args = ConfigureLaneArgs {
                    namespace: vocabulary::namespace(*namespace),
                    lane: vocabulary::lane(*lane),
                    state: Some(*state),
                    concurrency: *concurrency,
                    ageing_ms: *ageing_ms,
                    retention_ms: *retention_ms,
                    fair_by: vocabulary::fair_by(*fair_by),
                    weights: weight.iter().map(|(nth, weight)| (vocabulary::fair_key(*nth), *weight)).collect(),
                };
                let in_messages = self.sends_messages && args.lane.within(&args.namespace) == LaneId::default_name();
                if in_messages { one(args) } else { Call::ConfigureLane(args) }
            }
            OperatorRequest::SweepWorkers => Call::SweepWorkers,
            OperatorRequest::Read { limit } => {
                let after = self.reader.clone();
                Call::Events(EventsArgs { after, namespace: None, execution: None, limit: *limit })
            }
            OperatorRequest::Adjust { job, adjustment } => {
                Call::One(Box::new(adjustment.operation(self.id(*job), self.now())))
            }
            OperatorRequest::Hold { job, reason } => {
                let (execution_id, reason) = (self.id(*job), reason.map(vocabulary::text));
                let requested_by = vocabulary::requester(&reason);
                one(HoldArgs { execution_id, reason, requested_by })
            }
            OperatorRequest::Assign { job, worker, ttl_ms, reason } => {
                let (execution_id, reason) = (self.id(*job), reason.map(vocabulary::text));
                let (ttl_ms, requested_by) = (*ttl_ms, vocabulary::requester(&reason));
                one(AssignArgs { execution_id, worker_instance_id: instance(*worker), ttl_ms, reason, requested_by })
            }
            OperatorRequest::Unassign { job } => one(UnassignArgs { execution_id: self.id(*job) }),
            OperatorRequest::ReleaseHold { job } => one(ReleaseHoldArgs { execution_id: self.id(*job) }),
            OperatorRequest::Block { jobs, on, in_ms, is_late } => {
                let retry_at = in_ms.map(|ms| self.now() + ms);
                let target = |job: &u32| {
                    let execution_id = self.id(*job);
                    let epoch = self.model.find(&execution_id).map_or(LeaseEpoch(0), Execution::epoch);
                    let lease_epoch = if *is_late { epoch.next() } else { epoch };
                    BlockTarget { execution_id, lease_epoch, detail: vocabulary::detail(*on, retry_at) }
                };
                one(BlockArgs { partition: self.partition_of(jobs), executions: jobs.iter().map(target).collect() })
            }
            OperatorRequest::Unblock { jobs, from } => one(UnblockArgs {
                partition: self.partition_of(jobs),
                executions: jobs.iter().map(|job| self.id(*job)).collect(),
                from: vocabulary::blocker(*from),
            }),
            OperatorRequest::Register { worker, namespace, ttl_ms } => one(RegisterWorkerArgs {
                worker_instance_id: instance(*worker),
                worker_id: vocabulary::holder(*worker).worker_id,
                namespace: vocabulary::namespace(*namespace),
                lanes: [vocabulary::lane(0)].into(),
                kinds: [].into(),
                capabilities: vocabulary::capabilities(*worker),
                ttl_ms: *ttl_ms,
            }),
            OperatorRequest::Heartbeat { worker, namespace } => one(HeartbeatArgs {
                namespace: vocabulary::namespace(*namespace),
                worker_instance_id: instance(*worker),
            }),
            OperatorRequest::Leave { worker, namespace } => {
                one(LeaveArgs { namespace: vocabulary::namespace(*namespace), worker_instance_id: instance(*worker) })
            }
            OperatorRequest::CopyLane { partition } => match settings {
                Some(lane) => one(CopyLaneArgs { partition: *partition, lane }),
                None => one(FollowArgs { partition: *partition }),
            },
            OperatorRequest::Allot { partition, want } => {
                one(AllotArgs { partition: *partition, namespace: home(), lane: lane(), want: *want })
            }
            OperatorRequest::ClaimGranted { back } => match self.messages.grants.iter().rev().nth(*back) {
                Some((partition, grant)) => one(GrantedClaimArgs { claim: claim_any(*partition), grant: *grant }),
                None => one(FollowArgs { partition: 0 }),
            },
            OperatorRequest::Recount { partition, behind } => one(RecountLaneArgs {
                partition: *partition,
                namespace: home(),
                lane: lane(),
                seq: self.last_grant(*partition).saturating_sub(*behind),
            }),
            OperatorRequest::Settle { back, counts } => {
                let counts = self.messages.counts.iter().rev().skip(*back).take(*counts).copied().collect();
                one(SettleLaneArgs { namespace: home(), lane: lane(), counts })
            }
        }
    }

    pub(super) fn partition_of(&self, jobs: &[u32]) -> u16 {
        jobs.first().map_or(0, |job| self.id(*job).partition())
    }

    /// Returns the number of the last grant that the home of the default lane gave to a partition.
    pub(super) fn last_grant(&self, partition: u16) -> u64 {
        let lane = LaneId::default_name();
        let home = self.model.lane(lane_partition(&lane, &self.partitions), &lane).ok().flatten();
        home.and_then(|home| home.shares.get(&partition)).map_or(0, |share| share.seq)
    }

    pub(super) fn configure(&mut self, args: ConfigureLaneArgs, nonce: Nonce) -> Result<LaneInfo, Refusal> {
        let (namespace, name) = (args.namespace.clone(), args.lane.clone());
        let lane = self.ask(args, nonce)?;
        let mut counts = Vec::new();
        for partition in 0..self.partitions.num_flow_partitions {
            counts.push(self.ask(CopyLaneArgs { partition, lane: lane.clone() }, nonce)?);
        }
        if lane.settings.concurrency.is_some() {
            self.ask(SettleLaneArgs { namespace, lane: name, counts }, nonce)?;
        }
        Ok(self.model.lane_info(&lane.key()))
    }

    /// Claims from a lane with a limit, with a grant of the lane's home, which recounts the leases if it has nothing to
    /// grant.
    pub(super) fn claim_with_leave(&mut self, claim: &ClaimArgs, nonce: Nonce) -> Result<Claims, Refusal> {
        let (namespace, lane) = (claim.namespace.clone(), claim.lane.clone());
        let first = self.ask(AllotArgs::of(claim), nonce)?;
        let mut grant = first.grant;
        if grant.is_none() && !first.uncounted.is_empty() {
            let mut counts = Vec::new();
            for (partition, seq) in first.uncounted {
                let args = RecountLaneArgs { partition, namespace: namespace.clone(), lane: lane.clone(), seq };
                counts.push(self.ask(args, nonce)?);
            }
            self.ask(SettleLaneArgs { namespace: namespace.clone(), lane: lane.clone(), counts }, nonce)?;
            grant = self.ask(AllotArgs::of(claim), nonce)?.grant;
        }
        let Some(grant) = grant else { return Ok(Claims { limited: true, ..Claims::default() }) };
        let granted = Operation::ClaimGranted(GrantedClaimArgs { claim: claim.clone(), grant });
        let (reply, claimed) = self.execute(&granted, nonce)?;
        let Reply::ClaimGranted(granted) = reply else { unreachable!("{reply:?} answers no granted claim") };
        self.ask(SettleLaneArgs { namespace, lane, counts: vec![granted.count] }, nonce)?;
        let ClaimDecision { next, limited, admissions, .. } = granted.decision;
        Ok(Claims { claimed, next, limited, admissions })
    }

    pub(super) fn sweep_workers(&mut self, nonce: Nonce) -> Result<Vec<WorkerInstanceId>, Refusal> {
        let now = self.now();
        let gone = self.model.workers().filter(|worker| worker.is_gone(now));
        let gone: Vec<_> = gone.map(|worker| worker.worker_instance_id.clone()).collect();
        for worker_instance_id in gone.iter().cloned() {
            self.ask(SweepWorkerArgs { worker_instance_id }, nonce)?;
        }
        Ok(gone)
    }

    pub(super) fn events(&mut self, args: &EventsArgs, nonce: Nonce) -> Result<EventsPage, Refusal> {
        args.check_for_store()?;
        let partitions = args.partitions(&self.partitions)?;
        for partition in partitions.clone() {
            self.ask(FollowArgs { partition }, nonce)?;
        }
        let Some(after) = args.after.clone() else {
            let next = EventCursor { from: self.now(), ..EventCursor::default() };
            return Ok(EventsPage { events: vec![], next, missed: false });
        };
        let part = |partition| Some((partition, self.model.events(partition, &after, args.limit)?));
        let parts: Vec<_> = partitions.filter_map(part).collect();
        Ok(EventsPage::merge(after, parts, |event| args.wants(event), args.limit))
    }
}

fn one(args: impl Ask) -> Call {
    Call::One(Box::new(args.into_operation()))
}

/// Returns a claim of any execution on the default lane.
fn claim_any(partition: u16) -> ClaimArgs {
    let claim = ClaimArgs::new(partition, vocabulary::holder(0));
    ClaimArgs { capabilities: vocabulary::capabilities(0), max: 10, lease_ttl_ms: 1_000, ..claim }
}

fn instance(worker: u8) -> WorkerInstanceId {
    vocabulary::holder(worker).worker_instance_id
}
