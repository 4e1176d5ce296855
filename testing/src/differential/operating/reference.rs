//! What the model makes of what is asked by those who operate it.

use ff_core::backend::EngineStore;
use ff_core::contracts::{
    AllotArgs, ChangePriorityArgs, ClaimArgs, ConfigureLaneArgs, CopyLaneArgs, EventsArgs, EventsPage, FollowArgs,
    GrantedClaimArgs, HeartbeatArgs, LaneInfo, LeaveArgs, RecountLaneArgs, RegisterWorkerArgs, SetTagsArgs,
    SettleLaneArgs, SweepWorkerArgs, Taken,
};
use ff_core::dice::Nonce;
use ff_core::engine_error::Refusal;
use ff_core::event::EventCursor;
use ff_core::operation::Ask;
use ff_core::types::{Priority, WorkerInstanceId};
use ff_engine::Orchestration;

use super::Order;
use crate::differential::compared::{Compared, Difference, differ};
use crate::differential::reference::Reference;
use crate::differential::told::refusal;
use crate::differential::vocabulary;

impl Compared {
    /// Takes an order on both sides and compares the answers.
    pub(in crate::differential) async fn operate(&mut self, order: &Order, about: String) -> Result<(), Difference> {
        let nonce = self.throw();
        let (name, model) = self.reference.operate(order, nonce);
        let store = ask(self.store(), &self.reference, order).await;
        self.coverage.count_order(name, model.as_ref().err());
        if matches!(order, Order::Read { .. }) {
            let page = refusal(self.store().events(self.reference.reading(order)).await);
            self.coverage.count_told(page.as_ref().map_or(0, |page| page.events.len()));
            self.reference.reader = page.ok().map(|page| page.next).or(self.reference.reader.take());
        }
        differ(about, &model, &store)
    }
}

/// Asks a store, and tells what it says.
async fn ask(store: &dyn EngineStore, reference: &Reference, order: &Order) -> Result<String, Refusal> {
    match order {
        Order::Label { .. } => said(store.set_tags(reference.labelling(order)).await),
        Order::Prioritise { .. } => said(store.change_priority(reference.prioritising(order)).await),
        Order::Configure { .. } => said(store.configure_lane(configuration(order)).await),
        Order::Register { .. } => said(store.register_worker(registration(order)).await),
        Order::Heartbeat { worker, namespace } => {
            let (namespace, worker_instance_id) = (vocabulary::namespace(*namespace), instance(*worker));
            said(store.heartbeat(HeartbeatArgs { namespace, worker_instance_id }).await)
        }
        Order::Leave { worker, namespace } => {
            let (namespace, worker_instance_id) = (vocabulary::namespace(*namespace), instance(*worker));
            said(store.leave(LeaveArgs { namespace, worker_instance_id }).await)
        }
        Order::SweepWorkers => said(store.sweep_workers().await),
        Order::Read { .. } => said(store.events(reference.reading(order)).await),
    }
}

fn said<T: std::fmt::Debug>(answer: ff_core::backend::Answer<T>) -> Result<String, Refusal> {
    refusal(answer).map(|answer| format!("{answer:?}"))
}

impl Reference {
    /// Decides and applies an order: what it is called, and what is answered.
    fn operate(&mut self, order: &Order, nonce: Nonce) -> (&'static str, Result<String, Refusal>) {
        match order {
            Order::Label { .. } => ("SetTags", self.tell(self.labelling(order), nonce)),
            Order::Prioritise { .. } => ("ChangePriority", self.tell(self.prioritising(order), nonce)),
            Order::Configure { .. } => {
                ("ConfigureLane", self.configure(configuration(order), nonce).map(|info| format!("{info:?}")))
            }
            Order::Register { .. } => ("RegisterWorker", self.tell(registration(order), nonce)),
            Order::Heartbeat { worker, namespace } => {
                let (namespace, worker_instance_id) = (vocabulary::namespace(*namespace), instance(*worker));
                ("Heartbeat", self.tell(HeartbeatArgs { namespace, worker_instance_id }, nonce))
            }
            Order::Leave { worker, namespace } => {
                let (namespace, worker_instance_id) = (vocabulary::namespace(*namespace), instance(*worker));
                ("Leave", self.tell(LeaveArgs { namespace, worker_instance_id }, nonce))
            }
            Order::SweepWorkers => ("SweepWorkers", self.sweep_workers(nonce).map(|gone| format!("{gone:?}"))),
            Order::Read { .. } => ("Events", self.events(&self.reading(order), nonce).map(|page| format!("{page:?}"))),
        }
    }

