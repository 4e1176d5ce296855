//! Bulk actions: one action on every execution that a search finds.

use ff_core::contracts::{BulkAction, BulkArgs, BulkPage};
use ff_core::limits;
use ff_core::types::TimestampMs;

use super::Search;
use crate::{Client, Error};

impl Client {
    /// Cancels every execution that a search finds and that has not ended.
    pub fn cancel_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::Cancel { reason: None, requested_by: None })
    }

    /// Holds every execution that a search finds and that has not ended: no worker can claim it until it is released.
    pub fn hold_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::Hold { reason: None, requested_by: None })
    }

    /// Releases the held executions a search finds.
    pub fn release_all(&self, search: impl Into<Search>) -> Result<Bulk, Error> {
        self.act_on(search.into(), BulkAction::ReleaseHold)
    }

    /// Replays every execution that a search finds and that has ended.
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

/// A bulk action on executions, from the newest to the oldest, page by page. It starts with [`Bulk::run`] or the first
/// [`Bulk::next`]. If it is dropped in between, finished pages stay done.
pub struct Bulk {
    client: Client,
    args: BulkArgs,
    over: bool,
}

/// The result of a bulk action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkReport {
    /// Number of executions changed; in a dry run, the number that would be changed.
    pub done: u64,
    /// Number of executions that could not be changed.
    pub refused: u64,
}

impl Bulk {
    /// Sets the reason, which is stored with each execution. A release stores none, because it ends the hold.
    pub fn reason(mut self, why: &str) -> Self {
        if let Some((reason, _)) = cause(&mut self.args.action) {
            *reason = Some(why.to_owned());
        }
        self
    }

    /// Sets the requester, who is stored with each execution, except by a release.
    pub fn requested_by(mut self, who: &str) -> Self {
        if let Some((_, requested_by)) = cause(&mut self.args.action) {
            *requested_by = Some(who.to_owned());
        }
        self
    }

    /// For a replay: ended executions that depend on a replayed one in its flow run again too. Other actions ignore this.
    pub fn reopen_downstream(mut self) -> Self {
        if let BulkAction::Replay { reopen_downstream, .. } = &mut self.args.action {
            *reopen_downstream = true;
        }
        self
    }

    /// Reports the executions that would be changed, without changing them.
    pub fn dry_run(mut self) -> Self {
        self.args.dry_run = true;
        self
    }

    /// Skips executions that changed after this time. The default is the start of the bulk action.
    pub fn as_of(mut self, moment: TimestampMs) -> Self {
        self.args.as_of = Some(moment);
        self
    }

    /// Sets the number of executions per page. The default and maximum is 1 000.
    pub fn page(mut self, limit: usize) -> Self {
        self.args.limit = limit;
        self
    }

    /// Acts on the next page and returns its result; `None` after the last page. After an error it can be called again:
    /// no execution is acted on twice.
    pub async fn next(&mut self) -> Result<Option<BulkPage>, Error> {
        if self.over {
            return Ok(None);
        }
        if self.args.as_of.is_none() && !self.args.dry_run {
            // A first page whose answer was lost can only be repeated safely with an `as_of` from before its changes.
            let look = BulkArgs { dry_run: true, limit: 1, ..self.args.clone() };
            self.args.as_of = Some(self.client.backend().bulk(look).await?.as_of);
        }
        let page = self.client.backend().bulk(self.args.clone()).await?;
        self.args.as_of = Some(page.as_of);
        self.args.after = page.next;
        self.over = page.next.is_none();
        Ok(Some(page))
    }

    /// Acts on all pages, and calls `on_page` after each.
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

/// Returns the reason and the requester of an action; `None` for a release, which stores neither.
fn cause(action: &mut BulkAction) -> Option<(&mut Option<String>, &mut Option<String>)> {
    match action {
        BulkAction::Cancel { reason, requested_by }
        | BulkAction::Hold { reason, requested_by }
        | BulkAction::Replay { reason, requested_by, .. } => Some((reason, requested_by)),
        BulkAction::ReleaseHold => None,
    }
}
