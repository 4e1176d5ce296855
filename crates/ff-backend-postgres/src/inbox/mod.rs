//! Submits work within the caller's own transaction, as a row in an inbox, which the store takes up after the commit. The work
//! exists if and only if the transaction commits, and the transaction holds no lock of the store.

mod consumer;
mod row;

use ff_backend_sql::Value;
use ff_core::contracts::SubmitArgs;
use ff_core::engine_error::Refusal;
use ff_core::partition::PartitionConfig;
use ff_core::types::ExecutionId;
use row::InboxRow;
use tokio_postgres::GenericClient;

use crate::ConnectError;
use crate::connect::url::{SCHEMA, schema};
use crate::statement::value::Parameter;

pub(crate) use consumer::consume_inbox;

/// The inbox of a store.
///
/// ```no_run
/// use ff_backend_postgres::Inbox;
/// use ff_core::contracts::SubmitArgs;
/// use ff_core::payload::Payload;
/// use ff_core::types::Kind;
///
/// # async fn order(client: &mut tokio_postgres::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let transaction = client.transaction().await?;
/// transaction.execute("INSERT INTO orders (item) VALUES ('cat')", &[]).await?;
/// let work = SubmitArgs::new(Kind::parse("ship")?, Payload::json("\"cat\""));
/// let id = Inbox::default().submit(&transaction, work).await?;
/// transaction.commit().await?;
/// println!("{id} ships it");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    schema: String,
}

/// Error of submitting to an inbox.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// The work does not pass the checks of a submission. Nothing was written, and the transaction can go on.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database refused the row, which aborts the whole transaction.
    #[error("the inbox of {schema} cannot be written: {source}")]
    Postgres {
        /// The schema.
        schema: String,
        /// The error of the database.
        source: tokio_postgres::Error,
    },
    /// The work cannot be written as JSON.
    #[error("the work cannot be written down: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// The schema has no number of partitions.
    #[error("the schema {schema} holds no store")]
    NoStore {
        /// The schema.
        schema: String,
    },
}

impl Default for Inbox {
    /// Returns the inbox of the store in the schema `flowfabric`.
    fn default() -> Self {
        Self { schema: SCHEMA.into() }
    }
}

impl Inbox {
    /// Returns the inbox of the store in another schema.
    pub fn in_schema(name: &str) -> Result<Self, ConnectError> {
        let schema = schema(name).map_err(|why| ConnectError::BadUrl { why })?;
        Ok(Self { schema })
    }

    /// Inserts work into the inbox within the transaction of `client`, and returns its id. If its idempotency key was used
    /// before, no execution gets this id: the earlier execution keeps its own.
    pub async fn submit(&self, client: &impl GenericClient, work: SubmitArgs) -> Result<ExecutionId, InboxError> {
        work.check()?;
        let schema = &self.schema;
        // The name has only letters, digits and underscores.
        let insert = format!(
            "INSERT INTO {schema}.inbox (submission, content_type, bytes) VALUES ($1, $2, $3)
             RETURNING (SELECT value FROM {schema}.meta WHERE key = 'num_flow_partitions')"
        );
        // The driver logs bound values, and this is a user's payload. A `Parameter` does not show it.
        let inbox_row = Parameter::one(Value::Text(serde_json::to_string(&InboxRow::of(&work))?));
        let content_type = Parameter::one(work.payload.content_type.as_str().into());
        let bytes = Parameter::one(Value::Bytes(work.payload.bytes.clone()));
        let failed = |source| InboxError::Postgres { schema: schema.clone(), source };
        let row = client.query_one(&insert, &[&inbox_row, &content_type, &bytes]).await.map_err(failed)?;
        let count = row.get::<_, Option<i64>>(0).and_then(|count| u16::try_from(count).ok());
        let num_flow_partitions = count.ok_or_else(|| InboxError::NoStore { schema: schema.clone() })?;
        Ok(work.execution_id(&PartitionConfig { num_flow_partitions, ..PartitionConfig::default() }))
    }
}
