//! The published wrappers, called as the published pages write them: with their key contexts, arguments and results.

use ff_core::contracts::{
    CloseWaitpointArgs, CloseWaitpointResult, CreatePendingWaitpointArgs, CreatePendingWaitpointResult,
    ExpireSuspensionArgs, ExpireSuspensionResult, ListWaitpointHmacKidsArgs, ResumeExecutionArgs,
    ResumeExecutionResult, RotateWaitpointHmacSecretArgs, RotateWaitpointHmacSecretOutcome, SuspendExecutionArgs,
    SuspendExecutionResult, VerifyingKid, WaitpointHmacKids,
};
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::partition::{PartitionConfig, execution_partition};
use ff_core::state::PublicState;
use ff_core::suspension::TimeoutBehavior;
use ff_core::types::{
    AttemptIndex, ExecutionId, LaneId, SuspensionId, TimestampMs, WaitpointId, WaitpointKey, WorkerInstanceId,
};
use ff_script::published::ff_expire_suspension;
use ff_script::signature::SIGNATURES;
use ff_script::suspension::{
    ExpireSuspensionOpKeys, ResumeOpKeys, SuspendOpKeys, WaitpointOpKeys, ff_close_waitpoint,
    ff_create_pending_waitpoint, ff_list_waitpoint_hmac_kids, ff_resume_execution, ff_rotate_waitpoint_hmac_secret,
    ff_suspend_execution,
};
use ff_script::{FcallResult, FromFcallResult, LibraryClock, ScriptError, Value};

use super::scene::{Scene, Stand};
use crate::situation::Situation;
use crate::wire::Wire;

/// The values from which a program makes its calls.
struct Program<'w> {
    wire: &'w Wire,
    ctx: ExecKeyContext,
    idx: IndexKeys,
    lane_id: LaneId,
    worker_instance_id: WorkerInstanceId,
    execution_id: ExecutionId,
}

impl<'w> Program<'w> {
    fn new(scene: &Scene<'w>) -> Self {
        let execution_id = ExecutionId::parse(&scene.subject.id.to_string()).unwrap();
        let partition = execution_partition(&execution_id, &PartitionConfig::default());
        Self {
            wire: scene.wire,
            ctx: ExecKeyContext::new(&partition, &execution_id),
            idx: IndexKeys::new(&partition),
            lane_id: LaneId::new("default"),
            worker_instance_id: WorkerInstanceId::parse("w-1").unwrap(),
            execution_id,
        }
    }

    fn waitpoint_keys(&self) -> WaitpointOpKeys<'_> {
        WaitpointOpKeys { ctx: &self.ctx, idx: &self.idx }
    }

    async fn suspend(&self, args: &SuspendExecutionArgs) -> Result<SuspendExecutionResult, ScriptError> {
        let Self { ctx, idx, lane_id, worker_instance_id, .. } = self;
        ff_suspend_execution(self.wire, &SuspendOpKeys { ctx, idx, lane_id, worker_instance_id }, args).await
    }

    async fn create(&self, waitpoint_id: WaitpointId, key: &str) -> (WaitpointId, WaitpointKey, String) {
        let args = CreatePendingWaitpointArgs {
            execution_id: self.execution_id,
            attempt_index: AttemptIndex::new(0),
            waitpoint_id,
            waitpoint_key: WaitpointKey::parse(key).unwrap(),
            expires_in_ms: 1_000,
        };
        let created = ff_create_pending_waitpoint(self.wire, &self.waitpoint_keys(), &args).await.unwrap();
        let CreatePendingWaitpointResult::Created { waitpoint_id, waitpoint_key, waitpoint_token } = created;
        (waitpoint_id, waitpoint_key, waitpoint_token.expose())
    }

    async fn expire(&self, waitpoint_id: &WaitpointId) -> ExpireSuspensionResult {
        let Self { ctx, idx, lane_id, .. } = self;
        let keys = ExpireSuspensionOpKeys { ctx, idx, lane_id, waitpoint_id, attempt_index: AttemptIndex::new(0) };
        let args = ExpireSuspensionArgs { execution_id: self.execution_id };
        ff_expire_suspension(self.wire, &keys, &args).await.unwrap()
    }
}

