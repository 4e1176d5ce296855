//! Choosing what to ask next: mostly something that can work, now and then something that must be refused.

use ff_core::backend::{EngineStore, Perform};
use ff_core::contracts::{
    CancelArgs, ClaimArgs, CloseWaitpointArgs, CompleteArgs, CreateWaitpointArgs, DelayArgs, DeliverArgs, FailArgs,
    GrantedWaitpoint, ReplayArgs, ResumeArgs, RevokeArgs, RotateSecretArgs, Start, SubmitArgs, SuspendArgs,
    SuspendOutcome, Timeout, WaitpointBinding, WaitpointRef,
};
use ff_core::execution::Failure;
use ff_core::lease::{Fence, Holder};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::signal::Source;
use ff_core::suspension::{
    Condition, Distinct, Handed, OperatorDecision, ResumePolicy, SuspendReason, SuspendedBy, TimeoutBehavior,
};
use ff_core::token::PresentedToken;
use ff_core::types::{
    ExecutionId, IdempotencyKey, Kind, LaneId, LeaseEpoch, Namespace, SignalName, SourceIdentity, TimestampMs,
    WaitpointId, WaitpointKey, WorkerId, WorkerInstanceId,
};
use ff_engine::Orchestration;
use uuid::Uuid;

use super::{Job, PARTITIONS, Walk, both};

const KEYS: &[&str] = &["a", "b", "approval of Zoë: {1}", "d"];

impl Walk {
    pub(super) async fn choose(&mut self) {
        match self.chance.below(100) {
            0..8 => self.submit().await,
            8..26 => self.claim().await,
            26..36 => self.create_waitpoint().await,
            36..52 => self.suspend().await,
            52..74 => self.deliver().await,
            74..78 => self.resume().await,
            78..80 => self.close_waitpoint().await,
            80..82 => self.rotate().await,
            82..88 => self.end().await,
            88..93 => {
                let partition = u16::try_from(self.chance.below(2)).unwrap();
                both!(self, pump(partition));
            }
            _ => self.clock.advance(self.chance.pick(&[1, 10, 500, 1_000, 5_000, 30_000])),
        }
    }

    async fn submit(&mut self) {
        let mut args = SubmitArgs::new(Kind::parse("approve").unwrap(), Payload::json("1"));
        args.namespace = Namespace::parse(self.chance.pick(&["default", "default", "acme"])).unwrap();
        // An id of the walk's own, so that a seed repeats.
        let nth = self.jobs.len() as u128 + 1;
        args.uuid = Uuid::from_u128((u128::from(self.seed) << 64) | (nth << 32) | nth);
        args.policy.timeout_policy.execution_deadline_ms = self.chance.maybe(4, &[700, 20_000]);
        args.policy.timeout_policy.attempt_timeout_ms = self.chance.maybe(4, &[400, 9_000]);
        args.start = self.chance.maybe(6, &[Start::After(500)]).unwrap_or(Start::Now);
        if let Some(submitted) = both!(self, submit(args.clone())) {
            self.jobs.push(Job { id: submitted.execution_id, fences: vec![], granted: vec![] });
        }
    }

    pub(super) async fn claim(&mut self) {
        let args = ClaimArgs {
            partition: u16::try_from(self.chance.below(PARTITIONS.num_flow_partitions.into())).unwrap(),
            namespace: Namespace::parse(self.chance.pick(&["default", "default", "acme"])).unwrap(),
            lane: LaneId::default_name(),
            kinds: vec![],
            max: self.chance.pick(&[1, 2, 5]),
            holder: Holder {
                worker_id: WorkerId::parse("w").unwrap(),
                worker_instance_id: WorkerInstanceId::parse(self.chance.pick(&["w-1", "w-2"])).unwrap(),
            },
            lease_ttl_ms: self.chance.pick(&[1_000, 30_000, 30_000, 600_000]),
        };
        for claimed in both!(self, claim(args.clone())).into_iter().flat_map(|claims| claims.claimed) {
            self.seen.extend(claimed.task.resumption.map(|resumption| format!("resumed by {}", resumption.by)));
            let nth = self.jobs.iter().position(|job| job.id == claimed.task.execution_id).unwrap();
            self.jobs[nth].fences.push(claimed.task.fence);
            self.taken.push(nth);
        }
    }

