//! Submitting within a transaction of one's own: a row in an inbox, which the store takes up once it is committed. The work
//! exists if and only if the transaction commits, and no lock of the store is held meanwhile.

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
use crate::url::{SCHEMA, schema};
use crate::value::Parameter;

pub(crate) use consumer::consume_inbox;

/// Where work is left for a store.
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

/// Why work was not left.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// The work is not one that could be submitted. Nothing was written, and the transaction goes on.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database did not take it, and with it nothing of the transaction.
    #[error("the inbox of {schema} cannot be written: {source}")]
    Postgres {
        /// Where the store was expected.
        schema: String,
        /// The error of the database.
        source: tokio_postgres::Error,
    },
    /// The work cannot be put down.
    #[error("the work cannot be written down: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// The store does not say how many partitions it has.
    #[error("the schema {schema} holds no store")]
    NoStore {
        /// Where one was expected.
        schema: String,
    },
}

impl Default for Inbox {
    /// The inbox of the store in the schema `flowfabric`.
    fn default() -> Self {
        Self { schema: SCHEMA.into() }
    }
}

impl Inbox {
    /// The inbox of the store in another schema.
    pub fn in_schema(name: &str) -> Result<Self, ConnectError> {
        let schema = schema(name).map_err(|why| ConnectError::BadUrl { why })?;
        Ok(Self { schema })
    }

    /// Leaves work in the inbox, as part of the transaction of `client`, and returns its id. Under an idempotency key
    /// that was used before, the execution has the id it had then.
    pub async fn submit(&self, client: &impl GenericClient, work: SubmitArgs) -> Result<ExecutionId, InboxError> {
        work.check()?;
        let schema = &self.schema;
        // The name holds nothing but letters, digits and underscores.
        let insert = format!(
            "INSERT INTO {schema}.inbox (submission, content_type, bytes) VALUES ($1, $2, $3)
             RETURNING (SELECT value FROM {schema}.meta WHERE key = 'num_flow_partitions')"
        );
        // The driver logs what is bound, and this is a user's payload.
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