fn suspension(scene: &Scene<'_>, timeout_at: Option<TimestampMs>) -> SuspendExecutionArgs {
    let fence = scene.subject.fence;
    SuspendExecutionArgs {
        execution_id: scene.subject.id,
        attempt_index: AttemptIndex::new(0),
        attempt_id: fence.attempt_id,
        lease_id: fence.lease_id,
        lease_epoch: fence.lease_epoch,
        suspension_id: SuspensionId::new(),
        waitpoint_id: WaitpointId::new(),
        waitpoint_key: WaitpointKey::parse("a").unwrap(),
        reason_code: "waiting_for_signal".into(),
        requested_by: "worker".into(),
        timeout_at,
        resume_condition_json: r#"{"type":"signal","waitpoint":"a"}"#.into(),
        resume_policy_json: String::new(),
        continuation_metadata_pointer: Some("step-2".into()),
        use_pending_waitpoint: false,
        timeout_behavior: TimeoutBehavior::Escalate,
    }
}

#[tokio::test]
async fn an_execution_is_suspended_and_resumed() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let (program, args) = (Program::new(&scene), suspension(&scene, None));
    let suspended = program.suspend(&args).await.unwrap();
    let SuspendExecutionResult::Suspended { suspension_id, waitpoint_id, waitpoint_key, waitpoint_token } = suspended
    else {
        panic!("no signal came before")
    };
    assert_eq!((suspension_id, waitpoint_id, waitpoint_key.as_str()), (args.suspension_id, args.waitpoint_id, "a"));
    assert_eq!(waitpoint_token.expose(), scene.token(&waitpoint_id, "a"));

    let Program { ctx, idx, lane_id, execution_id, .. } = &program;
    let keys = ResumeOpKeys { ctx, idx, lane_id, waitpoint_id: &waitpoint_id };
    for (trigger_type, resume_delay_ms) in [("operator", 5), ("operator", 5)] {
        let args =
            ResumeExecutionArgs { execution_id: *execution_id, trigger_type: trigger_type.into(), resume_delay_ms };
        let ResumeExecutionResult::Resumed { public_state } = ff_resume_execution(&wire, &keys, &args).await.unwrap();
        assert_eq!(public_state, PublicState::Delayed);
    }
}

#[tokio::test]
async fn a_signal_that_came_to_a_pending_waitpoint_satisfies_the_suspension() {
    let wire = Wire::start(LibraryClock::Test).await;
    let mut scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let program = Program::new(&scene);
    let (id, key, token) = program.create(WaitpointId::new(), "a").await;
    assert_eq!((key.as_str(), &token), ("a", &scene.token(&id, "a")));
    assert_eq!(program.create(WaitpointId::new(), "a").await, (id, key, token.clone()));
    scene.granted = Some(super::published::granted(&[id.to_string(), "a".into(), token]));
    scene.deliver().await;
    let pending = SuspendExecutionArgs { waitpoint_id: id, use_pending_waitpoint: true, ..suspension(&scene, None) };
    let satisfied = program.suspend(&pending).await.unwrap();
    let SuspendExecutionResult::AlreadySatisfied { suspension_id, waitpoint_id, waitpoint_key, waitpoint_token } =
        satisfied
    else {
        panic!("the signal came before")
    };
    assert_eq!((suspension_id, waitpoint_id, waitpoint_key.as_str()), (pending.suspension_id, id, "a"));
    assert_eq!(waitpoint_token, scene.granted().waitpoint_token);
}

#[tokio::test]
async fn a_pending_waitpoint_is_closed() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let program = Program::new(&scene);
    let (waitpoint_id, ..) = program.create(WaitpointId::new(), "b").await;
    let reason = Some("not needed".into());
    let args = CloseWaitpointArgs { execution_id: program.execution_id, waitpoint_id, reason };
    for _ in 0..2 {
        let closed = ff_close_waitpoint(&wire, &program.waitpoint_keys(), &args).await.unwrap();
        assert_eq!(closed, CloseWaitpointResult::Closed);
    }
}

#[tokio::test]
async fn a_suspension_expires_when_it_is_due() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let at = TimestampMs(i64::try_from(wire.now()).unwrap() + 100);
    let (program, args) = (Program::new(&scene), suspension(&scene, Some(at)));
    program.suspend(&args).await.unwrap();
    let early = program.expire(&args.waitpoint_id).await;
    assert_eq!(early, ExpireSuspensionResult::AlreadySatisfied { reason: "not_yet_due".into() });
    wire.advance(100).await;
    let expired = program.expire(&args.waitpoint_id).await;
    assert_eq!(expired, ExpireSuspensionResult::Expired { behavior_applied: TimeoutBehavior::Escalate });
}

