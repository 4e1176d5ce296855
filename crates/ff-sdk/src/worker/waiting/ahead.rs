//! Making a waitpoint ahead of the wait on it.

use std::future::IntoFuture;
use std::time::Duration;

use ff_core::contracts::{CreateWaitpointArgs, GrantedWaitpoint};
use ff_core::limits;
use ff_core::types::WaitpointKey;
use futures_util::future::BoxFuture;

use super::plan::{key, millis};
use crate::{Context, Error, Waitpoint};

/// A waitpoint made before anything waits on it, so that its token can be handed out early. Signals that arrive meanwhile are
/// kept, and count once a wait of this name, or on this key, begins.
///
/// It returns `None` when that wait is over already: the handler runs again from its start after every wait, and must not
/// hand out the token again then. While the wait has not begun it returns the same waitpoint again.
#[must_use = "a waitpoint is made when this is awaited"]
pub struct CreateWaitpoint {
    context: Context,
    key: Result<WaitpointKey, Error>,
    expires_in: Duration,
}

impl CreateWaitpoint {
    pub(in crate::worker) fn new(context: Context, text: &str) -> Self {
        Self { context, key: key("key", text), expires_in: Duration::from_millis(limits::PENDING_WAITPOINT_MS) }
    }

    /// How long it may stand before something waits on it; a day unless said.
    pub fn expires_in(mut self, span: Duration) -> Self {
        self.expires_in = span;
        self
    }
}

impl IntoFuture for CreateWaitpoint {
    type Output = Result<Option<Waitpoint>, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let key = self.key?;
            if self.context.journal().is_over(&key) {
                return Ok(None);
            }
            let granted = make(&self.context, key, millis(self.expires_in)).await?;
            self.context.journal().made_ahead(&granted);
            Ok(Some(Waitpoint::new(self.context.task().execution_id, granted)))
        })
    }
}

/// Makes a waitpoint, or finds the one that was made under this key and has not been waited on.
pub(super) async fn make(context: &Context, key: WaitpointKey, expires_in_ms: u64) -> Result<GrantedWaitpoint, Error> {
    let task = context.task();
    let args = CreateWaitpointArgs { execution_id: task.execution_id, fence: task.fence, key, expires_in_ms };
    Ok(context.backend().create_waitpoint(args).await?)
}
