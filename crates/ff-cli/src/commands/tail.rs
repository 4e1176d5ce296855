//! `ff tail` and `ff stream-token`: follows the output stream of an execution, and creates tokens that read it.

use std::time::Duration;

use clap::Args;
use ff_core::contracts::StreamItem;
use ff_core::limits;
use ff_core::types::{AttemptIndex, FrameType};
use ff_sdk::OutputReader;
use serde_json::json;

use crate::args::{IdArg, span};
use crate::exit::{self, Exit, print_message};
use crate::output;
use crate::settings::Settings;
use crate::signals::Signals;

/// Follow the output stream of an execution until it ends
#[derive(Args)]
pub(crate) struct Tail {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// Only this attempt, counted from 0
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
}

/// Create a token with which a browser page reads the output stream of an execution
#[derive(Args)]
pub(crate) struct StreamToken {
    /// The execution: {fp:N}:<uuid>, quoted for the shell; or the uuid, or its first digits
    id: IdArg,

    /// How long it is valid, at most a day
    #[arg(long, value_name = "SPAN", default_value = "1h", value_parser = lifetime)]
    expires: Duration,
}

/// Parses the lifetime of a token.
fn lifetime(text: &str) -> Result<Duration, String> {
    let allowed = Duration::from_millis(1)..=Duration::from_millis(limits::STREAM_TOKEN_MS);
    Some(span::parse(text)?).filter(|span| allowed.contains(span)).ok_or_else(|| "must be from 1ms to 1d".to_owned())
}

impl StreamToken {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        let token = client.stream_token(&id, self.expires).await?;
        settings.answer(&ff_api::StreamTokenReply::from(token.clone()), || {
            output::line(token.expose())?;
            let valid = span::short(span::ms(self.expires));
            print_message(format_args!(
                "reads the output of {id} and nothing else, for {valid}: GET /v1/executions/{id}/stream?token=…"
            ));
            Ok(())
        })
    }
}

impl Tail {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let mut signals = Signals::listen()?;
        let client = settings.connect().await?.client();
        let id = self.id.find(settings, &client).await?;
        let mut reader = match self.attempt {
            Some(attempt) => client.output_of(&id, AttemptIndex(attempt), None),
            None => client.output(&id, None),
        };
        tokio::select! {
            ended = show(settings, &mut reader) => ended?,
            () = signals.next() => {
                let again = format!("`ff tail '{id}'` follows it again");
                return Ok(exit::cut_short(Exit::Interrupted, ("execution_id", &id), &again));
            }
        }
        Ok(reader.outcome().map_or(Exit::Done, Exit::from))
    }
}

/// Prints the stream until its end.
async fn show(settings: &Settings, reader: &mut OutputReader) -> anyhow::Result<()> {
    let mut is_at_line_start = true;
    while let Some(item) = reader.next().await? {
        if settings.json {
            output::json(&ff_api::StreamItem::from(item))?;
            continue;
        }
        match item {
            StreamItem::Frame { stored, .. } if stored.frame.frame_type.as_str() == FrameType::JSON => {
                begin_line(&mut is_at_line_start)?;
                output::line(str::from_utf8(&stored.frame.bytes)?.trim_end())?;
            }
            StreamItem::Frame { stored, .. } => {
                output::raw(&stored.frame.bytes)?;
                is_at_line_start = stored.frame.bytes.last().map_or(is_at_line_start, |last| *last == b'\n');
            }
            StreamItem::Summary { document, .. } => {
                begin_line(&mut is_at_line_start)?;
                output::line(document)?;
            }
            other => {
                begin_line(&mut is_at_line_start)?;
                if let Some(mark) = mark(&other) {
                    print_message(mark);
                }
            }
        }
    }
    begin_line(&mut is_at_line_start)
}

/// Ends the current line, unless the output is at the start of a line.
fn begin_line(is_at_line_start: &mut bool) -> anyhow::Result<()> {
    if std::mem::replace(is_at_line_start, true) { Ok(()) } else { output::line("") }
}

/// Returns the note for standard error about an item that is not output, if it needs one.
fn mark(item: &StreamItem) -> Option<String> {
    match item {
        StreamItem::Trimmed { from, to, .. } => Some(format!("frames {from} to {} were not kept", to - 1)),
        StreamItem::Superseded { attempt, by } => {
            Some(format!("attempt {attempt} was superseded by attempt {by}; what stands above no longer counts"))
        }
        StreamItem::Closed { attempt, outcome, .. } => {
            let outcome = json!(outcome);
            (outcome != json!("success"))
                .then(|| format!("attempt {attempt} ended: {}", outcome.as_str().unwrap_or("")))
        }
        StreamItem::Frame { .. } | StreamItem::Summary { .. } => None,
    }
}
