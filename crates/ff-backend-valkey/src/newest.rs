//! The newest rows of all partitions, merged from the newest rows of each.
//!
//! A partition is first asked for few rows, and for more when all of those were among the newest. So the cost of a page
//! depends on its size, and little on the number of partitions.

use std::cmp::Ordering;
use std::collections::VecDeque;

use ff_core::backend::Answer;
use ff_core::contracts::{Cursor, Filter, ListArgs, Page};
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_core::types::Namespace;
use ff_script::execution::{ExtraReads, ListStart, ff_list_executions};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::ValkeyBackend;

/// Maximum number of partitions asked, or records read, at the same time.
const AT_ONCE: usize = 64;

/// Minimum number of rows that a partition is asked for.
const FEW: usize = 4;

/// Some rows of one partition, newest first.
pub(crate) struct Part<Row, From> {
    pub(crate) rows: Vec<Row>,
    /// The place to continue from, when there may be more.
    pub(crate) more: Option<From>,
    /// Number of entries that were looked at.
    pub(crate) looked: usize,
    /// The last entry that was looked at, when there may be more.
    pub(crate) reached: Option<Row>,
}

/// The newest rows of several partitions.
pub(crate) struct NewestRows<Row> {
    pub(crate) rows: Vec<Row>,
    /// The place to continue from, when the search stopped early and there are no more rows than asked for.
    pub(crate) reached: Option<Row>,
}

/// Returns the newest rows of several partitions, each read from its own start. Returns one row more than `limit`, if
/// there is one. Stops early once `most` entries were looked at. Then the rows are complete from the newest one down to
/// the place that every partition has reached.
pub(crate) async fn newest<Row, From, Fut>(
    partitions: impl IntoIterator<Item = (u16, From)>,
    limit: usize,
    most: usize,
    ask: impl Fn(u16, From, usize) -> Fut,
) -> Answer<NewestRows<Row>>
where
    Row: Copy + Ord,
    From: Copy,
    Fut: Future<Output = Answer<Part<Row, From>>>,
{
    let mut sources: Vec<_> = partitions.into_iter().map(|(partition, from)| Source::new(partition, from)).collect();
    let (mut newest, mut looked) = (Vec::new(), 0);
    let mut few = (limit / sources.len().max(1) + 1).max(FEW).min(limit + 1);
    while newest.len() <= limit {
        looked += refill(&mut sources, few, &ask).await?;
        few = (few * 2).min(limit + 1);
        let before = newest.len();
        while newest.len() <= limit && !sources.iter().any(Source::must_read_more) {
            let best = sources.iter_mut().max_by_key(|source| source.rows.front().copied());
            let Some(row) = best.and_then(|source| source.rows.pop_front()) else { break };
            newest.push(row);
        }
        let asks_on = sources.iter().any(Source::must_read_more);
        if looked >= most && asks_on && newest.len() <= limit {
            let reached = take_down_to_where_all_came(&mut sources, &mut newest, limit);
            return Ok(NewestRows { rows: newest, reached });
        }
        if newest.len() == before && !asks_on {
            break;
        }
    }
    Ok(NewestRows { rows: newest, reached: None })
}

/// Takes the rows down to the newest place at which some partition stopped looking, and returns that place.
fn take_down_to_where_all_came<Row: Copy + Ord, From>(
    sources: &mut [Source<Row, From>],
    newest: &mut Vec<Row>,
    limit: usize,
) -> Option<Row> {
    let reached = sources.iter().filter(|source| !source.exhausted).filter_map(|source| source.reached).max();
    while newest.len() <= limit {
        let best = sources.iter_mut().max_by_key(|source| source.rows.front().copied());
        let within = |row: &Row| reached.is_none_or(|reached| *row >= reached);
        let Some(source) = best.filter(|source| source.rows.front().is_some_and(within)) else { break };
        newest.extend(source.rows.pop_front());
    }
    reached
}

/// Asks the partitions that have no known row left and may have more. Returns how many entries they looked at.
async fn refill<Row, From, Fut>(
    sources: &mut [Source<Row, From>],
    few: usize,
    ask: &impl Fn(u16, From, usize) -> Fut,
) -> Answer<usize>
where
    From: Copy,
    Fut: Future<Output = Answer<Part<Row, From>>>,
{
    let calls = sources.iter().enumerate().filter(|(_, source)| source.must_read_more()).map(|(at, source)| {
        let answer = ask(source.partition, source.from, few);
        async move { Answer::Ok((at, answer.await?)) }
    });
    let calls: Vec<_> = calls.collect();
    let answers: Vec<_> = stream::iter(calls).buffer_unordered(AT_ONCE).try_collect().await?;
    let mut looked = 0;
    for (at, part) in answers {
        looked += part.looked;
        sources[at].learn(part);
    }
    Ok(looked)
}

