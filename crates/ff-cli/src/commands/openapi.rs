//! What the HTTP API is, as a document for programs.

use clap::Args;

use crate::exit::Exit;
use crate::output;

/// Print the OpenAPI document of the HTTP API
#[derive(Args)]
pub(crate) struct OpenApi {}

impl OpenApi {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        output::line(serde_json::to_string_pretty(&ff_server::openapi())?)?;
        Ok(Exit::Done)
    }
}
