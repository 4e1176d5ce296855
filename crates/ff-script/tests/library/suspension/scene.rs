//! States of an execution before a call about suspensions.

use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{
    CancelArgs, CloseWaitpointArgs, CreateWaitpointArgs, DelayArgs, DeliverArgs, GrantedWaitpoint, RotateSecretArgs,
    Start, SuspendArgs, WaitpointRef,
};
use ff_core::limits;
use ff_core::token::{KeyRing, PresentedToken, Secret};
use ff_core::types::{Kid, SignalName, WaitpointKey};
use ff_script::execution::{ff_cancel_execution, ff_delay_execution};
use ff_script::signal::{VerifiedToken, ff_deliver_signal};
use ff_script::suspension::{
    SignedSuspension, close_waitpoint, create_signed_waitpoint, ff_rotate_waitpoint_hmac_secret,
    ff_seed_waitpoint_hmac_secrets, suspend_signed,
};
use redis::cmd;

use crate::situation::{Situation, Subject, claim};
use crate::wire::Wire;

/// Time until pending waitpoints expire.
pub(crate) const PENDS_MS: u64 = 1_000;

/// The state of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// Without a suspension or waitpoint.
    Plain(Situation),
    /// Held, and its partition has no secrets.
    WithoutSecrets,
    /// Held, and another secret has become current since its holder read the secrets.
    Rotated,
    /// Held, and its partition has the maximum number of secrets.
    FullOfSecrets,
    /// Held, with a pending waitpoint.
    Pending,
    /// Held, with a pending waitpoint that expired unused.
    PendingRanOut,
    /// Held, with a pending waitpoint that an operator closed.
    PendingClosed,
    /// Held, with the maximum number of pending waitpoints.
    FullOfWaitpoints,
    /// Held, with a pending waitpoint that has buffered the maximum number of signals.
    FullOfEarlySignals,
    Suspended,
    /// Suspended, after the maximum number of signals.
    FullOfSignals,
    /// Suspended, and the secret of its token was retired.
    Retired,
    /// It was suspended, a signal resumed it, and it is leased again.
    GoneOn,
    /// It was suspended and cancelled.
    Cancelled,
    /// It was delayed, and is not due yet.
    PutOff,
}

/// An execution, the secrets of its partition, and the last waitpoint it was given.
pub(crate) struct Scene<'w> {
    pub(crate) wire: &'w Wire,
    pub(crate) subject: Subject,
    pub(crate) ring: KeyRing,
    pub(crate) granted: Option<GrantedWaitpoint>,
}

pub(crate) fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

impl Stand {
    pub(crate) async fn arrange(self, wire: &Wire) -> Scene<'_> {
        let situation = match self {
            Self::Plain(situation) => situation,
            _ => Situation::Held,
        };
        let subject = situation.arrange(wire).await;
        let ring = KeyRing::of(Kid::first(), Secret::drawn(SystemEntropy.secret()));
        let mut scene = Scene { wire, subject, ring, granted: None };
        if self == Self::WithoutSecrets {
            return scene;
        }
        ff_seed_waitpoint_hmac_secrets(wire, 0, &scene.ring).await.unwrap();
        match self {
            Self::Plain(_) | Self::WithoutSecrets => {}
            Self::Rotated => scene.rotate("k2", 1_000).await,
            Self::FullOfSecrets => {
                for nth in 1..limits::RING_KIDS {
                    scene.rotate(&format!("more {nth}"), 1_000).await;
                }
            }
            Self::Pending => scene.pend("a").await,
            Self::PendingRanOut => {
                scene.pend("a").await;
                wire.advance(PENDS_MS).await;
            }
            Self::PendingClosed => {
                scene.pend("a").await;
                scene.close().await;
            }
            Self::FullOfWaitpoints => {
                for nth in 0..limits::PENDING_WAITPOINTS {
                    scene.pend(&format!("w{nth}")).await;
                }
            }
            Self::FullOfEarlySignals => {
                scene.pend("a").await;
                let list = format!("ff:wp:{{fp:0}}:{}:signals", scene.granted().waitpoint_id);
                let early = vec!["a signal"; limits::BUFFERED_SIGNALS];
                wire.ask::<()>(cmd("RPUSH").arg(list).arg(early)).await;
            }
            Self::Suspended => scene.suspend().await,
            Self::FullOfSignals => {
                scene.suspend().await;
                let signals = format!("ff:exec:{{fp:0}}:{}:signals", scene.subject.id);
                let mut taken = cmd("ZADD");
                taken.arg(signals);
                for nth in 0..limits::SIGNALS {
                    taken.arg(nth).arg(nth);
                }
                wire.ask::<()>(&taken).await;
            }
            Self::Retired => {
                scene.suspend().await;
                scene.rotate("k2", 0).await;
            }
            Self::GoneOn => {
                scene.suspend().await;
                scene.deliver().await;
                scene.subject.fence = claim(wire).await.fence;
            }
            Self::Cancelled => {
                scene.suspend().await;
                let args = CancelArgs { execution_id: scene.subject.id, reason: None, requested_by: None };
                ff_cancel_execution(wire, args).await.unwrap();
            }
            Self::PutOff => {
                let (execution_id, fence) = (scene.subject.id, scene.subject.fence);
                let args = DelayArgs { execution_id, fence, start: Start::After(500) };
                ff_delay_execution(wire, args).await.unwrap();
            }
        }
        scene
    }
}

