//! A waitpoint as its sender knows it, with its token.

use super::World;
use crate::records::*;

/// A waitpoint and its token, which is all a sender needs.
#[derive(Clone)]
pub struct Waitpoint {
    world: World,
    /// The execution of the waitpoint.
    pub execution_id: ExecutionId,
    /// The waitpoint as its creator got it.
    pub granted: GrantedWaitpoint,
}

impl Waitpoint {
    pub(super) fn new(world: World, execution_id: ExecutionId, granted: GrantedWaitpoint) -> Self {
        Self { world, execution_id, granted }
    }

    /// Returns the id of the waitpoint.
    pub fn id(&self) -> WaitpointId {
        self.granted.waitpoint_id
    }

    /// Returns the token, as senders present it.
    pub fn token(&self) -> PresentedToken {
        PresentedToken::from(&self.granted.waitpoint_token)
    }

    /// Returns the binding by which a suspension uses this waitpoint, which was created ahead.
    pub fn binding(&self) -> WaitpointBinding {
        WaitpointBinding::Pending { id: self.id(), key: self.granted.waitpoint_key.clone() }
    }

    /// Returns a signal to the waitpoint, with its name as payload.
    pub fn signal(&self, name: &str) -> DeliverArgs {
        let to = WaitpointRef::Id(self.id());
        let args = DeliverArgs::new(self.execution_id, to, self.token(), SignalName::parse(name).unwrap());
        DeliverArgs { payload: Some(Payload::json(format!("\"{name}\""))), ..args }
    }

    /// Returns a signal that the waitpoint takes once under this key.
    pub fn signal_once(&self, name: &str, key: &str) -> DeliverArgs {
        DeliverArgs { idempotency_key: IdempotencyKey::parse(key).ok(), ..self.signal(name) }
    }

    /// Sends a signal to the waitpoint.
    pub async fn send(&self, name: &str) -> Answer<DeliveredSignal> {
        self.world.backend.deliver(self.signal(name)).await
    }

    /// Sends a signal to the waitpoint, and returns its effect.
    pub async fn effect(&self, name: &str) -> Effect {
        self.send(name).await.unwrap().effect
    }

    /// Sends a signal to the waitpoint as this user, and returns its effect.
    pub async fn effect_from(&self, user: &str, name: &str) -> Effect {
        let source = Source::parse("user", Some(user)).unwrap();
        self.world.backend.deliver(DeliverArgs { source, ..self.signal(name) }).await.unwrap().effect
    }
}
