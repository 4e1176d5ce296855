//! A waitpoint as a sender has it, with its token.

use ff_core::backend::Answer;
use ff_core::contracts::{DeliverArgs, DeliveredSignal, GrantedWaitpoint, WaitpointBinding, WaitpointRef};
use ff_core::payload::Payload;
use ff_core::signal::{Effect, Source};
use ff_core::token::PresentedToken;
use ff_core::types::{ExecutionId, IdempotencyKey, SignalName, WaitpointId};

use super::World;

/// A waitpoint and its token, which are all a sender needs.
#[derive(Clone)]
pub struct Waitpoint {
    world: World,
    /// Whose waitpoint it is.
    pub execution_id: ExecutionId,
    /// The waitpoint as its maker got it.
    pub granted: GrantedWaitpoint,
}

impl Waitpoint {
    pub(super) fn new(world: World, execution_id: ExecutionId, granted: GrantedWaitpoint) -> Self {
        Self { world, execution_id, granted }
    }

    /// Its id.
    pub fn id(&self) -> WaitpointId {
        self.granted.waitpoint_id
    }

    /// Its token, as senders show it.
    pub fn token(&self) -> PresentedToken {
        PresentedToken::from(&self.granted.waitpoint_token)
    }

    /// This waitpoint, made ahead, for a suspension to use.
    pub fn binding(&self) -> WaitpointBinding {
        WaitpointBinding::Pending { id: self.id(), key: self.granted.waitpoint_key.clone() }
    }

    /// A signal to it, with its name for bytes.
    pub fn signal(&self, name: &str) -> DeliverArgs {
        let to = WaitpointRef::Id(self.id());
        let args = DeliverArgs::new(self.execution_id, to, self.token(), SignalName::parse(name).unwrap());
        DeliverArgs { payload: Some(Payload::json(format!("\"{name}\""))), ..args }
    }

    /// A signal it takes once under this key.
    pub fn signal_once(&self, name: &str, key: &str) -> DeliverArgs {
        DeliverArgs { idempotency_key: IdempotencyKey::parse(key).ok(), ..self.signal(name) }
    }

    /// Sends a signal to it.
    pub async fn send(&self, name: &str) -> Answer<DeliveredSignal> {
        self.world.backend.deliver(self.signal(name)).await
    }

    /// Sends a signal to it, and returns its effect.
    pub async fn effect(&self, name: &str) -> Effect {
        self.send(name).await.unwrap().effect
    }

    /// Sends a signal to it as this user, and returns its effect.
    pub async fn effect_from(&self, user: &str, name: &str) -> Effect {
        let source = Source::parse("user", Some(user)).unwrap();
        self.world.backend.deliver(DeliverArgs { source, ..self.signal(name) }).await.unwrap().effect
    }
}