impl Scene<'_> {
    /// Returns the last waitpoint that was created.
    pub(crate) fn granted(&self) -> &GrantedWaitpoint {
        self.granted.as_ref().expect("a waitpoint was handed out")
    }

    /// Returns a suspension on one new waitpoint.
    pub(crate) fn suspension(&self, text: &str) -> SignedSuspension {
        let args = SuspendArgs::new(self.subject.id, self.subject.fence, key(text));
        SignedSuspension::new(args, &self.ring.clone().into(), &SystemEntropy.nonce())
    }

    /// Returns a signal that is accepted.
    pub(crate) fn signal(&self) -> DeliverArgs {
        let granted = self.granted();
        let token = PresentedToken::from(&granted.waitpoint_token);
        let name = SignalName::parse("go").unwrap();
        DeliverArgs::new(self.subject.id, WaitpointRef::Id(granted.waitpoint_id), token, name)
    }

    pub(crate) async fn suspend(&mut self) {
        self.granted = suspend_signed(self.wire, &self.suspension("a")).await.unwrap().waitpoints.pop();
    }

    pub(crate) async fn pend(&mut self, text: &str) {
        let (execution_id, fence) = (self.subject.id, self.subject.fence);
        let args = CreateWaitpointArgs { execution_id, fence, key: key(text), expires_in_ms: PENDS_MS };
        let (signing, nonce) = (self.ring.clone().into(), SystemEntropy.nonce());
        self.granted = Some(create_signed_waitpoint(self.wire, &args, &signing, &nonce).await.unwrap());
    }

    pub(crate) async fn close(&self) {
        let (execution_id, waitpoint_id) = (self.subject.id, self.granted().waitpoint_id);
        let args = CloseWaitpointArgs { execution_id, waitpoint_id, reason: None };
        close_waitpoint(self.wire, &args).await.unwrap();
    }

    pub(crate) async fn deliver(&self) {
        let GrantedWaitpoint { waitpoint_id, waitpoint_token, .. } = self.granted();
        let nonce = SystemEntropy.nonce();
        let shown = VerifiedToken { token: waitpoint_token.clone(), secret_mark: None };
        ff_deliver_signal(self.wire, self.signal(), waitpoint_id, &shown, &nonce).await.unwrap();
    }

    pub(crate) async fn rotate(&self, kid: &str, grace_ms: u64) {
        let rotation = RotateSecretArgs::parse(kid, "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", grace_ms).unwrap();
        ff_rotate_waitpoint_hmac_secret(self.wire, &self.keys().1, &(&rotation).into()).await.unwrap();
    }
}
