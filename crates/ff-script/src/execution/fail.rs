//! The holder says the work went wrong.

use ff_core::contracts::{FailArgs, Failed};
use ff_core::dice::Nonce;
use ff_core::types::TimestampMs;

use super::core_key;
use crate::server::ask;
use crate::signature::FailExecution;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Ends the running attempt with a failure: another try after a backoff, or the end.
pub async fn ff_fail_execution(server: &dyn Server, args: FailArgs, nonce: &Nonce) -> Result<Failed, ScriptError> {
    let fail = FailExecution {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        category: args.failure.category.to_string(),
        message: args.failure.message.into(),
        permanent: args.failure.permanent,
        roll: nonce.roll(),
    };
    ask(server, fail.call()).await
}

impl FromFcallResult for Failed {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let outcome = fields.text()?;
        match (outcome.as_str(), fields.maybe_read()?.map(TimestampMs)) {
            ("retry_scheduled", Some(retry_at)) => Ok(Self::RetryScheduled { retry_at }),
            ("failed", None) => Ok(Self::Failed),
            _ => Err(ScriptError::parse(format!("nothing follows a failure that is called {outcome}"))),
        }
    }
}
