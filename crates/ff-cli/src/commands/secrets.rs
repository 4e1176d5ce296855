//! `ff secrets`: rotates and lists the secrets that sign waitpoint tokens.

use std::collections::BTreeMap;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use ff_core::backend::clock::{Clock, SystemClock};
use ff_core::backend::entropy::{Entropy, SystemEntropy};
use ff_core::contracts::{PartitionKids, RotateSecretArgs, RotatedSecret, RotationReport};
use ff_core::limits;
use ff_core::token::Secret;
use ff_core::types::{Kid, TimestampMs};
use ff_sdk::Client;

use crate::args::span;
use crate::exit::{Exit, Usage, print_message};
use crate::output::{self, Table};
use crate::settings::Settings;

/// Maximum number of attempts of a rotation that does not reach all partitions.
const ATTEMPTS: usize = 5;

/// Maximum size of a file with a secret: the digits of the longest secret, and white space around them.
const FILE_BYTES: u64 = 4 * limits::SECRET_BYTES as u64;

/// Rotate or list the secrets that waitpoint tokens are signed with
#[derive(Args)]
pub(crate) struct Secrets {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Rotate(Rotate),
    /// List the names of the secrets, and until when each is valid
    List,
}

/// Sign new tokens with a new secret; tokens of the previous one stay valid for a while
#[derive(Args)]
struct Rotate {
    /// Name of the new secret; unless given, made from the time
    #[arg(long, value_name = "KID")]
    kid: Option<Kid>,

    /// File with the secret in hexadecimal, or - for standard input; unless given, the secret is random
    #[arg(long, value_name = "PATH")]
    secret_file: Option<PathBuf>,

    /// How long tokens of the previous secret stay valid
    #[arg(long, value_name = "SPAN", default_value = "1d", value_parser = span::parse)]
    grace: Duration,
}

impl Secrets {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        match self.command {
            Command::Rotate(rotate) => rotate.run(settings).await,
            Command::List => list(settings).await,
        }
    }
}

impl Rotate {
    async fn run(self, settings: &Settings) -> anyhow::Result<Exit> {
        let secret = match &self.secret_file {
            Some(path) => read(path)?,
            None => Secret::drawn(SystemEntropy.secret()),
        };
        let kid = match self.kid {
            Some(kid) => kid,
            None => Kid::parse(&format!("k{}", SystemClock.now())).context("cannot make a name")?,
        };
        let grace_ms = span::ms(self.grace);
        let args = RotateSecretArgs { kid: kid.clone(), secret, grace_ms };
        args.check().map_err(Usage::from)?;
        let report = rotate_all_partitions(&settings.connect().await?.client(), args).await?;
        let complete = report.is_complete();
        settings.answer(&ff_api::RotationReport::from(report.clone()), || tell_report(&kid, self.grace, &report))?;
        Ok(if complete { Exit::Done } else { Exit::Error })
    }
}

/// Rotates the secret on all partitions. Repeats the rotation while partitions do not answer, because only the caller,
/// which has the secret, can complete it.
async fn rotate_all_partitions(client: &Client, args: RotateSecretArgs) -> anyhow::Result<RotationReport> {
    let mut report = client.rotate_secret(args.clone()).await?;
    for _ in 1..ATTEMPTS {
        let unreached =
            report.failed.iter().any(|(_, error)| !matches!(error, ff_core::engine_error::EngineError::Refused(_)));
        if !unreached {
            break;
        }
        report = client.rotate_secret(args.clone()).await?;
    }
    Ok(report)
}

fn tell_report(kid: &Kid, grace: Duration, report: &RotationReport) -> anyhow::Result<()> {
    let done = report.rotated.len();
    let all = done + report.failed.len();
    let new = report.rotated.iter().any(|(_, rotated)| matches!(rotated, RotatedSecret::Rotated { .. }));
    let grace = span::short(span::ms(grace));
    if new {
        output::line(format_args!(
            "{kid} signs new tokens on {done} of {all} partitions; older tokens stay good for {grace}"
        ))?;
    } else if done > 0 {
        output::line(format_args!("{kid} was there already on {done} of {all} partitions"))?;
    }
    if let Some((partition, error)) = report.failed.first() {
        let failed = report.failed.len();
        print_message(format_args!(
            "error: {failed} of {all} partitions did not take {kid}; partition {partition}: {error}"
        ));
        print_message(format_args!("  rotate again with another --kid, or with the same --kid and --secret-file"));
    }
    Ok(())
}

async fn list(settings: &Settings) -> anyhow::Result<Exit> {
    let secrets = ff_api::Secrets { partitions: settings.connect().await?.client().secrets().await? };
    settings.answer(&secrets, || tabulate(&secrets.partitions, SystemClock.now()).print())
}

/// Tabulates secrets, with a row for each secret and use. After an incomplete rotation, the last column shows that
/// partitions differ.
fn tabulate(partitions: &[PartitionKids], now: TimestampMs) -> Table {
    let mut rows: BTreeMap<(bool, &Kid, Option<TimestampMs>), usize> = BTreeMap::new();
    for partition in partitions {
        if let Some(kid) = &partition.kids.current_kid {
            *rows.entry((false, kid, None)).or_default() += 1;
        }
        for retired in &partition.kids.verifying {
            // Partitions are rotated one after the other, so their times agree to the second, not to the millisecond.
            let until = TimestampMs(retired.expires_at.0 / 1_000 * 1_000);
            *rows.entry((true, &retired.kid, Some(until))).or_default() += 1;
        }
    }
    let mut table = Table::new(&["KID", "USE", "GOOD UNTIL", "PARTITIONS"]);
    for ((retired, kid, until), count) in rows {
        table.row([
            kid.to_string(),
            if retired { "verifies" } else { "signs and verifies" }.to_owned(),
            until.map_or("rotated".to_owned(), |at| span::relative(at, now)),
            format!("{count} of {}", partitions.len()),
        ]);
    }
    table
}

/// Reads a secret from a file or standard input, because other users of the machine can read the command line.
fn read(path: &Path) -> anyhow::Result<Secret> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        stdin().lock().take(FILE_BYTES).read_to_string(&mut text).context("cannot read standard input")
    } else {
        let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        file.take(FILE_BYTES).read_to_string(&mut text).with_context(|| format!("cannot read {}", path.display()))
    };
    read?;
    Secret::from_hex(text.trim()).map_err(|error| anyhow!(Usage(format!("secret: {error}"))))
}
