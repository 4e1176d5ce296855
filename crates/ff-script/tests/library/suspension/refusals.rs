//! Every refusal that the functions of suspensions and signals name: it is given, and nothing is written.

use Code::*;
use Situation::*;
use Stand::*;
use ff_core::engine_error::Code;
use ff_core::types::WaitpointId;
use ff_script::signature::{
    BufferSignalForPendingWaitpoint, CreatePendingWaitpoint, DeliverSignal, OpenWaitpoint, ResumeExecution,
    RotateWaitpointHmacSecret, SuspendExecution,
};
use ff_script::{Fcall, LibraryClock};

use super::scene::{Scene, Stand};
use crate::malformed;
use crate::refused::assert_refused;
use crate::situation::Situation;
use crate::wire::Wire;

/// The state of the execution, the call, and the expected code.
type Case = (Stand, fn(&Scene) -> Fcall, Code);

const SUSPEND: &[Case] = &[
    (Plain(Absent), |scene| scene.suspend_call().call(), ExecutionNotFound),
    (Plain(Waiting), |scene| scene.suspend_call().call(), ExecutionNotActive),
    (Suspended, |scene| SuspendExecution { lease_epoch: Some(7), ..scene.suspend_call() }.call(), StaleLease),
    (Plain(HeldByAnother), |scene| scene.suspend_call().call(), StaleLease),
    (Plain(RanOut), |scene| scene.suspend_call().call(), LeaseExpired),
    (Plain(Revoked), |scene| scene.suspend_call().call(), LeaseRevoked),
    (
        Plain(Held),
        |scene| SuspendExecution { lease_id: None, lease_epoch: None, attempt_id: None, ..scene.suspend_call() }.call(),
        FenceRequired,
    ),
    (Plain(Held), |scene| SuspendExecution { lease_id: None, ..scene.suspend_call() }.call(), PartialFenceTriple),
    (Rotated, |scene| scene.suspend_call().call(), WaitpointTokenRequired),
    (
        Plain(Held),
        |scene| SuspendExecution { secret_mark: Some("another".into()), ..scene.suspend_call() }.call(),
        WaitpointTokenRequired,
    ),
    (
        Plain(Held),
        |scene| SuspendExecution { waitpoint_token: Some("k2:00".into()), ..scene.suspend_call() }.call(),
        WaitpointTokenRequired,
    ),
    (
        Plain(Held),
        |scene| {
            SuspendExecution { further: vec![["short".into(), "b".into(), "".into()]], ..scene.suspend_call() }.call()
        },
        AdditionalWaitpointBindingMalformed,
    ),
    (
        Plain(Held),
        |scene| {
            let mut call = scene.suspend_call();
            call.further = vec![[WaitpointId::new().to_string().into(), "a".into(), "".into()]];
            call.call()
        },
        AdditionalWaitpointBindingMalformed,
    ),
    (WithoutSecrets, |scene| scene.suspend_call().call(), HmacSecretNotInitialized),
    (
        Pending,
        |scene| {
            let waitpoint_id = WaitpointId::new().to_string();
            SuspendExecution { waitpoint_id, ..scene.suspend_on_granted() }.call()
        },
        WaitpointNotFound,
    ),
    (GoneOn, |scene| scene.suspend_on_granted().call(), WaitpointNotPending),
    (PendingClosed, |scene| scene.suspend_on_granted().call(), WaitpointNotPending),
    (Pending, |scene| scene.suspend_call().call(), WaitpointAlreadyExists),
    (
        GoneOn,
        |scene| {
            let waitpoint_id = scene.granted().waitpoint_id.to_string();
            SuspendExecution { waitpoint_id, ..scene.suspend_call() }.call()
        },
        WaitpointAlreadyExists,
    ),
    (PendingRanOut, |scene| scene.suspend_on_granted().call(), PendingWaitpointExpired),
    (
        Pending,
        |scene| {
            let condition = r#"{"type":"signal","waitpoint":"b"}"#.into();
            let call = SuspendExecution { waitpoint_key: "b".into(), ..scene.suspend_on_granted() };
            SuspendExecution { resume_condition_json: condition, ..call }.call()
        },
        InvalidWaitpointKey,
    ),
    (
        Plain(Held),
        |scene| SuspendExecution { waitpoint_key: "a\nb".into(), ..scene.suspend_call() }.call(),
        InvalidWaitpointKey,
    ),
    (Plain(Held), |scene| SuspendExecution { timeout_at: Some(1), ..scene.suspend_call() }.call(), InvalidInput),
    (
        Plain(Held),
        |scene| SuspendExecution { reason_code: "r".repeat(257), ..scene.suspend_call() }.call(),
        InvalidInput,
    ),
    (Plain(Held), |scene| SuspendExecution { requested_by: "\n".into(), ..scene.suspend_call() }.call(), InvalidInput),
    (
        Plain(Held),
        |scene| SuspendExecution { requested_by: "\u{85}".into(), ..scene.suspend_call() }.call(),
        InvalidInput,
    ),
    (
        Plain(Held),
        |scene| SuspendExecution { timeout_behavior: "x".into(), ..scene.suspend_call() }.call(),
        InvalidInput,
    ),
    (Plain(Held), |scene| condition(scene, "{"), InvalidJson),
    (Plain(Held), |scene| condition(scene, "[]"), InvalidJson),
    (Plain(Held), |scene| condition(scene, r#"{"type":"all_of","members":[]}"#), InvalidJson),
    (Plain(Held), |scene| condition(scene, r#"{"type":"signal"}"#), InvalidJson),
    (Plain(Held), |scene| condition(scene, r#"{"type":"signal","waitpoint":"a","mood":"b"}"#), InvalidJson),
    (Plain(Held), |scene| condition(scene, r#"{"type":"count","n":0,"of":"signals","waitpoints":["a"]}"#), InvalidJson),
    (Plain(Held), |scene| condition(scene, r#"{"type":"any_of","members":[{"type":"some_of"}]}"#), InvalidJson),
    (Plain(Held), |scene| policy(scene, "x"), InvalidPolicyJson),
    (Plain(Held), |scene| policy(scene, r#"{"resume_delay_ms":-1}"#), InvalidPolicyJson),
    (Plain(Held), |scene| policy(scene, r#"{"signals":"some"}"#), InvalidPolicyJson),
    (Plain(Held), |scene| policy(scene, r#"{"close_waitpoint_on_resume":true}"#), InvalidPolicyJson),
];

fn condition(scene: &Scene, json: &str) -> Fcall {
    SuspendExecution { resume_condition_json: json.into(), ..scene.suspend_call() }.call()
}

fn policy(scene: &Scene, json: &str) -> Fcall {
    SuspendExecution { resume_policy_json: Some(json.into()), ..scene.suspend_call() }.call()
}

const CREATE: &[Case] = &[
    (Plain(Absent), |scene| scene.create_call("b").call(), ExecutionNotFound),
    (Suspended, |scene| scene.create_call("b").call(), ExecutionNotActive),
    (Plain(HeldByAnother), |scene| scene.create_call("b").call(), StaleLease),
    (Plain(RanOut), |scene| scene.create_call("b").call(), LeaseExpired),
    (Plain(Revoked), |scene| scene.create_call("b").call(), LeaseRevoked),
    (
        Plain(Held),
        |scene| {
            let call = unfenced(scene.create_call("b"));
            CreatePendingWaitpoint { attempt_index: None, ..call }.call()
        },
        FenceRequired,
    ),
    (Plain(Absent), |scene| unfenced(scene.create_call("b")).call(), ExecutionNotFound),
    (Plain(Waiting), |scene| unfenced(scene.create_call("b")).call(), ExecutionNotActive),
    (Suspended, |scene| unfenced(scene.create_call("b")).call(), ExecutionNotActive),
    (Plain(RanOut), |scene| unfenced(scene.create_call("b")).call(), LeaseExpired),
    (
        Plain(Held),
        |scene| CreatePendingWaitpoint { attempt_index: Some(1), ..unfenced(scene.create_call("b")) }.call(),
        StaleLease,
    ),
    (WithoutSecrets, |scene| unsigned(scene.create_call("b")).call(), HmacSecretNotInitialized),
    (
        Plain(Held),
        |scene| CreatePendingWaitpoint { attempt_id: None, ..scene.create_call("b") }.call(),
        PartialFenceTriple,
    ),
    (
        Plain(Held),
        |scene| CreatePendingWaitpoint { waitpoint_token: Some("unsigned".into()), ..scene.create_call("b") }.call(),
        WaitpointTokenRequired,
    ),
    (
        Pending,
        |scene| {
            let waitpoint_id = scene.granted().waitpoint_id.to_string();
            CreatePendingWaitpoint { waitpoint_id, ..scene.create_call("b") }.call()
        },
        WaitpointAlreadyExists,
    ),
    (WithoutSecrets, |scene| scene.create_call("b").call(), HmacSecretNotInitialized),
    (Plain(Held), |scene| scene.create_call("").call(), InvalidWaitpointKey),
    (Plain(Held), |scene| scene.create_call(&"k".repeat(257)).call(), InvalidWaitpointKey),
    (
        Plain(Held),
        |scene| CreatePendingWaitpoint { expires_in_ms: None, ..scene.create_call("b") }.call(),
        InvalidInput,
    ),
    (
        Plain(Held),
        |scene| {
            let call = CreatePendingWaitpoint { expires_in_ms: None, ..scene.create_call("b") };
            CreatePendingWaitpoint { expires_at: Some(1), ..call }.call()
        },
        InvalidInput,
    ),
    (FullOfWaitpoints, |scene| scene.create_call("b").call(), LimitExceeded),
];

fn unfenced(call: CreatePendingWaitpoint) -> CreatePendingWaitpoint {
    CreatePendingWaitpoint { lease_id: None, lease_epoch: None, attempt_id: None, ..call }
}

fn unsigned(call: CreatePendingWaitpoint) -> CreatePendingWaitpoint {
    CreatePendingWaitpoint { waitpoint_token: None, ..call }
}

const CLOSE: &[Case] = &[
    (Plain(Absent), |scene| scene.close_call().call(), ExecutionNotFound),
    (Plain(Held), |scene| scene.close_call().call(), WaitpointNotFound),
    (Suspended, |scene| scene.close_call().call(), WaitpointNotPending),
];

const RESUME: &[Case] = &[
    (Plain(Absent), |scene| scene.resume_call().call(), ExecutionNotFound),
    (Plain(Held), |scene| scene.resume_call().call(), ExecutionNotSuspended),
    (GoneOn, |scene| scene.resume_call().call(), ExecutionNotSuspended),
    (
        Suspended,
        |scene| {
            let suspension_id = Some(WaitpointId::new().to_string());
            ResumeExecution { suspension_id, ..scene.resume_call() }.call()
        },
        ExecutionNotSuspended,
    ),
    (Suspended, |scene| ResumeExecution { trigger_type: "t".repeat(257), ..scene.resume_call() }.call(), InvalidInput),
    (
        Suspended,
        |scene| ResumeExecution { requested_by: Some("a\nb".into()), ..scene.resume_call() }.call(),
        InvalidInput,
    ),
];

const READ_WAITPOINTS: &[Case] = &[(Plain(Absent), |scene| scene.read_waitpoints_call().call(), ExecutionNotFound)];

const READ_SIGNALS: &[Case] = &[(Plain(Absent), |scene| scene.read_signals_call().call(), ExecutionNotFound)];

const CLAIM: &[Case] = &[
    (Plain(Absent), |scene| scene.claim_call().call(), ExecutionNotFound),
    (Suspended, |scene| scene.claim_call().call(), ExecutionNotEligible),
    (PutOff, |scene| scene.claim_call().call(), ExecutionNotEligible),
    (Plain(Waiting), |scene| scene.claim_call().call(), NotAResumedExecution),
    (Plain(Revoked), |scene| scene.claim_call().call(), NotAResumedExecution),
];

const ROTATE: &[Case] = &[
    (Plain(Held), |scene| RotateWaitpointHmacSecret { new_kid: "".into(), ..scene.rotate_call() }.call(), InvalidKid),
    (
        Plain(Held),
        |scene| RotateWaitpointHmacSecret { new_kid: "a:b".into(), ..scene.rotate_call() }.call(),
        InvalidKid,
    ),
    (Plain(Held), |scene| secret(scene, "", "0"), InvalidSecretHex),
    (Plain(Held), |scene| secret(scene, "c0f", "0"), InvalidSecretHex),
    (Plain(Held), |scene| secret(scene, "xy", "0"), InvalidSecretHex),
    (Plain(Held), |scene| secret(scene, &"00".repeat(1_025), "0"), InvalidSecretHex),
    (Plain(Held), |scene| secret(scene, "00", "-1"), InvalidGraceMs),
    (Plain(Held), |scene| secret(scene, "00", "1e15"), InvalidGraceMs),
    (
        Plain(Held),
        |scene| RotateWaitpointHmacSecret { new_kid: "k1".into(), ..scene.rotate_call() }.call(),
        RotationConflict,
    ),
    (FullOfSecrets, |scene| scene.rotate_call().call(), LimitExceeded),
];

fn secret(scene: &Scene, hex: &str, grace_ms: &str) -> Fcall {
    let (new_secret_hex, grace_ms) = (hex.to_owned().into(), grace_ms.to_owned().into());
    RotateWaitpointHmacSecret { new_secret_hex, grace_ms, ..scene.rotate_call() }.call()
}

/// Returns a MAC that is wrong in one place.
fn forged(mac: &str, at: usize) -> String {
    let other = if mac.as_bytes()[at] == b'0' { "1" } else { "0" };
    format!("{}{other}{}", &mac[..at], &mac[at + 1..])
}

const DELIVER: &[Case] = &[
    (Suspended, |scene| wrong_mac(scene, 0), InvalidToken),
    (Suspended, |scene| wrong_mac(scene, 63), InvalidToken),
    (Cancelled, |scene| wrong_mac(scene, 31), InvalidToken),
    (FullOfSignals, |scene| wrong_mac(scene, 31), InvalidToken),
    (Suspended, |scene| DeliverSignal { mac: "00".into(), ..scene.deliver_call() }.call(), InvalidToken),
    (Suspended, |scene| DeliverSignal { kid: "k2".into(), ..scene.deliver_call() }.call(), InvalidToken),
    (
        Suspended,
        |scene| DeliverSignal { waitpoint_id: WaitpointId::new().to_string(), ..scene.deliver_call() }.call(),
        InvalidToken,
    ),
    (
        Suspended,
        |scene| DeliverSignal { secret_mark: Some("0".repeat(16)), ..wrong_mac_call(scene, 31) }.call(),
        InvalidToken,
    ),
    (Retired, |scene| scene.deliver_call().call(), TokenExpired),
    (Cancelled, |scene| scene.deliver_call().call(), TargetNotSignalable),
    (PendingRanOut, |scene| scene.deliver_call().call(), PendingWaitpointExpired),
    (PendingClosed, |scene| scene.deliver_call().call(), WaitpointClosed),
    (GoneOn, |scene| scene.deliver_call().call(), WaitpointClosed),
    (FullOfSignals, |scene| scene.deliver_call().call(), SignalLimitExceeded),
    (FullOfEarlySignals, |scene| scene.deliver_call().call(), SignalLimitExceeded),
];

const OPEN: &[Case] = &[
    (Suspended, |scene| OpenWaitpoint { kid: "k2".into(), ..scene.open_call() }.call(), InvalidToken),
    (
        Suspended,
        |scene| {
            let waitpoint_key = Some("unknown".into());
            OpenWaitpoint { waitpoint_id: None, waitpoint_key, ..scene.open_call() }.call()
        },
        InvalidToken,
    ),
];

fn wrong_mac(scene: &Scene, at: usize) -> Fcall {
    wrong_mac_call(scene, at).call()
}

fn wrong_mac_call(scene: &Scene, at: usize) -> DeliverSignal {
    let call = scene.deliver_call();
    DeliverSignal { mac: forged(&call.mac, at), ..call }
}

/// Returns the call that buffers a signal, which takes the same as the call that delivers one.
fn buffer(deliver: DeliverSignal) -> Fcall {
    Fcall { signature: &BufferSignalForPendingWaitpoint::SIGNATURE, ..deliver.call() }
}

const BUFFER: &[Case] = &[
    (Pending, |scene| buffer(DeliverSignal { mac: "0".repeat(64), ..scene.deliver_call() }), InvalidToken),
    (Retired, |scene| buffer(scene.deliver_call()), TokenExpired),
    (Cancelled, |scene| buffer(scene.deliver_call()), TargetNotSignalable),
    (PendingRanOut, |scene| buffer(scene.deliver_call()), PendingWaitpointExpired),
    (PendingClosed, |scene| buffer(scene.deliver_call()), WaitpointClosed),
    (Suspended, |scene| buffer(scene.deliver_call()), WaitpointNotPending),
    (FullOfEarlySignals, |scene| buffer(scene.deliver_call()), SignalLimitExceeded),
];

const CASES: &[(&str, &[Case])] = &[
    ("ff_suspend_execution", SUSPEND),
    ("ff_create_pending_waitpoint", CREATE),
    ("ff_close_waitpoint", CLOSE),
    ("ff_resume_execution", RESUME),
    ("ff_read_waitpoints", READ_WAITPOINTS),
    ("ff_read_signals", READ_SIGNALS),
    ("ff_claim_resumed_execution", CLAIM),
    ("ff_rotate_waitpoint_hmac_secret", ROTATE),
    ("ff_deliver_signal", DELIVER),
    ("ff_open_waitpoint", OPEN),
    ("ff_buffer_signal_for_pending_waitpoint", BUFFER),
];

#[tokio::test]
async fn a_refusal_is_given_and_writes_nothing() {
    let wire = Wire::start(LibraryClock::Test).await;
    for (function, cases) in CASES {
        for (nth, (stand, call, code)) in cases.iter().enumerate() {
            wire.empty().await;
            let scene = stand.arrange(&wire).await;
            let call = call(&scene);
            assert_eq!(call.signature.name, *function);
            let case = format!("case {nth} of {function}, {stand:?}");
            assert_refused(&wire, &case, *code, malformed::ask(&wire, &call)).await;
        }
    }
}

/// Returns the functions and refusals that are tested here.
pub(crate) fn tried() -> impl Iterator<Item = (&'static str, &'static str)> {
    CASES.iter().flat_map(|(function, cases)| cases.iter().map(|(_, _, code)| (*function, code.as_str())))
}