    fn tell<A: Ask<Reply: std::fmt::Debug>>(&mut self, args: A, nonce: Nonce) -> Result<String, Refusal> {
        self.ask(args, nonce).map(|answer| format!("{answer:?}"))
    }

    fn configure(&mut self, args: ConfigureLaneArgs, nonce: Nonce) -> Result<LaneInfo, Refusal> {
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

    /// Claims from a lane with a limit: with the leave of the lane's home, which counts what may have ended.
    pub(in crate::differential) fn claim_with_leave(
        &mut self,
        claim: &ClaimArgs,
        nonce: Nonce,
    ) -> Result<Taken, Refusal> {
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
        let Some(grant) = grant else { return Ok(Taken { tasks: Vec::new(), next: None, limited: true }) };
        self.leaves += 1;
        let granted = self.ask(GrantedClaimArgs { claim: claim.clone(), grant }, nonce)?;
        self.ask(SettleLaneArgs { namespace, lane, counts: vec![granted.count] }, nonce)?;
        Ok(granted.taken)
    }

    fn sweep_workers(&mut self, nonce: Nonce) -> Result<Vec<WorkerInstanceId>, Refusal> {
        let now = self.now();
        let gone = self.model.workers().filter(|worker| worker.is_gone(now));
        let gone: Vec<_> = gone.map(|worker| worker.worker_instance_id.clone()).collect();
        for worker_instance_id in gone.iter().cloned() {
            self.ask(SweepWorkerArgs { worker_instance_id }, nonce)?;
        }
        Ok(gone)
    }

    fn events(&mut self, args: &EventsArgs, nonce: Nonce) -> Result<EventsPage, Refusal> {
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
        Ok(EventsPage::merge(after, parts, |told| args.wants(told), args.limit))
    }

    fn reading(&self, order: &Order) -> EventsArgs {
        let Order::Read { limit } = order else { unreachable!("{order:?} does not read") };
        EventsArgs { after: self.reader.clone(), namespace: None, execution: None, limit: *limit }
    }

    fn labelling(&self, order: &Order) -> SetTagsArgs {
        let Order::Label { job, set, remove } = order else { unreachable!("{order:?} labels nothing") };
        let remove = vocabulary::label(*remove, 0).0;
        SetTagsArgs {
            execution_id: self.id(*job),
            set: [vocabulary::label(set.0, set.1)].into(),
            remove: [remove].into(),
        }
    }

    fn prioritising(&self, order: &Order) -> ChangePriorityArgs {
        let Order::Prioritise { job, to } = order else { unreachable!("{order:?} raises nothing") };
        ChangePriorityArgs { execution_id: self.id(*job), priority: Priority::new(*to).unwrap() }
    }
}

fn configuration(order: &Order) -> ConfigureLaneArgs {
    let Order::Configure { namespace, lane, state, concurrency, ageing_ms, retention_ms } = order else {
        unreachable!("{order:?} configures nothing")
    };
    ConfigureLaneArgs {
        namespace: vocabulary::namespace(*namespace),
        lane: vocabulary::lane(*lane),
        state: Some(*state),
        concurrency: *concurrency,
        ageing_ms: *ageing_ms,
        retention_ms: *retention_ms,
    }
}

fn registration(order: &Order) -> RegisterWorkerArgs {
    let Order::Register { worker, namespace, ttl_ms } = order else { unreachable!("{order:?} registers nobody") };
    RegisterWorkerArgs {
        worker_instance_id: instance(*worker),
        worker_id: vocabulary::holder(*worker).worker_id,
        namespace: vocabulary::namespace(*namespace),
        lanes: [vocabulary::lane(0)].into(),
        kinds: [].into(),
        capabilities: [].into(),
        ttl_ms: *ttl_ms,
    }
}

fn instance(worker: u8) -> WorkerInstanceId {
    vocabulary::holder(worker).worker_instance_id
}
