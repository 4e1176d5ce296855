//! Named inputs of an execution: results of its upstreams.

use ff_core::contracts::Input;
use ff_core::payload::Payload;
use ff_core::types::{ContentType, ExecutionId};

use crate::execution::core_key;
use crate::server::ask;
use crate::signature::ReadInputs;
use crate::{Fields, ScriptError, Server};

/// A page of named inputs, and the place of the next one.
#[derive(Default)]
pub(crate) struct Inputs {
    pub(crate) inputs: Vec<Input>,
    /// The position of the last input, and the number of bytes that may still come.
    next: Option<(String, u64)>,
}

impl Inputs {
    pub(crate) fn read(mut fields: Fields) -> Result<Self, ScriptError> {
        let inputs = fields.rows(|one| {
            let (name, from) = (one.read()?, one.read()?);
            let content_type = one.maybe_read()?.unwrap_or_else(ContentType::json);
            let payload = one.maybe_bytes()?.map(|bytes| Payload::new(content_type, bytes));
            Ok(Input { name, from, payload })
        })?;
        let (last, left) = (fields.maybe_text()?, fields.read()?);
        Ok(Self { inputs, next: last.map(|last| (last, left)) })
    }

    /// Reads the remaining pages.
    pub(crate) async fn read_all(self, server: &dyn Server, id: &ExecutionId) -> Result<Vec<Input>, ScriptError> {
        let Self { mut inputs, mut next } = self;
        while let Some((last, left)) = next {
            let fields = ask(server, ReadInputs { core: core_key(id), after: Some(last), left }.call()).await?;
            let more = Self::read(fields)?;
            inputs.extend(more.inputs);
            next = more.next;
        }
        Ok(inputs)
    }
}
