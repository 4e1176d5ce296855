//! The row of an API key.

use ff_core::key::ApiKey;

use crate::error::SqlError;
use crate::record;
use crate::session::Put;

/// The row of a key.
pub(crate) fn api_key_of(key: &ApiKey) -> Result<Put, SqlError> {
    Ok(Put::whole(vec![key.info.key_id.as_str().into(), record::written(key)?]))
}
