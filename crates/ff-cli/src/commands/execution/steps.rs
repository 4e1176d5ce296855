//! `ff steps` and `ff fork`: the recorded steps of an execution, and a new execution that begins with some of them.

use clap::Args;
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::contracts::{ForkArgs, StepPoint};
use ff_core::step::{Step, StepOutcome};
use ff_core::types::{StepKey, StepName, TimestampMs};

use crate::args::{IdArg, span};
use crate::exit::{Exit, Usage};
use crate::output::{self, Table, or_dash};
use crate::settings::Settings;

/// Show the recorded steps and waits of an execution
#[derive(Args)]
pub(crate) struct Steps {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,
}

/// Start a new execution with the recorded steps of another one
#[derive(Args)]
pub(crate) struct Fork {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// First step not to copy: NAME, or NAME#KEY; unless given, all are copied
    #[arg(long, value_name = "STEP")]
    before: Option<String>,

    /// Key of that step; NAME is then not split at #
    #[arg(long, value_name = "KEY", requires = "before")]
    key: Option<String>,
}

impl Steps {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let steps = client.steps(&self.id.find(settings, &client).await?).await?;
        if settings.json {
            let steps = steps.into_iter().map(ff_api::Step::of).collect();
            output::json(&ff_api::StepsPage { steps, next: None })?;
        } else {
            show(&steps, SystemClock.now())?;
        }
        Ok(Exit::Done)
    }
}

fn show(steps: &[Step], now: TimestampMs) -> anyhow::Result<()> {
    let mut table = Table::new(&["STEP", "KIND", "NAME", "KEY", "ATTEMPT", "TOOK", "RECORDED", "RESULT"]);
    for step in steps {
        table.row([
            step.seq.to_string(),
            step.step.kind.to_string(),
            step.step.name.to_string(),
            or_dash(Some(&step.step.key).filter(|key| !key.is_empty())),
            step.attempt.to_string(),
            span::short(step.recorded_at.since(step.started_at)),
            span::relative(step.recorded_at, now),
            result(&step.outcome),
        ]);
    }
    table.print()
}

/// Maximum length of a shown result, in characters.
const SHOWN: usize = 60;

/// Formats a result: short JSON in full, otherwise its size and content type. `--json` prints all of it.
fn result(outcome: &StepOutcome) -> String {
    match outcome {
        StepOutcome::Failed { failure } => format!("failed: {}: {}", failure.category, failure.message),
        StepOutcome::Succeeded { result } => match str::from_utf8(&result.bytes) {
            Ok(text) if result.content_type.is_json() && text.chars().count() <= SHOWN => text.to_owned(),
            _ => format!("{} bytes of {}", result.bytes.len(), result.content_type),
        },
    }
}

impl Fork {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let before_step = self.before.map(|step| step_point("--before", &step, self.key.as_deref())).transpose()?;
        let flowfabric = settings.connect().await?;
        let id = self.id.find(settings, &flowfabric.client()).await?;
        let forked = flowfabric.backend().fork(ForkArgs { before_step, ..ForkArgs::new(id) }).await?;
        settings.answer(&forked, || {
            output::line(format_args!("{} is waiting, with {} steps of {id}", forked.execution_id, forked.steps))
        })
    }
}

/// Parses the step in an option: NAME or NAME#KEY, or only NAME if the key is given separately.
pub(super) fn step_point(option: &str, step: &str, key: Option<&str>) -> anyhow::Result<StepPoint> {
    let (name, key) = match (key, step.rsplit_once('#')) {
        (Some(key), _) => (step, key),
        (None, Some((name, key))) => (name, key),
        (None, None) => (step, ""),
    };
    let name = StepName::parse(name).map_err(|error| Usage(format!("{option}: the name of a step {error}")))?;
    let key = StepKey::parse(key).map_err(|error| Usage(format!("{option}: the key of a step {error}")))?;
    Ok(StepPoint { name, key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_follows_the_last_hash_unless_it_is_said() {
        let point = |step, key| {
            let point = step_point("--from", step, key).unwrap();
            (point.name.to_string(), point.key.to_string())
        };
        let expected = |name: &str, key: &str| (name.to_owned(), key.to_owned());
        assert_eq!(point("send mail", None), expected("send mail", ""));
        assert_eq!(point("item#a#7", None), expected("item#a", "7"));
        assert_eq!(point("item#7", Some("")), expected("item#7", ""));
        assert_eq!(point("item", Some("7")), expected("item", "7"));
        assert!(step_point("--from", "", None).is_err());
    }
}
