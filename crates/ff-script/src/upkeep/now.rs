//! What time it is.

use ff_core::types::TimestampMs;

use super::index_keys;
use crate::server::ask;
use crate::signature::Now;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// What time it is on a partition.
pub async fn ff_now(server: &dyn Server, partition: u16) -> Result<TimestampMs, ScriptError> {
    ask(server, Now { clock_key: index_keys(partition).clock() }.call()).await
}

impl FromFcallResult for TimestampMs {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        fields.read().map(Self)
    }
}
