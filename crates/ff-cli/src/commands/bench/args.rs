//! Arguments that benchmarks share: the store, and numbers within a range.

use clap::Args;
use ff_core::limits;

#[derive(Args)]
pub(super) struct Store {
    /// Store: sqlite:PATH, postgres://HOST/DATABASE or valkey://HOST:PORT; the test data stays in it
    #[arg(long, env = "FF_STORE", value_name = "URL", value_parser = crate::commands::server::store)]
    pub(super) store: String,
}

/// Upper limit of counts. A larger measurement would take more than a day.
const MOST: usize = 1_000_000_000;

pub(super) fn positive(text: &str) -> Result<usize, String> {
    within(text, 1, MOST)
}

pub(super) fn frame(text: &str) -> Result<usize, String> {
    within(text, 1, limits::FRAME_BYTES)
}

pub(super) fn steps(text: &str) -> Result<usize, String> {
    within(text, 1, limits::STEPS as usize)
}

pub(super) fn any_number(text: &str) -> Result<usize, String> {
    within(text, 0, MOST)
}

pub(super) fn payload(text: &str) -> Result<usize, String> {
    within(text, 0, limits::PAYLOAD_BYTES)
}

fn within(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("must be a whole number from {least} to {most}"))
}
