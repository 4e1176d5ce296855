//! Doing something to every execution a search finds.

use ff_core::contracts::{BulkAction, BulkArgs, BulkPage};
use ff_core::limits;
use ff_core::types::TimestampMs;

use super::Search;
use crate::{Client, Error};

impl Client {
    /// Cancels the executions a search finds that have not ended.
    pub fn cancel_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::Cancel { reason: None, requested_by: None })
    }

    /// Holds the executions a search finds that have not ended: no worker gets them until they are released.
    pub fn hold_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::Hold { reason: None, requested_by: None })
    }

    /// Releases the held executions a search finds.
    pub fn release_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::ReleaseHold)
    }

    /// Replays the executions a search finds that have ended.
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
/// it is run or its first page is requested; dropped in between, finished pages stay done.
pub struct Bulk {
    client: Client,
    args: BulkArgs,
    over: bool,
}

/// The result of a bulk action.
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

    /// The requester; kept with each execution, except for a release.
    pub fn requested_by(mut self, who: &str) -> Self {
        if let Some((_, requested_by)) = cause(&mut self.args.action) {
            *requested_by = Some(who.to_owned());
        }
        self
    }

    /// For a replay: ended executions that depend on each in its flow run again too. A cancellation stays as it is.
    pub fn reopen_downstream(mut self) -> Self {
        if let BulkAction::Replay { reopen_downstream, .. } = &mut self.args.action {
            *reopen_downstream = true;
        }
        self
    }

    /// Only reports the executions it would act on.
    pub fn dry_run(mut self) -> Self {
        self.args.dry_run = true;
        self
    }

    /// Skips executions that changed after this moment; by default, after the beginning.
    pub fn as_of(mut self, moment: TimestampMs) -> Self {
        self.args.as_of = Some(moment);
        self
    }

    /// How many executions a page looks for: 1 000 unless said, which is the most.
    pub fn page(mut self, limit: usize) -> Self {
        self.args.limit = limit;
        self
    }

    /// Acts on the next page and returns its result; `None` when all is done. After an error it may be called
    /// again: no execution is acted on twice.
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

/// The reason and the requester of an action, where they are kept.
fn cause(action: &mut BulkAction) -> Option<(&mut Option<String>, &mut Option<String>)> {
    match action {
        BulkAction::Cancel { reason, requested_by }
        | BulkAction::Hold { reason, requested_by }
        | BulkAction::Replay { reason, requested_by, .. } => Some((reason, requested_by)),
        BulkAction::ReleaseHold => None,
    }
}
