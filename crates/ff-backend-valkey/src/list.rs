//! Listing, newest first: each partition gives its newest, and the newest of all are read.
//!
//! A partition is asked for few at first and for more when those few were all among the newest, so that a page costs about
//! as much as it holds, however many partitions there are.

use std::collections::VecDeque;

use ff_core::backend::Answer;
use ff_core::contracts::{Cursor, ListArgs, Page};
use ff_core::engine_error::Code;
use ff_script::execution::{Before, Beside, Listed, Wanted, ff_list_executions};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;

/// Partitions asked, and records read, at the same time.
const AT_ONCE: usize = 64;

/// The fewest a partition is asked for.
const FEW: usize = 4;

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

    /// The newest of all partitions together, one more than the page holds if there is one.
    async fn newest(&self, args: &ListArgs) -> Answer<Vec<Cursor>> {
        let wanted = Wanted { namespace: args.namespace.clone(), lane: args.lane.clone(), state: args.state };
        let named = self.calls.directory.partitions(&self.calls, &args.namespace).await?;
        let known = named.into_iter().filter(|partition| *partition < self.partitions.num_flow_partitions);
        let mut sources: Vec<_> = known.map(|partition| Source::new(partition, args.after)).collect();
        let mut newest = Vec::new();
        let mut few = (args.limit / sources.len().max(1) + 1).max(FEW);
        while newest.len() <= args.limit {
            self.refill(&mut sources, &wanted, few.min(args.limit + 1)).await?;
            few *= 2;
            let before = newest.len();
            while newest.len() <= args.limit && !sources.iter().any(Source::must_be_asked) {
                let best = sources.iter_mut().max_by_key(|source| source.found.front().copied());
                let Some(row) = best.and_then(|source| source.found.pop_front()) else { break };
                newest.push(row);
            }
            if newest.len() == before && !sources.iter().any(Source::must_be_asked) {
                break;
            }
        }
        Ok(newest)
    }

    /// Asks the partitions that may have newer ones than are known of them.
    async fn refill(&self, sources: &mut [Source], wanted: &Wanted, few: usize) -> Answer<()> {
        let mut asked = Vec::new();
        for (at, source) in sources.iter().enumerate().filter(|(_, source)| source.must_be_asked()) {
            asked.push(self.ask(at, source.partition, source.before, wanted, few));
        }
        let answers: Vec<_> = stream::iter(asked).buffer_unordered(AT_ONCE).try_collect().await?;
        for (at, listed) in answers {
            sources[at].learn(listed);
        }
        Ok(())
    }

    async fn ask(
        &self,
        at: usize,
        partition: u16,
        before: Before,
        wanted: &Wanted,
        few: usize,
    ) -> Answer<(usize, Listed)> {
        Ok((at, ff_list_executions(&*self.calls, partition, wanted, before, few).await?))
    }
}

/// What is known of one partition's part of the list.
struct Source {
    partition: u16,
    before: Before,
    found: VecDeque<Cursor>,
    exhausted: bool,
}

impl Source {
    fn new(partition: u16, after: Option<Cursor>) -> Self {
        Self { partition, before: before(partition, after), found: VecDeque::new(), exhausted: false }
    }

    fn learn(&mut self, listed: Listed) {
        self.found.extend(listed.found);
        self.exhausted = listed.more.is_none();
        if let Some(last) = listed.more {
            self.before = Before::Execution(last);
        }
    }

    /// Whether it may have more and nothing of it is known.
    fn must_be_asked(&self) -> bool {
        self.found.is_empty() && !self.exhausted
    }
}

/// Where a page begins on one partition, when it ended at a row of perhaps another. Of one moment, later partitions come
/// first.
fn before(partition: u16, after: Option<Cursor>) -> Before {
    let Some(after) = after else { return Before::Anything };
    match partition.cmp(&after.execution_id.partition()) {
        std::cmp::Ordering::Less => Before::Moment(after.created_at + 1),
        std::cmp::Ordering::Equal => Before::Execution(after),
        std::cmp::Ordering::Greater => Before::Moment(after.created_at),
    }
}