/// The reading state of one partition.
struct Source<Row, From> {
    partition: u16,
    from: From,
    rows: VecDeque<Row>,
    /// The last entry that was looked at.
    reached: Option<Row>,
    exhausted: bool,
}

impl<Row, From: Copy> Source<Row, From> {
    fn new(partition: u16, from: From) -> Self {
        Self { partition, from, rows: VecDeque::new(), reached: None, exhausted: false }
    }

    fn learn(&mut self, part: Part<Row, From>) {
        self.rows.extend(part.rows);
        self.exhausted = part.more.is_none();
        self.reached = part.reached;
        self.from = part.more.unwrap_or(self.from);
    }

    /// Returns whether the partition may have more rows and none of them is known.
    fn must_read_more(&self) -> bool {
        self.rows.is_empty() && !self.exhausted
    }
}

/// Minimum number of entries that a partition looks at in one call.
const FEWEST: usize = 4;

impl ValkeyBackend {
    pub(crate) async fn page(&self, args: ListArgs) -> Answer<Page> {
        args.check()?;
        let NewestRows { rows: mut newest, reached } = self.newest(&args).await?;
        let more = newest.len() > args.limit;
        newest.truncate(args.limit);
        let next = if more { newest.last().copied() } else { reached };
        let read = newest.into_iter().map(|row| async move {
            match self.stored_execution(&row.execution_id, ExtraReads::default()).await {
                Ok(record) => Ok(Some(record.execution.info())),
                // The execution is gone since it was listed.
                Err(error) if error.code() == Code::ExecutionNotFound => Ok(None),
                Err(error) => Err(error),
            }
        });
        let rows: Vec<_> = stream::iter(read).buffered(AT_ONCE).try_collect().await?;
        Ok(Page { executions: rows.into_iter().flatten().collect(), next })
    }

    /// Returns the partitions on which a namespace may have executions or flows.
    pub(crate) async fn partitions_of(&self, namespace: &Namespace) -> Answer<impl Iterator<Item = u16>> {
        let named = self.calls.directory.partitions(&self.calls.link, namespace).await?;
        let count = self.partitions.num_flow_partitions;
        Ok(named.into_iter().filter(move |partition| *partition < count))
    }

    /// Returns the partitions that may have executions that match a filter.
    async fn partitions_for(&self, filter: &Filter) -> Answer<Vec<u16>> {
        let Some(label) = filter.tags.first_key_value() else {
            return Ok(self.partitions_of(&filter.namespace).await?.collect());
        };
        let mut named = self.calls.directory.labelled(&self.calls.link, &filter.namespace, label).await?;
        named.retain(|partition| *partition < self.partitions.num_flow_partitions);
        Ok(named)
    }

    /// Returns the newest rows of all partitions, one more than the page holds if there is one. When matches are rare,
    /// each partition looks at its share of the entries that a page may look at.
    async fn newest(&self, args: &ListArgs) -> Answer<NewestRows<Cursor>> {
        let partitions = self.partitions_for(&args.filter).await?;
        let share = (limits::SEARCH / partitions.len().max(1)).max(FEWEST);
        let begin = partitions.into_iter().map(|partition| (partition, before(partition, args)));
        newest(begin, args.limit, limits::SEARCH, |partition, before, few| async move {
            let listed = ff_list_executions(&*self.calls, partition, &args.filter, before, (few, share)).await?;
            let more = listed.more.map(ListStart::Execution);
            Ok(Part { rows: listed.rows, more, looked: listed.looked, reached: listed.more })
        })
        .await
    }
}

/// Returns the start of a page on one partition: within the requested time, and after the previous page.
fn before(partition: u16, args: &ListArgs) -> ListStart {
    match (args.after, args.filter.created_until) {
        (Some(after), Some(until)) if until <= after.created_at => ListStart::Moment(until),
        (Some(after), _) => after_row(partition, after),
        (None, Some(until)) => ListStart::Moment(until),
        (None, None) => ListStart::Anything,
    }
}

/// Returns the start of a page on one partition after a row, possibly of another partition. Among rows of the same
/// time, later partitions come first.
fn after_row(partition: u16, after: Cursor) -> ListStart {
    match partition.cmp(&after.execution_id.partition()) {
        Ordering::Less => ListStart::Moment(after.created_at + 1),
        Ordering::Equal => ListStart::Execution(after),
        Ordering::Greater => ListStart::Moment(after.created_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A partition whose rows are spread over many pages is asked many times. The number of rows asked for, which
    /// doubles, must not overflow.
    #[tokio::test]
    async fn a_partition_may_be_read_any_number_of_times() {
        let one_row = |_, from: i64, _| async move {
            Ok(Part { rows: vec![from], more: (from > 0).then(|| from - 1), looked: 1, reached: Some(from) })
        };
        let found = newest([(0, 299)], 300, usize::MAX, one_row).await.unwrap();
        assert_eq!(found.rows, (0..300).rev().collect::<Vec<i64>>());
    }
}
