//! Listing executions, newest first: the newest of all partitions are read.

use std::cmp::Ordering;

use ff_core::backend::Answer;
use ff_core::contracts::{Cursor, Filter, ListArgs, Page};
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_core::types::Namespace;
use ff_script::execution::{Before, Beside, Wanted, ff_list_executions};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;
use crate::newest::{Newest, Part, newest};

/// Records read at the same time.
const AT_ONCE: usize = 64;

/// The fewest a partition looks at.
const FEWEST: usize = 4;

impl ValkeyBackend {
    pub(crate) async fn page(&self, args: ListArgs) -> Answer<Page> {
        args.check()?;
        let Newest { rows: mut newest, reached } = self.newest(&args).await?;
        let more = newest.len() > args.limit;
        newest.truncate(args.limit);
        let next = if more { newest.last().copied() } else { reached };
        let read = newest.into_iter().map(|row| async move {
            match self.kept(&row.execution_id, Beside::default()).await {
                Ok(kept) => Ok(Some(kept.execution.info())),
                // Gone since it was listed.
                Err(error) if error.code() == Code::ExecutionNotFound => Ok(None),
                Err(error) => Err(error),
            }
        });
        let rows: Vec<_> = stream::iter(read).buffered(AT_ONCE).try_collect().await?;
        Ok(Page { executions: rows.into_iter().flatten().collect(), next })
    }

    /// The partitions on which a namespace may have something.
    pub(crate) async fn partitions_of(&self, namespace: &Namespace) -> Answer<impl Iterator<Item = u16>> {
        let named = self.calls.directory.partitions(&self.calls, namespace).await?;
        let count = self.partitions.num_flow_partitions;
        Ok(named.into_iter().filter(move |partition| *partition < count))
    }

    /// The partitions that may have something a filter means.
    async fn partitions_for(&self, filter: &Filter) -> Answer<Vec<u16>> {
        let Some(label) = filter.tags.first_key_value() else {
            return Ok(self.partitions_of(&filter.namespace).await?.collect());
        };
        let mut named = self.calls.directory.labelled(&self.calls, &filter.namespace, label).await?;
        named.retain(|partition| *partition < self.partitions.num_flow_partitions);
        Ok(named)
    }

    /// The newest of all partitions together, one more than the page holds if there is one. Where what is asked for is rare,
    /// each partition looks at its share of what a page may look at.
    async fn newest(&self, args: &ListArgs) -> Answer<Newest<Cursor>> {
        let wanted = &Wanted::by(&args.filter);
        let partitions = self.partitions_for(&args.filter).await?;
        let share = (limits::SEARCH / partitions.len().max(1)).max(FEWEST);
        let begin = partitions.into_iter().map(|partition| (partition, before(partition, args)));
        newest(begin, args.limit, limits::SEARCH, |partition, before, few| async move {
            let listed = ff_list_executions(&*self.calls, partition, wanted, before, (few, share)).await?;
            let more = listed.more.map(Before::Execution);
            Ok(Part { found: listed.found, more, looked: listed.looked, reached: listed.more })
        })
        .await
    }
}

/// Where a page begins on one partition: within the time that is asked for, and after the last page.
fn before(partition: u16, args: &ListArgs) -> Before {
    match (args.after, args.filter.created_until) {
        (Some(after), Some(until)) if until <= after.created_at => Before::Moment(until),
        (Some(after), _) => after_row(partition, after),
        (None, Some(until)) => Before::Moment(until),
        (None, None) => Before::Anything,
    }
}

/// Where a page begins that follows one which ended at a row of perhaps another partition. Of one moment, later partitions
/// come first.
fn after_row(partition: u16, after: Cursor) -> Before {
    match partition.cmp(&after.execution_id.partition()) {
        Ordering::Less => Before::Moment(after.created_at + 1),
        Ordering::Equal => Before::Execution(after),
        Ordering::Greater => Before::Moment(after.created_at),
    }
}
