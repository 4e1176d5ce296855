//! What other members of a flow passed on to a program: a file for each, in a folder of its own.

use ff_sdk::{Context, Fault};
use tempfile::TempDir;

use super::broken;

/// Puts what was passed on where the program finds it; nothing where nothing was. The folder is gone when this is dropped.
pub(super) async fn lay_out(work: &Context) -> Result<Option<TempDir>, Fault> {
    let mut folder = None;
    for name in work.inputs() {
        let input = work.input_payload(name).await?;
        let folder = match &mut folder {
            Some(folder) => folder,
            none => none.insert(TempDir::new().map_err(|error| broken("cannot make a folder for its inputs", &error))?),
        };
        let written = tokio::fs::write(folder.path().join(name), &input.bytes).await;
        written.map_err(|error| broken("cannot write its inputs", &error))?;
    }
    Ok(folder)
}
