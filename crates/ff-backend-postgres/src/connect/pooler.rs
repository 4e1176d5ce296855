//! Checks that a pooler before the server has the features the store needs. Without these checks, statements would fail because
//! they find no tables.

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};
use uuid::Uuid;

use super::connector::{self, Connector};
use super::driver_error::DriverError;
use crate::ConnectError;

/// Maximum time for a pooler to find a second server connection. A pooler that has only one passes: its statements always run
/// where they were prepared.
const PATIENCE: Duration = Duration::from_secs(2);

const NO_SETTINGS: &str =
    "takes no settings with a connection: add listen=off to the URL, or connect to the server itself";
const NO_STATEMENTS: &str =
    "forgets prepared statements: PgBouncer has to be 1.21 or newer, with max_prepared_statements above 100";

/// Returns the pooler's error, if a pooler is the reason why a connection was refused.
pub(crate) fn refused(connector: &Connector, why: &str) -> Option<ConnectError> {
    why.contains("unsupported startup parameter").then(|| pooler(connector, NO_SETTINGS))
}

/// Fails if the connection loses its settings, or behind a pooler its prepared statements. Every statement relies on them.
pub(crate) async fn check(connector: &Connector, client: &Client) -> Result<(), ConnectError> {
    let failed = |error: Error| connector::failed(&connector.place, &error);
    if connector.place.listen {
        let arrived = client.query_one("SELECT current_setting('search_path')", &[]).await.map_err(failed)?;
        return match arrived.get::<_, &str>(0) == connector.place.schema {
            true => Ok(()),
            false => Err(pooler(connector, NO_SETTINGS)),
        };
    }
    match timeout(PATIENCE, remembers(connector, client)).await {
        Ok(Ok(false)) => Err(pooler(connector, NO_STATEMENTS)),
        Ok(Ok(true)) | Err(_) => Ok(()),
        Ok(Err(driver_error)) => {
            Err(ConnectError::Server { address: connector.place.address(), why: driver_error.why().to_owned() })
        }
    }
}

/// Returns whether a prepared statement works on another server connection than the one it was prepared on. A second client keeps
/// the first server connection busy meanwhile.
async fn remembers(connector: &Connector, client: &Client) -> Result<bool, DriverError> {
    let text = Uuid::new_v4().to_string();
    let driver_error = |error: Error| DriverError::of(&error);
    let (mut other, conversation) = connector.converse("visitor").await?;
    tokio::spawn(conversation);
    let statement = match client.prepare(&format!("SELECT '{text}'")).await {
        Ok(statement) => statement,
        // Another client prepared a statement of the same name on this connection.
        Err(error) if error.code() == Some(&SqlState::DUPLICATE_PSTATEMENT) => return Ok(false),
        Err(error) => return Err(driver_error(error)),
    };
    let transaction = other.transaction().await.map_err(driver_error)?;
    let answer = client.query_one(&statement, &[]).await;
    transaction.rollback().await.map_err(driver_error)?;
    Ok(answer.is_ok_and(|row| row.try_get::<_, &str>(0).is_ok_and(|answer| answer == text)))
}

fn pooler(connector: &Connector, why: &'static str) -> ConnectError {
    ConnectError::Pooler { address: connector.place.address(), why }
}
