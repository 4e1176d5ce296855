//! What callers ask of suspensions and waitpoints, and what they are told.

mod holder;
mod operator;
mod published;
mod reading;
mod timeout;

pub(crate) use holder::check_dedup_ttl;
pub use holder::{CreateWaitpointArgs, GrantedWaitpoint, SuspendArgs, SuspendOutcome, Suspended, WaitpointBinding};
pub use operator::{CloseWaitpointArgs, ClosedWaitpoint, ResumeArgs, Resumed};
pub use published::{
    CloseWaitpointResult, CreatePendingWaitpointArgs, CreatePendingWaitpointResult, ExpireSuspensionArgs,
    ExpireSuspensionResult, ListWaitpointHmacKidsArgs, ResumeExecutionArgs, ResumeExecutionResult,
    RotateWaitpointHmacSecretArgs, RotateWaitpointHmacSecretOutcome, SuspendExecutionArgs, SuspendExecutionResult,
    VerifyingKid, WaitpointHmacKids,
};
pub use reading::{Resumption, SuspensionInfo, WaitpointInfo};
pub use timeout::Timeout;
