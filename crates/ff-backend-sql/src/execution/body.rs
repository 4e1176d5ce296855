//! Payloads and results. Rules load a payload only to fork an execution.

use std::collections::HashMap;

use ff_core::payload::Payload;
use ff_core::types::{ContentType, ExecutionId};

use crate::error::{SqlError, unreadable};
use crate::session::{Key, Load, Read, key_of};
use crate::table::schema::{EXECUTION, SUBMISSION};
use crate::table::value::{Row, Value};
use crate::table::{Columns, Table};

/// Bytes that belong to an execution, with their content type.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// The payload. It is stored with the definition, because the row of the execution is written with every step.
    Payload,
    /// The result. It is stored in the row of the execution and written with the last step.
    Result,
}

impl Body {
    /// Returns the table and the two columns of the body.
    fn place(self) -> (&'static Table, Columns) {
        match self {
            Self::Payload => (&SUBMISSION, SUBMISSION.named(&["content_type", "bytes"])),
            Self::Result => (&EXECUTION, EXECUTION.named(&["result_type", "result"])),
        }
    }

    /// Returns the columns of the body.
    pub(super) fn columns(self) -> Columns {
        self.place().1
    }

    /// Returns the load of the bodies under these keys.
    pub(crate) fn load(self, keys: Vec<Key>) -> Load {
        let (table, columns) = self.place();
        Load::Rows(table, columns, keys)
    }

    /// Loads the bodies of these executions, if they have one.
    pub(crate) async fn of(
        self,
        reader: &mut dyn Read,
        ids: &[ExecutionId],
    ) -> Result<HashMap<ExecutionId, Payload>, SqlError> {
        let (table, columns) = self.place();
        let rows = reader.load(table, columns, &ids.iter().map(key_of).collect::<Vec<_>>()).await?;
        let rows = ids.iter().zip(rows).filter_map(|(id, row)| Some((*id, row.filter(|row| !row.is_null(0))?)));
        rows.map(|(id, row)| Ok((id, read_body_at(&row, 0)?))).collect()
    }
}

/// Returns the columns of a body. The default content type is long and frequent, so it is stored as an empty text.
pub(crate) fn body_values(body: &Payload) -> [Value; 2] {
    let is_bytes = body.content_type == ContentType::bytes();
    let content_type = if is_bytes { "" } else { body.content_type.as_str() };
    [content_type.into(), Value::Bytes(body.bytes.clone())]
}

/// Reads a body from two columns, beginning at `at`.
pub(crate) fn read_body_at(row: &Row, at: usize) -> Result<Payload, SqlError> {
    let content_type = match row.text(at)? {
        "" => ContentType::bytes(),
        text => ContentType::parse(text).map_err(unreadable("a content type"))?,
    };
    Ok(Payload::new(content_type, row.bytes(at + 1)?))
}
