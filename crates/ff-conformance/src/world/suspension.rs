//! Calls of holders and operators about suspensions.

use super::conditions::key;
use super::{LeasedExecution, Waitpoint, World};
use crate::records::*;

impl LeasedExecution {
    /// Returns the arguments that suspend until any signal at a new waitpoint.
    pub fn wish(&self, on: &str) -> SuspendArgs {
        SuspendArgs::new(self.id(), self.fence(), key(on))
    }

    /// Returns the arguments that suspend until a condition over new waitpoints is met.
    pub fn wish_for(&self, condition: Condition, on: &[&str]) -> SuspendArgs {
        let waitpoints = on.iter().map(|text| WaitpointBinding::Fresh { key: key(text) }).collect();
        SuspendArgs { waitpoints, condition, ..self.wish(on[0]) }
    }

    /// Suspends until any signal at a new waitpoint.
    pub async fn wait_on(&self, on: &str) -> Waitpoint {
        let [waitpoint] = self.wait(self.wish(on)).await;
        waitpoint
    }

    /// Suspends until a condition over new waitpoints is met.
    pub async fn wait_for<const N: usize>(&self, condition: Condition, on: [&str; N]) -> [Waitpoint; N] {
        self.wait(self.wish_for(condition, &on)).await
    }

    /// Suspends on `N` waitpoints, and checks that the execution is suspended.
    pub async fn wait<const N: usize>(&self, wish: SuspendArgs) -> [Waitpoint; N] {
        let suspended = self.world.backend.suspend(wish).await.unwrap();
        assert_eq!(suspended.outcome, SuspendOutcome::Suspended);
        let known = |granted| Waitpoint::new(self.world.clone(), self.id(), granted);
        let waitpoints: Vec<_> = suspended.waitpoints.into_iter().map(known).collect();
        waitpoints.try_into().unwrap_or_else(|_| panic!("other waitpoints than were asked for"))
    }

    /// Creates a waitpoint ahead of a suspension.
    pub async fn ahead(&self, of: &str) -> Waitpoint {
        let granted = self.world.backend.create_waitpoint(self.ahead_args(of)).await.unwrap();
        Waitpoint::new(self.world.clone(), self.id(), granted)
    }

    /// Returns the arguments that create a waitpoint ahead of a suspension.
    pub fn ahead_args(&self, of: &str) -> CreateWaitpointArgs {
        let expires_in_ms = limits::PENDING_WAITPOINT_MS;
        CreateWaitpointArgs { execution_id: self.id(), fence: self.fence(), key: key(of), expires_in_ms }
    }

    /// Returns the names of the signals that came with the claim.
    pub fn signal_names(&self) -> Vec<&str> {
        self.signals.iter().map(|received| received.signal.name.as_str()).collect()
    }
}

impl World {
    /// Submits an execution and suspends it until any signal.
    pub async fn suspended(&self) -> (LeasedExecution, Waitpoint) {
        let held = self.held().await;
        let waitpoint = held.wait_on("approval").await;
        (held, waitpoint)
    }

    /// Sends a request to suspend.
    pub async fn suspend(&self, wish: SuspendArgs) -> Answer<SuspendedExecution> {
        self.backend.suspend(wish).await
    }

    /// Sends an operator's decision.
    pub async fn decide(&self, id: &ExecutionId, decision: OperatorDecision) -> Answer<ResumedExecution> {
        self.backend.resume(ResumeArgs::new(*id, decision)).await
    }

    /// Returns the signals an execution has received, up to a page.
    pub async fn signals(&self, id: &ExecutionId) -> Vec<Signal> {
        let args = SignalsArgs { execution_id: *id, skip: 0, limit: limits::PAGE };
        self.backend.signals(args).await.unwrap().signals
    }
}
