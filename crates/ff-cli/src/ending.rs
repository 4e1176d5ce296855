//! Waits for the end of an execution, and prints its result or outcome.

use std::time::Duration;

use anyhow::Context;
use ff_core::contracts::ExecutionEnd;
use ff_core::engine_error::EngineError;
use ff_core::execution::{FinishedBy, Outcome};
use ff_core::types::ExecutionId;
use ff_sdk::{Client, Error};
use serde_json::json;

use crate::exit::{self, Exit, print_message};
use crate::output::{self, printable};
use crate::settings::Settings;
use crate::signals::Signals;

/// Waits for the end, for at most `patience` if given, and prints it. A timeout or an interrupt does not affect the
/// execution; a message says how to wait for it again.
pub(crate) async fn wait(
    settings: &Settings,
    client: &Client,
    id: &ExecutionId,
    patience: Option<Duration>,
) -> anyhow::Result<Exit> {
    let mut signals = Signals::listen()?;
    let again = format!("`ff result '{id}' --wait` waits for it again");
    tracing::info!(execution = %id, "waiting for the end");
    match signals.unless_cut_short(patience, client.wait(id)).await {
        Ok(Ok(end)) => show(settings, &end.0),
        Ok(Err(error @ Error::Engine(EngineError::Refused(_)))) => Err(error.into()),
        Ok(Err(error)) => Err(error).with_context(|| format!("{id} continues; {again}")),
        Err(cut_short) => {
            if settings.json {
                // A program needs the id to continue.
                output::json(&json!({ "execution_id": id, "outcome": null }))?;
            }
            Ok(exit::cut_short(cut_short, ("execution_id", id), &again))
        }
    }
}

/// Prints the end of an execution. Standard output gets only the result; without success, standard error gets the outcome.
pub(crate) fn show(settings: &Settings, ended: &ExecutionEnd) -> anyhow::Result<Exit> {
    if settings.json {
        output::json(&ff_api::ExecutionEnd::of(ended.clone(), ff_api::Encoding::Json))?;
    } else if ended.outcome == Outcome::Success {
        output::bytes(ended.result.as_ref().map_or(&[], |result| &result.bytes))?;
    } else {
        print_message(format_args!("error: {} {}", ended.execution_id, printable(&sentence(ended))));
    }
    Ok(ended.outcome.into())
}

/// Describes the outcome and its reason.
fn sentence(ended: &ExecutionEnd) -> String {
    let how = match ended.outcome {
        Outcome::Success => "completed",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "was cancelled",
        Outcome::Expired => "expired",
        Outcome::Skipped => "was skipped",
    };
    match (&ended.failure, &ended.by) {
        (Some(failure), _) if ended.outcome == Outcome::Failed => {
            format!("{how}: {}: {}", failure.category, failure.message)
        }
        (_, FinishedBy::Cancel { reason: Some(reason), .. }) => format!("{how}: {reason}"),
        (_, FinishedBy::Deadline) => format!("{how}: its deadline passed"),
        (_, FinishedBy::Dependencies) => format!("{how}: what it waits for cannot succeed any more"),
        (_, FinishedBy::FlowCancel) => format!("{how}: its flow was cancelled"),
        (_, FinishedBy::Join) => format!("{how}: nothing needs it any more"),
        (_, FinishedBy::SuspensionTimeout) => format!("{how}: what it waited for did not come in time"),
        _ => how.to_owned(),
    }
}
