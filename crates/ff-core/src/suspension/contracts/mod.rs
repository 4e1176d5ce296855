//! Arguments and replies about suspensions and waitpoints.

pub(super) mod answers;
mod published;
mod reading;
mod timeout;

pub use super::binding::WaitpointBinding;
pub use super::close_waitpoint::{CloseWaitpointArgs, ClosedWaitpoint};
pub use super::create_waitpoint::CreateWaitpointArgs;
pub use super::resume::{ResumeArgs, ResumedExecution};
pub use super::suspend::SuspendArgs;
pub use answers::{GrantedWaitpoint, SuspendOutcome, SuspendedExecution};
pub use published::{
    CloseWaitpointResult, CreatePendingWaitpointArgs, CreatePendingWaitpointResult, ExpireSuspensionArgs,
    ExpireSuspensionResult, ListWaitpointHmacKidsArgs, ResumeExecutionArgs, ResumeExecutionResult,
    RotateWaitpointHmacSecretArgs, RotateWaitpointHmacSecretOutcome, SuspendExecutionArgs, SuspendExecutionResult,
    VerifyingKid, WaitpointHmacKids,
};
pub use reading::{Resumption, SuspensionInfo, WaitpointInfo};
pub use timeout::Timeout;
