//! A holder that went silent.

use ff_core::types::ExecutionId;

use crate::execution::{DueOutcome, core_key};
use crate::server::ask;
use crate::signature::MarkLeaseExpiredIfDue;
use crate::{ScriptError, Server};

/// Takes an execution back from its holder, if the lease has run out.
pub async fn ff_mark_lease_expired_if_due(server: &dyn Server, id: &ExecutionId) -> Result<DueOutcome, ScriptError> {
    ask(server, MarkLeaseExpiredIfDue { core: core_key(id) }.call()).await
}
