//! Plays a script: finds out what each line means where the walk stands, does it, and checks everything after it.

use ff_core::contracts::{
    CancelArgs, ChangePriorityArgs, ClaimArgs, CompleteArgs, DelayArgs, FailArgs, FollowArgs, ProgressArgs, PumpArgs,
    RenewArgs, ReplayArgs, RevokeArgs, SetTagsArgs,
};
use ff_core::dice::{Dice, Nonce, SeededDice};
use ff_core::due::Due;
use ff_core::engine_error::Code;
use ff_core::execution::{Failure, Phase};
use ff_core::hint::Hint;
use ff_core::lease::{Fence, Holder};
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::token::{KeyRing, Secret};
use ff_core::types::{
    AttemptId, ExecutionId, Kid, LeaseEpoch, LeaseId, Priority, TagKey, TagValue, TimestampMs, WorkerId,
    WorkerInstanceId,
};
use uuid::Uuid;

use super::deed::{Deed, Verdict, without_panic};
use super::expected::as_expected;
use super::healthy::healthy;
use super::lawful::lawful;
use super::ledger::Ledger;
use super::opened::tokens_open_nothing_else;
use super::promised::promised;
use super::repeated::answers_again;
use super::sameness::sameness;
use super::script::{Act, BEGINNING, By, Forged, Line, PARTITION_COUNT, Tick, Which};
use super::tally::Tally;
use super::waits::Granted;

/// Two, so that work can be on another one.
const PARTITIONS: PartitionConfig =
    PartitionConfig { num_flow_partitions: PARTITION_COUNT, num_budget_partitions: 1, num_quota_partitions: 1 };

/// A walk under way.
pub(crate) struct Play<'t> {
    tally: &'t mut Tally,
    model: Model,
    now: TimestampMs,
    ledger: Ledger,
    /// In the order they were submitted.
    known: Vec<ExecutionId>,
    /// Every fence each worker ever got.
    held: [Vec<(ExecutionId, Fence)>; 2],
    /// Every waitpoint and suspension somebody was told of.
    granted: Granted,
    /// The randomness of whoever asks again.
    other: Nonce,
    /// What was done, in words; kept only where someone is going to read it.
    told: Option<Vec<String>>,
}

impl<'t> Play<'t> {
    pub(crate) fn new(tally: &'t mut Tally) -> Self {
        let (mut model, ledger, other) = (Model::default(), Ledger::default(), SeededDice::new(0).nonce());
        let ring = KeyRing::of(Kid::first(), Secret::drawn([7; 32]));
        (0..PARTITION_COUNT).for_each(|partition| model.set_ring(partition, ring.clone()));
        let (granted, held) = (Granted::default(), [vec![], vec![]]);
        Self { tally, model, now: BEGINNING, ledger, known: vec![], held, granted, other, told: None }
    }

    /// Plays every line; stops at the first after which something is wrong.
    pub(crate) fn play(&mut self, script: &[Line]) -> Verdict {
        without_panic(|| self.lines(script))
    }

    /// Plays a script that is known to fail, and tells what was done up to there.
    pub(crate) fn retell(script: &[Line]) -> String {
        let mut tally = Tally::default();
        let mut play = Play { told: Some(vec![]), ..Play::new(&mut tally) };
        let verdict = play.play(script);
        let told = play.told.take().unwrap_or_default();
        format!("{}\n{}", told.join("\n"), verdict.err().unwrap_or_default())
    }

    fn lines(&mut self, script: &[Line]) -> Verdict {
        for line in script {
            self.now = self.when(line.tick);
            match self.operation(&line.act) {
                Ok(operation) => self.perform(&operation, line)?,
                Err(code) => self.tally.count(code.as_str()),
            }
        }
        for _ in 0..self.ledger.steals {
            self.tally.count("lease steal");
        }
        Ok(())
    }

    fn perform(&mut self, operation: &Operation, line: &Line) -> Verdict {
        let at = Conditions { partitions: PARTITIONS, nonce: line.nonce, now: self.now };
        let before = self.model.clone();
        self.tell(|| format!("{:>6} ms  {operation:?}", at.now.since(BEGINNING)));
        let deed = Deed::decide(&before, operation, at);
        self.tell(|| match &deed.decided {
            Ok(decision) => format!("           {:?}", decision.reply),
            Err(refusal) => format!("           {refusal}"),
        });
        as_expected(&deed)?;
        lawful(&deed)?;
        promised(&deed)?;
        self.ledger.enter(&deed)?;
        self.tally.step(&deed)?;
        match (self.model.execute(operation, &at), &deed.decided) {
            (Ok((reply, hints)), Ok(decision)) if reply == decision.reply => {
                hinted(&before, &self.model, &hints)?;
                answers_again(&self.model, operation, &reply, Conditions { nonce: self.other, ..at })?;
                self.remember(operation, &reply);
            }
            (Err(refusal), Err(first)) if refusal == *first => {}
            (other, _) => return Err(format!("decided twice, and differently: {other:?}")),
        }
        let untouched = !deed.alters();
        for partition in 0..PARTITIONS.num_flow_partitions {
            if untouched && self.model.snapshot(partition) != before.snapshot(partition) {
                return Err("I5: changed something though it was refused or only answered".into());
            }
            healthy(&self.model, partition, self.now)?;
        }
        tokens_open_nothing_else(&self.model, PARTITIONS, self.other, self.now)?;
        self.tally.visit(sameness(&self.model, self.now));
        self.ledger.agrees(&self.model)
    }

