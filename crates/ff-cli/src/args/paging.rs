//! Listings in pages.

use std::fmt::Display;
use std::str::FromStr;

use clap::Args;
use ff_core::limits;

use super::input::{cursor, whole};
use crate::exit::print_message;

/// Which part of a listing is shown.
#[derive(Args)]
pub(crate) struct Paging<C: Clone + FromStr + Send + Sync + 'static> {
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = limits::PAGE_DEFAULT, value_parser = whole::<usize>)]
    limit: usize,

    /// Continue where an earlier listing ended
    #[arg(long, value_name = "CURSOR", value_parser = cursor::<C>)]
    cursor: Option<C>,

    /// List all results
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl<C: Clone + FromStr + Send + Sync + 'static> Paging<C> {
    /// Reads the requested rows, and the cursor of the next page. `read` reads one page after a cursor, up to a limit.
    pub(crate) async fn read<T>(
        self,
        mut read: impl AsyncFnMut(Option<C>, usize) -> anyhow::Result<(Vec<T>, Option<C>)>,
    ) -> anyhow::Result<(Vec<T>, Option<C>)> {
        if !self.all {
            return read(self.cursor, self.limit).await;
        }
        Ok((every_page(self.cursor, async |after| read(after, limits::PAGE).await).await?, None))
    }
}

/// Reads all pages of a listing after a cursor.
pub(crate) async fn every_page<T, C>(
    mut after: Option<C>,
    mut read: impl AsyncFnMut(Option<C>) -> anyhow::Result<(Vec<T>, Option<C>)>,
) -> anyhow::Result<Vec<T>> {
    let mut rows = Vec::new();
    loop {
        let (page, next) = read(after).await?;
        rows.extend(page);
        if next.is_none() {
            return Ok(rows);
        }
        after = next;
    }
}

/// Prints how to read the next page, if there is one.
pub(crate) fn tell_more(next: Option<impl Display>) {
    if let Some(next) = next {
        print_message(format_args!("more: --cursor {next}, or --all"));
    }
}
