//! The room of suspensions.

use async_trait::async_trait;

use super::Answer;
use crate::suspension::contracts::{
    CloseWaitpointArgs, ClosedWaitpoint, CreateWaitpointArgs, GrantedWaitpoint, ResumeArgs, Resumed, SuspendArgs,
    Suspended, WaitpointInfo,
};
use crate::token::WaitpointToken;
use crate::token::contracts::{PartitionKids, RotateSecretArgs, RotationReport};
use crate::types::{ExecutionId, WaitpointId};

/// What callers may ask about suspensions, waitpoints and the secrets behind their tokens. Every mutation is safe to
/// repeat. What waits, why and since when is in the listing of executions.
#[async_trait]
pub trait SuspensionRoom: Send + Sync {
    /// The holder lets go and waits, unless what it would wait for is there already.
    async fn suspend(&self, args: SuspendArgs) -> Answer<Suspended>;

    /// Makes a waitpoint ahead of a suspension, so that its token can be handed out first.
    async fn create_waitpoint(&self, args: CreateWaitpointArgs) -> Answer<GrantedWaitpoint>;

    /// Closes a waitpoint no suspension has used.
    async fn close_waitpoint(&self, args: CloseWaitpointArgs) -> Answer<ClosedWaitpoint>;

    /// An operator ends a suspension.
    async fn resume(&self, args: ResumeArgs) -> Answer<Resumed>;

    /// The open waitpoints of an execution, without their tokens, oldest first.
    async fn waitpoints(&self, id: &ExecutionId) -> Answer<Vec<WaitpointInfo>>;

    /// Mints a token for a waitpoint under the current secret, for an operator.
    async fn waitpoint_token(&self, id: &ExecutionId, waitpoint: &WaitpointId) -> Answer<WaitpointToken>;

    /// Brings a new secret to every partition, and says what became of it on each.
    async fn rotate_secret(&self, args: RotateSecretArgs) -> Answer<RotationReport>;

    /// The names of the secrets of every partition.
    async fn kids(&self) -> Answer<Vec<PartitionKids>>;
}