#[tokio::test]
async fn a_secret_is_rotated_and_listed() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let Program { idx, .. } = Program::new(&scene);
    let rotate = async |secret: &str| {
        let (new_kid, new_secret_hex) = ("k2".to_owned(), secret.to_owned());
        let args = RotateWaitpointHmacSecretArgs { new_kid, new_secret_hex, grace_ms: 700 };
        ff_rotate_waitpoint_hmac_secret(&wire, &idx, &args).await
    };
    let (previous_kid, new_kid) = (Some("k1".to_owned()), "k2".to_owned());
    let rotated = RotateWaitpointHmacSecretOutcome::Rotated { previous_kid, new_kid, gc_count: 0 };
    assert_eq!(rotate("c0ffee").await, Ok(rotated));
    assert_eq!(rotate("c0ffee").await, Ok(RotateWaitpointHmacSecretOutcome::Noop { kid: "k2".into() }));
    assert!(matches!(rotate("facade").await, Err(ScriptError::RotationConflict(_))));

    let kids = ff_list_waitpoint_hmac_kids(&wire, &idx, &ListWaitpointHmacKidsArgs {}).await.unwrap();
    let WaitpointHmacKids { current_kid, verifying } = kids;
    let expires_at_ms = i64::try_from(wire.now()).unwrap() + 700;
    assert_eq!(current_kid.as_deref(), Some("k2"));
    assert_eq!(verifying, [VerifyingKid { kid: "k1".into(), expires_at_ms }]);
}

/// Programs that send a call themselves read its answer as the wrappers do.
#[test]
fn every_outcome_is_read_from_an_answer() {
    fn read<T: FromFcallResult>(function: &str, fields: &[&str]) -> T {
        let signature = SIGNATURES.iter().find(|signature| signature.name == function).unwrap();
        let fields = fields.iter().map(|field| Value::from(*field));
        let answer = [Value::Int(1), Value::from("OK")].into_iter().chain(fields).collect();
        T::from_fcall_result(FcallResult::parse(signature, Value::List(answer)).unwrap()).unwrap()
    }
    let (id, token) = (WaitpointId::new(), format!("k1:{}", "0".repeat(64)));
    let (id_text, suspension) = (id.to_string(), SuspensionId::new().to_string());
    let granted = [suspension.as_str(), &id_text, "a", &token];
    let suspended: SuspendExecutionResult = read("ff_suspend_execution", &granted);
    assert!(matches!(suspended, SuspendExecutionResult::Suspended { waitpoint_id, .. } if waitpoint_id == id));
    let created: CreatePendingWaitpointResult = read("ff_create_pending_waitpoint", &granted[1..]);
    assert!(matches!(created, CreatePendingWaitpointResult::Created { waitpoint_id, .. } if waitpoint_id == id));
    let resumed: ResumeExecutionResult = read("ff_resume_execution", &["waiting"]);
    assert_eq!(resumed, ResumeExecutionResult::Resumed { public_state: PublicState::Waiting });
    let closed: CloseWaitpointResult = read("ff_close_waitpoint", &[]);
    assert_eq!(closed, CloseWaitpointResult::Closed);
    let expired: ExpireSuspensionResult = read("ff_expire_suspension", &["not_yet_due"]);
    assert_eq!(expired, ExpireSuspensionResult::AlreadySatisfied { reason: "not_yet_due".into() });
    let rotated: RotateWaitpointHmacSecretOutcome = read("ff_rotate_waitpoint_hmac_secret", &["noop", "k2"]);
    assert_eq!(rotated, RotateWaitpointHmacSecretOutcome::Noop { kid: "k2".into() });
    let kids: WaitpointHmacKids = read("ff_list_waitpoint_hmac_kids", &["k2", "1", "k1", "700"]);
    let verifying = vec![VerifyingKid { kid: "k1".into(), expires_at_ms: 700 }];
    assert_eq!((kids.current_kid.as_deref(), kids.verifying), (Some("k2"), verifying));
}