    fn tell(&mut self, words: impl FnOnce() -> String) {
        if let Some(told) = &mut self.told {
            told.push(words());
        }
    }

    fn remember(&mut self, operation: &Operation, reply: &Reply) {
        self.granted.remember(operation, reply);
        match (operation, reply) {
            (Operation::Submit(_), Reply::Submitted(submitted)) if !submitted.duplicate => {
                self.known.push(submitted.execution_id);
            }
            (Operation::Claim(args), Reply::Taken(taken)) => {
                let worker = usize::from(args.holder == holder(1));
                self.held[worker].extend(taken.tasks.iter().map(|task| (task.execution_id, task.fence)));
            }
            _ => {}
        }
    }

    /// What the clock says after a tick.
    fn when(&self, tick: Tick) -> TimestampMs {
        let (nth, off) = match tick {
            Tick::Stay => return self.now,
            Tick::Ms(ms) => return self.now + ms,
            Tick::Moment { nth, off } => (nth, off),
        };
        let due = self.model.executions().flat_map(|e| Due::ALL.iter().filter_map(|due| e.due_at(*due)));
        let mut ahead: Vec<_> = due.chain(self.ledger.forgotten_at()).filter(|at| at.since(self.now) > 0).collect();
        ahead.sort_unstable();
        ahead.dedup();
        // A key that is remembered for a day or more would end the walk at one stroke.
        let near = ahead.get(nth).filter(|at| at.since(self.now) < 100_000);
        near.map_or(self.now, |at| TimestampMs(at.0 + off).max(self.now))
    }

    /// What an act is here and now; refused when its fence is not whole.
    fn operation(&self, act: &Act) -> Result<Operation, Code> {
        let execution = |of: usize| match self.known.len() {
            0 => unknown(0),
            known => self.known[of % known],
        };
        Ok(match act.clone() {
            Act::Submit(args) => Operation::Submit(*args),
            Act::Claim { worker, partition, namespace, lane, kinds, max, ttl_ms } => {
                let holder = holder(worker);
                Operation::Claim(ClaimArgs { partition, namespace, lane, kinds, max, holder, lease_ttl_ms: ttl_ms })
            }
            Act::Renew { by, ttl_ms } => {
                let (execution_id, fence) = self.shown(by);
                Operation::Renew(RenewArgs { execution_id, fence, lease_ttl_ms: ttl_ms })
            }
            Act::Progress { by, percent, message } => {
                let (execution_id, fence) = self.shown(by);
                Operation::Progress(ProgressArgs { execution_id, fence, percent, message })
            }
            Act::Complete { by, result } => {
                let (execution_id, fence) = self.shown(by);
                Operation::Complete(CompleteArgs { execution_id, fence, result })
            }
            Act::Fail { by, category, permanent } => {
                let (execution_id, fence) = self.shown(by);
                let failure = Failure { category, message: "no".into(), permanent };
                Operation::Fail(FailArgs { execution_id, fence, failure })
            }
            Act::Delay { by, start } => {
                let (execution_id, fence) = self.shown(by);
                Operation::Delay(DelayArgs { execution_id, fence, start })
            }
            Act::Cancel { of } => {
                Operation::Cancel(CancelArgs { execution_id: execution(of), reason: None, requested_by: None })
            }
            Act::Prioritise { of, priority } => {
                let priority = Priority::new(priority).map_err(|_| Code::InvalidInput)?;
                Operation::ChangePriority(ChangePriorityArgs { execution_id: execution(of), priority })
            }
            Act::Tag { of, team } => Operation::SetTags(labels(execution(of), team)),
            Act::Replay { of } => Operation::Replay(ReplayArgs {
                execution_id: execution(of),
                reason: None,
                requested_by: None,
                reopen_downstream: false,
            }),
            Act::Revoke { of, which } => {
                let (execution_id, lease_id) = match which {
                    Which::Any => (execution(of), None),
                    Which::Known(by) => (self.shown(by).0, Some(self.shown(by).1.lease_id)),
                    Which::Forged => (execution(of), Some(LeaseId::from_uuid(Uuid::nil()))),
                };
                Operation::Revoke(RevokeArgs { execution_id, lease_id, reason: None })
            }
            Act::Wait(wait) => self.granted.operation(&wait, |by| self.shown(by), self.now),
            Act::Pump { partition } => Operation::Pump(PumpArgs { partition }),
            Act::Follow { partition } => Operation::Follow(FollowArgs { partition }),
            Act::PartialFence { by, shown: [lease, epoch, attempt] } => {
                let (execution_id, fence) = self.shown(by);
                let fence = Fence::from_parts(
                    lease.then_some(fence.lease_id),
                    epoch.then_some(fence.lease_epoch),
                    attempt.then_some(fence.attempt_id),
                )
                .map_err(|refusal| refusal.code)?;
                Operation::Renew(RenewArgs { execution_id, fence, lease_ttl_ms: None })
            }
        })
    }