    async fn create_waitpoint(&mut self) {
        let Some((nth, execution_id, fence)) = self.held() else { return };
        let (key, expires_in_ms) = (self.key(), self.chance.pick(&[0, 1, 700, 20_000, 90_000]));
        let args = CreateWaitpointArgs { execution_id, fence, key, expires_in_ms };
        let granted = both!(self, create_waitpoint(args.clone()));
        self.jobs[nth].granted.extend(granted);
    }

    pub(super) async fn suspend(&mut self) {
        let Some((nth, execution_id, fence)) = self.held() else { return };
        let granted = self.jobs[nth].granted.clone();
        let waitpoints: Vec<_> = (0..1 + self.chance.below(3)).map(|_| self.binding(&granted)).collect();
        let keys: Vec<_> = waitpoints.iter().map(|binding| binding.key().clone()).collect();
        let args = SuspendArgs {
            execution_id,
            fence,
            waitpoints,
            condition: self.condition(&keys),
            reason: self.chance.pick(SuspendReason::ALL),
            requested_by: self.chance.pick(SuspendedBy::ALL),
            timeout: self.chance.maybe(
                2,
                &[
                    Timeout::After(1),
                    Timeout::After(900),
                    Timeout::At(TimestampMs(1_700_000_020_000)),
                    Timeout::At(TimestampMs(1_800_000_000_000)),
                ],
            ),
            timeout_behavior: self.chance.pick(TimeoutBehavior::ALL),
            resume_policy: ResumePolicy {
                resume_delay_ms: self.chance.maybe(4, &[5, 800]).unwrap_or(0),
                handed: self.chance.pick(&[Handed::Matched, Handed::Matched, Handed::All]),
            },
            continuation: self.chance.maybe(3, &[String::new(), "step\n3 é".into()]),
            idempotency_key: self.idempotency_key(),
            dedup_ttl_ms: self.chance.pick(&[0, 600, 1_000_000]),
        };
        let suspended = both!(self, suspend(args.clone()));
        if self.chance.one_in(5) {
            both!(self, suspend(args.clone()));
        }
        self.seen.extend(suspended.iter().map(|suspended| match suspended.outcome {
            SuspendOutcome::Suspended => "suspended".to_owned(),
            SuspendOutcome::AlreadySatisfied { .. } => "already satisfied".to_owned(),
        }));
        self.jobs[nth].granted.extend(suspended.into_iter().flat_map(|suspended| suspended.waitpoints));
    }

    fn binding(&mut self, granted: &[GrantedWaitpoint]) -> WaitpointBinding {
        if granted.is_empty() || self.chance.one_in(3) {
            return WaitpointBinding::Fresh { key: self.key() };
        }
        let lately = &granted[granted.len().saturating_sub(3)..];
        let GrantedWaitpoint { waitpoint_id, waitpoint_key, .. } = self.chance.pick(lately);
        let id = self.chance.maybe(15, &[WaitpointId::from_uuid(Uuid::nil())]).unwrap_or(waitpoint_id);
        let key = if self.chance.one_in(12) { self.key() } else { waitpoint_key };
        WaitpointBinding::Pending { id, key }
    }

