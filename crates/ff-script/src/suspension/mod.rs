//! The functions of suspensions, waitpoints and the secrets behind their tokens.

mod close;
mod create;
mod expire;
mod keys;
mod read;
mod resume;
mod secrets;
mod suspend;

pub use close::{CloseWaitpointResult, ff_close_waitpoint};
pub use create::{CreatePendingWaitpointArgs, CreatePendingWaitpointResult, ff_create_pending_waitpoint};
pub use expire::{ExpireSuspensionArgs, ExpireSuspensionResult, ff_expire_suspension};
pub use ff_core::contracts::CloseWaitpointArgs;
pub use keys::{ExpireSuspensionOpKeys, ResumeOpKeys, SuspendOpKeys, WaitpointOpKeys};
pub use read::{KeptWaitpoint, ff_read_waitpoints};
pub use resume::{ResumeExecutionArgs, ResumeExecutionResult, ff_resume_execution};
pub use secrets::{
    ListWaitpointHmacKidsArgs, RotateWaitpointHmacSecretArgs, RotateWaitpointHmacSecretOutcome, SigningRing,
    WaitpointHmacKids, ff_list_waitpoint_hmac_kids, ff_read_waitpoint_hmac_secrets, ff_rotate_waitpoint_hmac_secret,
    ff_seed_waitpoint_hmac_secrets,
};
pub use suspend::{NamedWaitpoint, NewToken, SuspendExecutionArgs, SuspendExecutionResult, ff_suspend_execution};
