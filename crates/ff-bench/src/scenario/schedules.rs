//! Measures schedules whose ticks are spread over a span: how late each tick starts, compared with a timer of this program.

use std::time::Duration;

use anyhow::{Context, bail};
use ff_core::contracts::{Filter, ListArgs, SubmitArgs};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::schedule::{ScheduleDefinition, ScheduleTarget, Timing};
use ff_core::types::{Kind, Namespace, TagKey, TagValue, TimestampMs};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use tokio::time::{Instant, sleep_until};

use crate::latency::percentiles;
use crate::store::Subject;
use crate::{KIND, Report};

/// Maximum number of schedules created or deleted at once.
const AT_ONCE: usize = 64;
/// Minimum time from the end of the preparation to the first tick.
const LEAD: Duration = Duration::from_secs(2);
/// Maximum time after the last tick until all have started.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tag that holds the time of a tick.
const TAG: &str = "tick";

/// The settings of the measurement.
pub struct ScheduleLateness {
    pub store: String,
    pub count: usize,
    /// Time over which the ticks are spread.
    pub span: Duration,
}

impl ScheduleLateness {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let mut report = subject.report("schedules").await?;
        let run = uuid::Uuid::now_v7().simple().to_string();
        let engine_store = subject.flowfabric.engine_store().context("the store is elsewhere")?.clone();
        let bar = ProgressBar::new(2 * self.count as u64);
        // The first run only measures how far ahead the first tick must lie.
        let (began, now) = (Instant::now(), engine_store.now().await?);
        self.create(&subject, &run, now + millis(Duration::from_secs(24 * 60 * 60)), &bar).await?;
        let first = engine_store.now().await? + millis(LEAD + 2 * began.elapsed());
        self.create(&subject, &run, first, &bar).await?;
        let lead = first.since(engine_store.now().await?);
        if lead == 0 {
            bail!("the store takes schedules too slowly for {} of them", self.count);
        }
        bar.finish_and_clear();
        let begin = Instant::now() + Duration::from_millis(lead);
        let timer = self.timer(begin).await;
        let late = self.started(&subject, &run).await?;
        report.latency_ms.extend(percentiles(&late).map(|late| ("tick".to_owned(), late)));
        report.latency_ms.extend(percentiles(&timer).map(|late| ("timer".to_owned(), late)));
        report.throughput_per_s = Some(self.count as f64 / self.span.as_secs_f64());
        report.set([("count", self.count)]);
        report.set([("seconds", self.span.as_secs())]);
        self.delete(&subject, &run).await?;
        subject.close().await;
        Ok(report)
    }

    /// Returns the tick of schedule `nth`.
    fn tick(&self, first: TimestampMs, nth: usize) -> TimestampMs {
        first + millis(self.span) * nth as u64 / self.count as u64
    }

    /// Defines every schedule to tick once, from `first` on.
    async fn create(&self, subject: &Subject, run: &str, first: TimestampMs, bar: &ProgressBar) -> anyhow::Result<()> {
        let client = subject.flowfabric.client();
        let mut work = SubmitArgs::new(Kind::parse(KIND)?, Payload::default());
        work.tags.insert(TagKey::parse(TAG)?, TagValue::parse("{{tick}}")?);
        work.tags.insert(TagKey::parse("run")?, TagValue::parse(run)?);
        let put = |nth: usize| {
            let (client, work) = (client.clone(), work.clone());
            let timing = Timing::At(self.tick(first, nth));
            async move {
                let target = ScheduleTarget::Execution(Box::new(work));
                client.schedule(&format!("ff-bench-{run}-{nth}"))?.put(ScheduleDefinition::new(timing, target)).await?;
                bar.inc(1);
                Ok::<_, anyhow::Error>(())
            }
        };
        stream::iter(0..self.count).map(put).buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Returns how late a timer fires at the times of the ticks.
    async fn timer(&self, begin: Instant) -> Vec<Duration> {
        let mut late = Vec::with_capacity(self.count);
        for nth in 0..self.count {
            let at = begin + Duration::from_millis(millis(self.span) * nth as u64 / self.count as u64);
            sleep_until(at).await;
            late.push(at.elapsed());
        }
        late
    }

    /// Returns how late every tick started, once all have started.
    async fn started(&self, subject: &Subject, run: &str) -> anyhow::Result<Vec<Duration>> {
        let until = Instant::now() + PATIENCE;
        loop {
            let late = self.late(subject, run).await?;
            if late.len() == self.count {
                return Ok(late);
            }
            if Instant::now() > until || late.len() > self.count {
                bail!("{} ticks were to start, and {} did", self.count, late.len());
            }
        }
    }

    async fn late(&self, subject: &Subject, run: &str) -> anyhow::Result<Vec<Duration>> {
        let tag = TagKey::parse(TAG)?;
        let mut filter = Filter::everything(Namespace::default_name());
        filter.tags.insert(TagKey::parse("run")?, TagValue::parse(run)?);
        let (mut late, mut after) = (Vec::with_capacity(self.count), None);
        loop {
            let args = ListArgs { filter: filter.clone(), after, limit: limits::PAGE };
            let page = subject.flowfabric.backend().list(args).await?;
            for one in page.executions {
                let text = one.tags.get(&tag).context("an execution has no tick")?;
                let tick: jiff::Timestamp = text.as_str().parse()?;
                late.push(Duration::from_millis(one.created_at.since(TimestampMs(tick.as_millisecond()))));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(late),
            }
        }
    }

    async fn delete(&self, subject: &Subject, run: &str) -> anyhow::Result<()> {
        let client = subject.flowfabric.client();
        let delete = |nth: usize| {
            let client = client.clone();
            async move {
                client.schedule(&format!("ff-bench-{run}-{nth}"))?.delete().await?;
                Ok::<_, anyhow::Error>(())
            }
        };
        stream::iter(0..self.count).map(delete).buffer_unordered(AT_ONCE).try_collect().await
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