    /// A condition over all of these.
    fn condition(&mut self, keys: &[WaitpointKey]) -> Condition {
        let name = |walk: &mut Self| walk.chance.maybe(3, &[SignalName::parse("go").unwrap()]);
        let leaf = |walk: &mut Self, key: &WaitpointKey| match walk.chance.below(3) {
            0 => Condition::Count {
                n: walk.chance.pick(&[1, 2, 3]),
                of: walk.chance.pick(&[Distinct::Signals, Distinct::Sources]),
                waitpoints: vec![key.clone()],
                name: name(walk),
            },
            _ => Condition::Signal { waitpoint: key.clone(), name: name(walk) },
        };
        match self.chance.below(10) {
            0 => Condition::OperatorOnly,
            1 => Condition::TimeoutOnly,
            2 | 3 => Condition::Count {
                n: self.chance.pick(&[1, 2]),
                of: self.chance.pick(Distinct::ALL),
                waitpoints: keys.to_vec(),
                name: name(self),
            },
            nth => {
                let members: Vec<_> = keys.iter().map(|key| leaf(self, key)).collect();
                let members = match nth {
                    4 => vec![Condition::AnyOf { members: members.clone() }, Condition::AllOf { members }],
                    _ => members,
                };
                match nth % 2 {
                    _ if members.len() == 1 && nth > 6 => members[0].clone(),
                    0 => Condition::AllOf { members },
                    _ => Condition::AnyOf { members },
                }
            }
        }
    }

    pub(super) async fn deliver(&mut self) {
        let Some(args) = self.signal() else { return };
        for _ in 0..self.chance.pick(&[1, 1, 1, 2]) {
            let delivered = both!(self, deliver(args.clone()));
            self.seen.extend(delivered.map(|delivered| delivered.effect.to_string()));
        }
    }

    fn signal(&mut self) -> Option<DeliverArgs> {
        let with_tokens: Vec<_> = (0..self.jobs.len()).filter(|nth| !self.jobs[*nth].granted.is_empty()).collect();
        let lately = &with_tokens[with_tokens.len().saturating_sub(6)..];
        let nth = *lately.get(self.chance.below(lately.len().max(1)))?;
        let granted = self.jobs[nth].granted.clone();
        let lately = &granted[granted.len().saturating_sub(4)..];
        let meant = self.chance.pick(lately);
        let shown = if self.chance.one_in(10) { self.chance.pick(&granted) } else { meant.clone() };
        let mut token = shown.waitpoint_token.expose();
        if self.chance.one_in(12) {
            token = self.chance.pick(&[
                String::new(),
                token[1..].into(),
                token.replace('a', "b"),
                token.replace("k1:", "k9:"),
                token.to_uppercase(),
            ]);
        }
        let waitpoint = match self.chance.below(3) {
            0 => WaitpointRef::Key(meant.waitpoint_key),
            _ => WaitpointRef::Id(meant.waitpoint_id),
        };
        let nowhere = [ExecutionId::new(0, Uuid::nil()), ExecutionId::new(9, Uuid::nil())];
        let execution_id = self.chance.maybe(30, &nowhere).unwrap_or(self.jobs[nth].id);
        let name = SignalName::parse(self.chance.pick(&["go", "go", "no"])).unwrap();
        let source =
            self.chance.pick(&[("user", Some("ada")), ("user", Some("bob")), ("bot", None), ("operator", None)]);
        let bytes = self.chance.pick(&[0, 3, 3, 2_000_000 / 8 + 5]);
        Some(DeliverArgs {
            source: Source::parse(source.0, source.1).unwrap(),
            payload: self.chance.maybe(2, &[Payload::json("\"yes\""), Payload::bytes(vec![0xff; bytes])]),
            idempotency_key: self.idempotency_key(),
            dedup_ttl_ms: self.chance.pick(&[0, 600, 1_000_000]),
            ..DeliverArgs::new(execution_id, waitpoint, PresentedToken::new(token), name)
        })
    }

