//! Listing executions, newest first: the newest of all partitions are read.

use std::cmp::Ordering;

use ff_core::backend::Answer;
use ff_core::contracts::{Cursor, ListArgs, Page};
use ff_core::engine_error::Code;
use ff_core::types::Namespace;
use ff_script::execution::{Before, Beside, Wanted, ff_list_executions};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;
use crate::newest::{Part, newest};

/// Records read at the same time.
const AT_ONCE: usize = 64;

impl ValkeyBackend {
    pub(crate) async fn page(&self, args: ListArgs) -> Answer<Page> {
        args.check()?;
        let mut newest = self.newest(&args).await?;
        let more = newest.len() > args.limit;
        newest.truncate(args.limit);
        let next = newest.last().copied().filter(|_| more);
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

    /// The newest of all partitions together, one more than the page holds if there is one.
    async fn newest(&self, args: &ListArgs) -> Answer<Vec<Cursor>> {
        let wanted = Wanted { namespace: args.namespace.clone(), lane: args.lane.clone(), state: args.state };
        let wanted = &wanted;
        let partitions = self.partitions_of(&args.namespace).await?;
        let begin = partitions.map(|partition| (partition, before(partition, args.after)));
        newest(begin, args.limit, |partition, before, few| async move {
            let listed = ff_list_executions(&*self.calls, partition, wanted, before, few).await?;
            Ok(Part { found: listed.found, more: listed.more.map(Before::Execution) })
        })
        .await
    }
}

/// Where a page begins on one partition, when it ended at a row of perhaps another. Of one moment, later partitions come
/// first.
fn before(partition: u16, after: Option<Cursor>) -> Before {
    let Some(after) = after else { return Before::Anything };
    match partition.cmp(&after.execution_id.partition()) {
        Ordering::Less => Before::Moment(after.created_at + 1),
        Ordering::Equal => Before::Execution(after),
        Ordering::Greater => Before::Moment(after.created_at),
    }
}
