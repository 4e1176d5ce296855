//! Doing something to every execution a search finds.

use ff_core::contracts::{BulkAction, BulkArgs, BulkPage};
use ff_core::limits;
use ff_core::types::TimestampMs;

use super::Search;
use crate::{Client, Error};

impl Client {
    /// Cancels what a search finds and has not ended.
    pub fn cancel_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::Cancel { reason: None, requested_by: None })
    }

    /// Holds what a search finds and has not ended: no worker gets it until it is released.
    pub fn hold_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::Hold { reason: None, requested_by: None })
    }

    /// Releases what a search finds and is held.
    pub fn release_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::ReleaseHold)
    }

    /// Runs again what a search finds and has ended.
    pub fn replay_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::Replay { reason: None, requested_by: None, reopen_downstream: false })
    }

    fn act_on(&self, search: Search, action: BulkAction) -> Result<Bulk, Error> {
        self.check_named(search.named())?;
        let filter = search.build()?;
        let args = BulkArgs { filter, action, dry_run: false, as_of: None, after: None, limit: limits::BULK };
        Ok(Bulk { client: self.clone(), args, over: false })
    }
}

/// Something that is done to many executions, from the newest to the oldest, a page at a time. Nothing is done before
/// it is run or its first page is asked for; dropped in between, what was done stays done.
pub struct Bulk {
    client: Client,
    args: BulkArgs,
    over: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkReport {
    /// How many it was done to, or in a dry run would be.
    pub done: u64,
    /// How many refused.
    pub refused: u64,
}

impl Bulk {
    /// Why; it is kept with each execution. A release ends the hold it would be kept with.
    pub fn reason(mut self, why: &str) -> Self {
        if let Some((reason, _)) = cause(&mut self.args.action) {
            *reason = Some(why.to_owned());
        }
        self
    }

    /// Who wants it; it is kept with each execution, but of a release.
    pub fn requested_by(mut self, who: &str) -> Self {
        if let Some((_, requested_by)) = cause(&mut self.args.action) {
            *requested_by = Some(who.to_owned());
        }
        self
    }

    /// Of a replay: what depends on each in its flow runs again too, where it has ended. A cancellation stays as it is.
    pub fn reopen_downstream(mut self) -> Self {
        if let BulkAction::Replay { reopen_downstream, .. } = &mut self.args.action {
            *reopen_downstream = true;
        }
        self
    }

    /// Only says what would be done.
    pub fn dry_run(mut self) -> Self {
        self.args.dry_run = true;
        self
    }

    /// Leaves alone what has changed since this moment; since it begins, unless said.
    pub fn as_of(mut self, moment: TimestampMs) -> Self {
        self.args.as_of = Some(moment);
        self
    }

    /// How many executions a page looks for: 1 000 unless said, which is the most.
    pub fn page(mut self, limit: usize) -> Self {
        self.args.limit = limit;
        self
    }

    /// Does it to the next page, and says what became of that; nothing when all is done. After an error it may be asked
    /// again: what was done is not done twice.
    pub async fn next(&mut self) -> Result<Option<BulkPage>, Error> {
        if self.over {
            return Ok(None);
        }
        if self.args.as_of.is_none() && !self.args.dry_run {
            // A first page whose answer got lost is only safe to ask for again as of a moment before it was done.
            let look = BulkArgs { dry_run: true, limit: 1, ..self.args.clone() };
            self.args.as_of = Some(self.client.backend().bulk(look).await?.as_of);
        }
        let page = self.client.backend().bulk(self.args.clone()).await?;
        self.args.as_of = Some(page.as_of);
        self.args.after = page.next;
        self.over = page.next.is_none();
        Ok(Some(page))
    }

    /// Does it to all of them, telling of each page when it is through.
    pub async fn run(mut self, mut on_page: impl FnMut(&BulkPage)) -> Result<BulkReport, Error> {
        let mut all = BulkReport::default();
        while let Some(page) = self.next().await? {
            all.done += page.executions.len() as u64;
            all.refused += page.refused.len() as u64;
            on_page(&page);
        }
        Ok(all)
    }
}

/// Why something is done and who wants it, where that is kept.
fn cause(action: &mut BulkAction) -> Option<(&mut Option<String>, &mut Option<String>)> {
    match action {
        BulkAction::Cancel { reason, requested_by }
        | BulkAction::Hold { reason, requested_by }
        | BulkAction::Replay { reason, requested_by, .. } => Some((reason, requested_by)),
        BulkAction::ReleaseHold => None,
    }
}
