//! Settings of a server with which acknowledged work can be lost.

use tokio_postgres::Client;

/// Each setting that matters, as it holds for connections of the store. One that must not be `off` is lost work otherwise: after a
/// crash of the machine, or, with `full_page_writes`, by pages that were half written.
const SETTINGS: [&str; 3] = ["fsync", "full_page_writes", "synchronous_commit"];

/// What may lose acknowledged work, and what to set instead.
pub(crate) async fn find(client: &Client) -> Result<Vec<String>, tokio_postgres::Error> {
    let settings = "SELECT name FROM unnest($1::text[]) AS s(name) WHERE current_setting(name) = 'off'";
    let rows = client.query(settings, &[&SETTINGS.as_slice()]).await?;
    Ok(rows.iter().map(|row| format!("{} is off: set it to on", row.get::<_, &str>(0))).collect())
}
