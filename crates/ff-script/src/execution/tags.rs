//! Someone labels an execution.

use ff_core::contracts::{SetTagsArgs, Tagged};

use super::core_key;
use crate::record::Hash;
use crate::server::ask;
use crate::signature::SetExecutionTags;
use crate::{FcallResult, FromFcallResult, ScriptError, Server};

/// Puts labels on an execution and takes others away.
pub async fn ff_set_execution_tags(server: &dyn Server, args: SetTagsArgs) -> Result<Tagged, ScriptError> {
    let set = SetExecutionTags {
        core: core_key(&args.execution_id),
        tags: args.set.iter().flat_map(|(key, value)| [key.to_string().into(), value.to_string().into()]).collect(),
        removed: args.remove.iter().map(|key| key.to_string().into()).collect(),
    };
    ask(server, set.call()).await
}

impl FromFcallResult for Tagged {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { tags: Hash::parse(fields.list()?)?.all()?.into_iter().collect() })
    }
}