    async fn resume(&mut self) {
        let Some(nth) = self.any() else { return };
        let args = ResumeArgs {
            payload: self.chance.maybe(2, &[Payload::json("2"), Payload::bytes("")]),
            reason: self.chance.maybe(2, &[String::new(), "because".into()]),
            requested_by: self.chance.maybe(2, &[SourceIdentity::parse("ada: {1}").unwrap()]),
            resume_delay_ms: self.chance.maybe(3, &[0, 40, limits::SPAN_MAX_MS + 1]),
            ..ResumeArgs::new(self.jobs[nth].id, self.chance.pick(OperatorDecision::ALL))
        };
        both!(self, resume(args.clone()));
        both!(self, resume(args.clone()));
    }

    async fn close_waitpoint(&mut self) {
        let Some(nth) = self.any() else { return };
        let unknown = WaitpointId::from_uuid(Uuid::nil());
        let waitpoint_id = self.jobs[nth].granted.last().map_or(unknown, |granted| granted.waitpoint_id);
        let reason = self.chance.maybe(2, &[String::new(), "not needed".into()]);
        let args = CloseWaitpointArgs { execution_id: self.jobs[nth].id, waitpoint_id, reason };
        both!(self, close_waitpoint(args.clone()));
        both!(self, waitpoint_token(&args.execution_id, &waitpoint_id));
    }

    async fn rotate(&mut self) {
        let (kid, secret) = self.chance.pick(&[("k1", "c0ffee"), ("k2", "facade"), ("k 3", "C0DE"), ("k4", "0d0d")]);
        let grace_ms = self.chance.pick(&[0, 2_000, 40_000]);
        let args = RotateSecretArgs::parse(kid, &secret.repeat(8), grace_ms).unwrap();
        both!(self, rotate_secret(args.clone()));
    }

    pub(super) async fn end(&mut self) {
        let Some((nth, execution_id, fence)) = self.held() else { return };
        match self.chance.below(8) {
            0 => drop(both!(self, complete(CompleteArgs { execution_id, fence, result: None }))),
            1 => {
                let failure = Failure { category: Kind::parse("x").unwrap(), message: "no".into(), permanent: false };
                both!(self, fail(FailArgs { execution_id, fence, failure: failure.clone() }));
            }
            2 => drop(both!(self, delay(DelayArgs { execution_id, fence, start: Start::After(300) }))),
            3 => drop(both!(self, revoke(RevokeArgs { execution_id, lease_id: None, reason: None }))),
            4 | 5 => {
                let Some(nth) = self.any() else { return };
                let execution_id = self.jobs[nth].id;
                both!(self, cancel(CancelArgs { execution_id, reason: None, requested_by: None }));
            }
            _ => {
                let execution_id = self.any().map_or(self.jobs[nth].id, |nth| self.jobs[nth].id);
                let args = ReplayArgs { execution_id, reason: None, requested_by: None, reopen_downstream: false };
                both!(self, replay(args.clone()));
            }
        }
    }

    /// A job that was held lately, and mostly its last fence.
    pub(super) fn held(&mut self) -> Option<(usize, ExecutionId, Fence)> {
        let lately = &self.taken[self.taken.len().saturating_sub(6)..];
        let nth = *lately.get(self.chance.below(lately.len().max(1)))?;
        let mut fence = *self.jobs[nth].fences.last()?;
        if self.chance.one_in(20) {
            fence.lease_epoch = LeaseEpoch(fence.lease_epoch.0 + 1);
        }
        Some((nth, self.jobs[nth].id, fence))
    }

    /// A job of the last few.
    pub(super) fn any(&mut self) -> Option<usize> {
        let lately = self.jobs.len().min(6);
        (lately > 0).then(|| self.jobs.len() - 1 - self.chance.below(lately))
    }

    fn key(&mut self) -> WaitpointKey {
        WaitpointKey::parse(self.chance.pick(KEYS)).unwrap()
    }

    fn idempotency_key(&mut self) -> Option<IdempotencyKey> {
        self.chance.maybe(3, &["x", "y z"]).map(|key| IdempotencyKey::parse(key).unwrap())
    }
}
