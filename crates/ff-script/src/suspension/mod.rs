//! The functions of suspensions, waitpoints and the secrets of tokens.

mod keys;
mod secrets;
mod suspend;
mod waitpoint;

pub use ff_core::contracts::{
    CloseWaitpointArgs, CloseWaitpointResult, CreatePendingWaitpointArgs, CreatePendingWaitpointResult,
    ExpireSuspensionArgs, ExpireSuspensionResult, ListWaitpointHmacKidsArgs, ResumeExecutionArgs,
    ResumeExecutionResult, RotateWaitpointHmacSecretArgs, RotateWaitpointHmacSecretOutcome, SuspendExecutionArgs,
    SuspendExecutionResult, VerifyingKid, WaitpointHmacKids,
};
pub use keys::{ExpireSuspensionOpKeys, ResumeOpKeys, SuspendOpKeys, WaitpointOpKeys};
pub use secrets::{
    SigningRing, ff_list_waitpoint_hmac_kids, ff_read_waitpoint_hmac_secrets, ff_rotate_waitpoint_hmac_secret,
    ff_seed_waitpoint_hmac_secrets,
};
pub use suspend::{
    NamedWaitpoint, NewToken, SignedSuspension, ff_resume_execution, ff_suspend_execution, resume_by_operator,
    suspend_signed,
};
pub use waitpoint::{
    KeptWaitpoint, close_waitpoint, create_signed_waitpoint, ff_close_waitpoint, ff_create_pending_waitpoint,
    ff_read_waitpoints,
};
