//! `ff submit --from`: submits one execution for each line of a file.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::Context;
use ff_api::Problem;
use ff_core::contracts::{SubmitArgs, SubmittedExecution};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::types::{IdempotencyKey, new_execution_uuid};
use indicatif::ProgressBar;
use serde::Serialize;
use serde::de::IgnoredAny;

use super::bulk::style;
use crate::exit::{Exit, Usage, print_message};
use crate::output;
use crate::settings::Settings;
use crate::signals::Signals;

/// Size of the payloads at which a batch is full, well within the limit of a request.
const BATCH_BYTES: usize = 4 << 20;

/// The outcome of a line.
#[derive(Serialize)]
struct LineAnswer {
    line: usize,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Submitted(SubmittedExecution),
    Refused { error: Box<Problem> },
}

/// Submits an execution for each line, with the line as payload and the other properties of `like`. A file with an
/// invalid line is not submitted at all; standard input is submitted up to that line.
pub(super) async fn run(settings: &Settings, file: PathBuf, like: SubmitArgs) -> anyhow::Result<Exit> {
    let bar = ProgressBar::no_length().with_style(style());
    if !is_stdin(&file) {
        bar.set_length(Lines::open(&file, &like)?.count_sound()?);
    }
    let mut lines = Lines::open(&file, &like)?;
    let mut signals = Signals::listen()?;
    let flowfabric = settings.connect().await?;
    let (mut done, mut refused) = (0_u64, 0_u64);
    loop {
        let (batch, broken) = lines.batch();
        let (numbers, args): (Vec<usize>, Vec<SubmitArgs>) = batch.into_iter().unzip();
        let is_last = numbers.is_empty() || broken.is_some();
        let answers = tokio::select! {
            answers = flowfabric.backend().submit_many(args) => {
                answers.with_context(|| format!("{done} submitted; then, from line {}", numbers.first().unwrap_or(&0)))?
            }
            () = signals.next() => {
                bar.finish_and_clear();
                print_message(format_args!("interrupted: {done} submitted, and perhaps some of the next {}", numbers.len()));
                return Ok(Exit::Interrupted);
            }
        };
        bar.inc(numbers.len() as u64);
        for (line, answer) in numbers.into_iter().zip(answers) {
            let outcome = match answer {
                Ok(submitted) => Outcome::Submitted(submitted),
                Err(error) => Outcome::Refused { error: Box::new(error.into()) },
            };
            *(if matches!(outcome, Outcome::Submitted(_)) { &mut done } else { &mut refused }) += 1;
            bar.suspend(|| show(settings, &LineAnswer { line, outcome }))?;
        }
        if let Some(error) = broken {
            bar.finish_and_clear();
            print_message(format_args!("{done} submitted before that line"));
            return Err(error);
        }
        if is_last {
            break;
        }
    }
    bar.finish_and_clear();
    if refused > 0 {
        print_message(format_args!("{done} submitted, {refused} refused"));
    }
    Ok(if refused == 0 { Exit::Done } else { Exit::Error })
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn show(settings: &Settings, answer: &LineAnswer) -> anyhow::Result<()> {
    if settings.json {
        return output::line(serde_json::to_string(answer).context("cannot write JSON")?);
    }
    match &answer.outcome {
        Outcome::Submitted(submitted) => output::line(submitted.execution_id),
        Outcome::Refused { error } => {
            output::line(format_args!("line {} refused: {}", answer.line, error.clone().into_error()))
        }
    }
}

/// The lines of a file as submissions.
struct Lines<'a> {
    place: String,
    source: Box<dyn BufRead + Send + 'a>,
    like: &'a SubmitArgs,
    number: usize,
}

impl<'a> Lines<'a> {
    fn open(path: &Path, like: &'a SubmitArgs) -> anyhow::Result<Self> {
        if is_stdin(path) {
            return Ok(Self::new("standard input".to_owned(), BufReader::new(stdin()), like));
        }
        let place = path.display().to_string();
        let file = File::open(path).map_err(|error| Usage(format!("from: cannot open {place}: {error}")))?;
        Ok(Self::new(place, BufReader::new(file), like))
    }

