//! The newest of all partitions together: each partition gives its newest, and the newest of all are taken.
//!
//! A partition is asked for few at first and for more when those few were all among the newest, so that a page costs about
//! as much as it holds, however many partitions there are.

use std::collections::VecDeque;

use ff_core::backend::Answer;
use futures_util::{StreamExt, TryStreamExt, stream};

/// Partitions asked at the same time.
const AT_ONCE: usize = 64;

/// The fewest a partition is asked for.
const FEW: usize = 4;

/// What one partition has, newest first.
pub(crate) struct Part<Row, From> {
    pub(crate) found: Vec<Row>,
    /// Where to go on, when there may be more.
    pub(crate) more: Option<From>,
}

/// The newest rows of several partitions, each of which is asked from where it is to begin; one more than the limit, if
/// there is one.
pub(crate) async fn newest<Row, From, Asked>(
    partitions: impl IntoIterator<Item = (u16, From)>,
    limit: usize,
    ask: impl Fn(u16, From, usize) -> Asked,
) -> Answer<Vec<Row>>
where
    Row: Copy + Ord,
    From: Copy,
    Asked: Future<Output = Answer<Part<Row, From>>>,
{
    let mut sources: Vec<_> = partitions.into_iter().map(|(partition, from)| Source::new(partition, from)).collect();
    let mut newest = Vec::new();
    let mut few = (limit / sources.len().max(1) + 1).max(FEW);
    while newest.len() <= limit {
        refill(&mut sources, few.min(limit + 1), &ask).await?;
        few *= 2;
        let before = newest.len();
        while newest.len() <= limit && !sources.iter().any(Source::must_be_asked) {
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
async fn refill<Row, From, Asked>(
    sources: &mut [Source<Row, From>],
    few: usize,
    ask: &impl Fn(u16, From, usize) -> Asked,
) -> Answer<()>
where
    From: Copy,
    Asked: Future<Output = Answer<Part<Row, From>>>,
{
    let asked = sources.iter().enumerate().filter(|(_, source)| source.must_be_asked()).map(|(at, source)| {
        let answer = ask(source.partition, source.from, few);
        async move { Answer::Ok((at, answer.await?)) }
    });
    let asked: Vec<_> = asked.collect();
    let answers: Vec<_> = stream::iter(asked).buffer_unordered(AT_ONCE).try_collect().await?;
    for (at, part) in answers {
        sources[at].learn(part);
    }
    Ok(())
}

/// What is known of one partition's part of the list.
struct Source<Row, From> {
    partition: u16,
    from: From,
    found: VecDeque<Row>,
    exhausted: bool,
}

impl<Row, From: Copy> Source<Row, From> {
    fn new(partition: u16, from: From) -> Self {
        Self { partition, from, found: VecDeque::new(), exhausted: false }
    }

    fn learn(&mut self, part: Part<Row, From>) {
        self.found.extend(part.found);
        self.exhausted = part.more.is_none();
        self.from = part.more.unwrap_or(self.from);
    }

    /// Whether it may have more and nothing of it is known.
    fn must_be_asked(&self) -> bool {
        self.found.is_empty() && !self.exhausted
    }
}
