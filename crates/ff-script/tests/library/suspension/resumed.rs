//! Resumed executions, claimed with functions that our stores do not call.

use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{ClaimedExecution, SuspendOutcome};
use ff_core::engine_error::Code;
use ff_core::lease::Holder;
use ff_core::payload::Payload;
use ff_core::signal::Effect;
use ff_core::suspension::ResumedBy;
use ff_core::token::PresentedToken;
use ff_core::types::Kid;
use ff_script::published::{ff_buffer_signal_for_pending_waitpoint, ff_claim_resumed_execution};
use ff_script::signal::{VerifiedToken, ff_deliver_signal, ff_open_waitpoint};
use ff_script::suspension::{NamedWaitpoint, SignedSuspension, ff_read_waitpoint_hmac_secrets, suspend_signed};
use ff_script::{LibraryClock, ScriptError};

use super::scene::{Scene, Stand};
use crate::situation::LEASE_TTL_MS;
use crate::wire::Wire;

async fn claim_resumed(scene: &Scene<'_>) -> Result<ClaimedExecution, ScriptError> {
    let holder = Holder::parse("w", "w-2").unwrap();
    ff_claim_resumed_execution(scene.wire, &scene.subject.id, &holder, LEASE_TTL_MS, &SystemEntropy.nonce()).await
}

#[tokio::test]
async fn a_resumed_execution_is_claimed_by_its_id_with_its_signals() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Suspended.arrange(&wire).await;
    scene.deliver().await;
    let ClaimedExecution { task, payload, signals, .. } = claim_resumed(&scene).await.unwrap();
    assert_eq!((task.execution_id, task.resumed), (scene.subject.id, true));
    assert_eq!(task.fence.attempt_id, scene.subject.fence.attempt_id);
    assert_eq!(task.fence.lease_epoch, scene.subject.fence.lease_epoch.next());
    assert_eq!((task.namespace.as_str(), task.lane_id.as_str()), ("default", "default"));
    assert_eq!(payload, Payload::json("1"));
    let resumption = task.resumption.unwrap();
    assert_eq!(resumption.by, ResumedBy::Signals);
    assert_eq!(resumption.signals, signals.iter().map(|received| received.signal.id).collect::<Vec<_>>());
    let error = claim_resumed(&scene).await.unwrap_err();
    assert_eq!(error.refusal().unwrap().code, Code::ExecutionNotEligible);
}

#[tokio::test]
async fn a_buffered_signal_satisfies_a_later_suspension() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Pending.arrange(&wire).await;
    let granted = scene.granted();
    let nonce = SystemEntropy.nonce();
    let shown = VerifiedToken { token: granted.waitpoint_token.clone(), secret_mark: None };
    let call = ff_buffer_signal_for_pending_waitpoint(&wire, scene.signal(), &granted.waitpoint_id, &shown, &nonce);
    assert_eq!(call.await.unwrap().effect, Effect::Buffered);
    let ahead = NamedWaitpoint { id: granted.waitpoint_id, key: granted.waitpoint_key.clone(), token: None };
    let signed = SignedSuspension { waitpoints: vec![ahead], ..scene.suspension("a") };
    let suspended = suspend_signed(&wire, &signed).await.unwrap();
    assert!(matches!(suspended.outcome, SuspendOutcome::AlreadySatisfied { .. }));
    assert_eq!(suspended.waitpoints[..], *std::slice::from_ref(granted));
}

#[tokio::test]
async fn a_token_is_judged_by_the_secret_of_its_kid() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Suspended.arrange(&wire).await;
    let (args, token) = (scene.signal(), &scene.granted().waitpoint_token);
    let open = async || ff_open_waitpoint(&wire, &args.execution_id, &args.waitpoint, &token.kid).await.unwrap();
    let verified = open().await.verify(&args.execution_id, &args.token, &token.kid).unwrap();
    assert_eq!(verified.token, *token);
    scene.rotate("k2", 1_000).await;
    wire.advance(1_000).await;
    let opened = open().await;
    assert_eq!(opened.verify(&args.execution_id, &args.token, &token.kid), Err(Code::TokenExpired));
    assert!(!format!("{opened:?}").contains(&scene.ring.keys[&token.kid].secret.expose_hex()), "it shows no secret");
}

/// A MAC that the caller verified is valid for the secret that verified it, and not for another secret of the same kid.
#[tokio::test]
async fn a_token_of_another_secret_opens_by_the_mark_of_that_secret() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Suspended.arrange(&wire).await;
    scene.rotate("k2", 0).await;
    let (args, granted, kid) = (scene.signal(), scene.granted(), Kid::parse("k2").unwrap());
    let ring = ff_read_waitpoint_hmac_secrets(&wire, 0).await.unwrap().unwrap().ring;
    let minted = ring.mint(&args.execution_id, &granted.waitpoint_id, &granted.waitpoint_key).unwrap();
    let opened = ff_open_waitpoint(&wire, &args.execution_id, &args.waitpoint, &kid).await.unwrap();
    let verified = opened.verify(&args.execution_id, &PresentedToken::from(&minted), &kid).unwrap();
    let nonce = SystemEntropy.nonce();
    let deliver = |shown: VerifiedToken| {
        let (args, wire, nonce) = (args.clone(), &wire, &nonce);
        async move { ff_deliver_signal(wire, args, &granted.waitpoint_id, &shown, nonce).await }
    };
    for secret_mark in [None, Some("0".repeat(16))] {
        let error = deliver(VerifiedToken { secret_mark, ..verified.clone() }).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, Code::InvalidToken);
    }
    assert_eq!(deliver(verified).await.unwrap().effect, Effect::Satisfied);
}