    fn new(place: String, source: impl BufRead + Send + 'a, like: &'a SubmitArgs) -> Self {
        Self { place, source: Box::new(source), like, number: 0 }
    }

    /// Validates all lines, and returns the number of submissions.
    fn count_sound(mut self) -> anyhow::Result<u64> {
        let mut count = 0;
        while self.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Returns the next batch of submissions with their line numbers, and the error of an invalid line that ends it.
    fn batch(&mut self) -> (Vec<(usize, SubmitArgs)>, Option<anyhow::Error>) {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < limits::BULK && bytes < BATCH_BYTES {
            match self.next() {
                Ok(Some(args)) => {
                    bytes += args.payload.bytes.len();
                    batch.push((self.number, args));
                }
                Ok(None) => break,
                Err(error) => return (batch, Some(error)),
            }
        }
        (batch, None)
    }

    /// Returns the submission of the next line that is not empty.
    fn next(&mut self) -> anyhow::Result<Option<SubmitArgs>> {
        loop {
            let mut line = Vec::new();
            let most = limits::PAYLOAD_BYTES as u64 + 2;
            let read = self.source.by_ref().take(most).read_until(b'\n', &mut line);
            if read.with_context(|| format!("cannot read {}", self.place))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let payload = line.trim_ascii();
            if !payload.is_empty() {
                return self
                    .submission(payload)
                    .map(Some)
                    .map_err(|why| Usage(format!("from: line {} of {} {why}", self.number, self.place)).into());
            }
        }
    }

    fn submission(&self, payload: &[u8]) -> Result<SubmitArgs, String> {
        if payload.len() > limits::PAYLOAD_BYTES {
            return Err(format!("must be at most {} bytes", limits::PAYLOAD_BYTES));
        }
        serde_json::from_slice::<IgnoredAny>(payload).map_err(|error| format!("must be JSON: {error}"))?;
        let key =
            self.like.idempotency_key.as_ref().map(|key| IdempotencyKey::parse(&format!("{key}/{}", self.number)));
        Ok(SubmitArgs {
            uuid: new_execution_uuid(),
            payload: Payload::json(payload.to_vec()),
            idempotency_key: key.transpose().map_err(|error| format!("has no key: idempotency_key: {error}"))?,
            ..self.like.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(key: Option<&str>) -> SubmitArgs {
        let idempotency_key = key.map(|key| IdempotencyKey::parse(key).unwrap());
        SubmitArgs { idempotency_key, ..SubmitArgs::new("k".parse().unwrap(), Payload::default()) }
    }

    #[test]
    fn each_line_is_a_submission_with_a_key_of_its_own() {
        let like = like(Some("import"));
        let mut lines = Lines::new("x".into(), &b"{\"a\": 1}\r\n\n[2]"[..], &like);
        let (batch, broken) = lines.batch();
        let read: Vec<_> = batch
            .iter()
            .map(|(line, args)| (*line, &args.payload.bytes[..], args.idempotency_key.as_ref().unwrap().as_str()))
            .collect();
        assert_eq!(read, [(1, &b"{\"a\": 1}"[..], "import/1"), (3, &b"[2]"[..], "import/3")]);
        assert!(broken.is_none() && lines.batch().0.is_empty());
        assert_ne!(batch[0].1.uuid, batch[1].1.uuid);
    }

    #[test]
    fn an_unsound_line_is_named() {
        let like = like(None);
        let (batch, broken) = Lines::new("x".into(), &b"1\n{oops}\n2\n"[..], &like).batch();
        assert_eq!(batch.len(), 1);
        assert!(broken.unwrap().to_string().starts_with("from: line 2 of x must be JSON"));
        let long = vec![b'1'; limits::PAYLOAD_BYTES + 1];
        let (_, broken) = Lines::new("x".into(), &long[..], &like).batch();
        assert!(broken.unwrap().to_string().contains("must be at most"));
    }
}
