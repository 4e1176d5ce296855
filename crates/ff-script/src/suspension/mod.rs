//! The functions of suspensions, waitpoints and the secrets behind their tokens.

mod close;
mod create;
mod expire;
mod keys;
mod read;
mod resume;
mod secrets;
mod suspend;

pub use close::{close_waitpoint, ff_close_waitpoint};
pub use create::{create_signed_waitpoint, ff_create_pending_waitpoint};
pub use expire::ff_expire_suspension;
pub use ff_core::contracts::{
    CloseWaitpointArgs, CloseWaitpointResult, CreatePendingWaitpointArgs, CreatePendingWaitpointResult,
    ExpireSuspensionArgs, ExpireSuspensionResult, ListWaitpointHmacKidsArgs, ResumeExecutionArgs,
    ResumeExecutionResult, RotateWaitpointHmacSecretArgs, RotateWaitpointHmacSecretOutcome, SuspendExecutionArgs,
    SuspendExecutionResult, VerifyingKid, WaitpointHmacKids,
};
pub use keys::{ExpireSuspensionOpKeys, ResumeOpKeys, SuspendOpKeys, WaitpointOpKeys};
pub use read::{KeptWaitpoint, ff_read_waitpoints};
pub use resume::{ff_resume_execution, resume_by_operator};
pub use secrets::{
    SigningRing, ff_list_waitpoint_hmac_kids, ff_read_waitpoint_hmac_secrets, ff_rotate_waitpoint_hmac_secret,
    ff_seed_waitpoint_hmac_secrets,
};
pub use suspend::{NamedWaitpoint, NewToken, SignedSuspension, ff_suspend_execution, suspend_signed};
