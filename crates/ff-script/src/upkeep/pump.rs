//! Firing what is due.

use ff_core::dice::Nonce;
use ff_core::due::{Lapsed, Pumped};
use ff_core::types::TimestampMs;

use super::index_keys;
use crate::server::ask;
use crate::signature::Pump;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Fires what is due on a partition, at most one batch, and says when the next thing is.
pub async fn ff_pump(server: &dyn Server, partition: u16, nonce: &Nonce) -> Result<Pumped, ScriptError> {
    let lease_expiry = index_keys(partition).lease_expiry();
    ask(server, Pump { lease_expiry, roll: nonce.roll() }.call()).await
}

impl FromFcallResult for Pumped {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        let fired = fields.read()?;
        let lapsed = Lapsed { leases: fields.read()?, attempts: fields.read()?, deadlines: fields.read()? };
        Ok(Self { fired, lapsed, next_due: fields.maybe_read()?.map(TimestampMs) })
    }
}