    /// The fence someone shows, and of which execution they say it is.
    fn shown(&self, by: By) -> (ExecutionId, Fence) {
        let nobodys = LeaseId::from_uuid(Uuid::nil());
        let worker = if self.held[by.worker].is_empty() { 1 - by.worker } else { by.worker };
        let mine = self.held[worker].iter().rev();
        let (id, fence) = mine.cycle().nth(by.back).copied().unwrap_or_else(|| {
            let attempt_id = AttemptId::from_uuid(Uuid::nil());
            let id = self.known.first().copied().unwrap_or(unknown(0));
            (id, Fence { lease_id: nobodys, lease_epoch: LeaseEpoch(1), attempt_id })
        });
        match by.forged {
            Forged::Nothing => (id, fence),
            Forged::Lease => (id, Fence { lease_id: nobodys, ..fence }),
            Forged::Epoch => (id, Fence { lease_epoch: fence.lease_epoch.next(), ..fence }),
            Forged::Attempt => (id, Fence { attempt_id: AttemptId::from_uuid(Uuid::nil()), ..fence }),
            Forged::Execution => (self.known.iter().copied().find(|other| *other != id).unwrap_or(id), fence),
            Forged::Unknown => (unknown(id.partition()), fence),
            Forged::Beyond => (unknown(PARTITION_COUNT), fence),
        }
    }
}

/// Whoever waits is told: hints are how a waiting part learns of work, of moments, of ends and of leases lost.
fn hinted(before: &Model, after: &Model, hints: &[Hint]) -> Verdict {
    for execution in after.executions() {
        let was = before.find(&execution.id);
        let began = |phase: fn(&Phase) -> bool| phase(&execution.phase) && !was.is_some_and(|was| phase(&was.phase));
        let told = |expected: &dyn Fn(&Hint) -> bool| hints.iter().any(expected);
        let ready = |hint: &Hint| matches!(hint, Hint::Ready { lane, .. } if *lane == execution.lane_key());
        let ended = |hint: &Hint| matches!(hint, Hint::Ended { execution_id } if *execution_id == execution.id);
        if began(|phase| *phase == Phase::Waiting) && !told(&ready) {
            return Err(format!("I9: nobody was told that {} waits", execution.id));
        }
        if began(|phase| matches!(phase, Phase::Finished { .. })) && !told(&ended) {
            return Err(format!("I9: nobody was told that {} ended", execution.id));
        }
        let last = execution.last_lease.as_ref().filter(|last| last.ended.is_loss());
        let lost =
            |hint: &Hint| matches!(hint, Hint::LeaseLost { lost, .. } if Some(lost.fence) == last.map(|l| l.fence));
        let released = was.is_some_and(|was| was.last_lease != execution.last_lease);
        if released && last.is_some() && !told(&lost) {
            return Err(format!("I9: nobody was told that {} was lost", execution.id));
        }
    }
    for partition in 0..PARTITIONS.num_flow_partitions {
        let (was, is) = (before.next_due(partition), after.next_due(partition));
        let sooner = is.filter(|is| was.is_none_or(|was| *is < was));
        if let Some(at) = sooner
            && !hints.contains(&Hint::Due { partition, at })
        {
            return Err(format!("I9: nobody was told that something is due at {at}"));
        }
    }
    Ok(())
}

/// Puts a label on, or takes it away.
fn labels(execution_id: ExecutionId, team: Option<&str>) -> SetTagsArgs {
    let key = TagKey::parse("team").expect("a name");
    let set = team.map(|team| (key.clone(), TagValue::parse(team).expect("a text"))).into_iter().collect();
    SetTagsArgs { execution_id, set, remove: if team.is_none() { [key].into() } else { [].into() } }
}

fn unknown(partition: u16) -> ExecutionId {
    ExecutionId::new(partition, Uuid::nil())
}

fn holder(worker: usize) -> Holder {
    Holder {
        worker_id: WorkerId::parse("worker").expect("a name"),
        worker_instance_id: WorkerInstanceId::parse(&format!("worker-{worker}")).expect("a name"),
    }
}
