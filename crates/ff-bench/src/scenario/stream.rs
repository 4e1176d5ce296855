//! Measures streams: handlers write frames as fast as possible, then one at a time to a reader, then through a server to readers
//! that follow as browsers do.

mod server;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use ff_core::contracts::StreamItem;
use ff_core::types::ExecutionId;
use ff_sdk::{Context, Fault, Job, Reply, Worker};
use futures_util::future::try_join_all;
use server::{ServerProcess, SseReader};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::latency::Latencies;
use crate::store::Subject;
use crate::{KIND, Report};

/// Number of measured single frames.
const ALONE: usize = 500;
/// Number of frames sent one at a time before the measurement.
const WARM_UP: usize = 50;
/// Numbers of frames for many readers: sent one at a time, and then without waiting.
const ALONE_TO_MANY: usize = 100;
const AT_ONCE_TO_MANY: usize = 1_000;
/// Time without a frame after which a reader counts as starved.
const STARVED: Duration = Duration::from_secs(30);

/// The settings of the measurement.
pub struct StreamCost {
    pub store: String,
    /// Number of executions that write frames at once.
    pub workers: usize,
    /// Bytes of each frame.
    pub frame: usize,
    /// Frames of all executions together.
    pub count: usize,
    /// Number of readers of one stream of a server.
    pub readers: usize,
    /// Path of the program `ff`, which is started as a server.
    pub ff: PathBuf,
}

/// The work of a handler: frames on request, each with its time, then many at once.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Plan {
    alone: usize,
    at_once: usize,
    bytes: usize,
}

/// The channels to a handler: requests for frames, and the times at which it writes them.
struct Speaker {
    asks: mpsc::UnboundedSender<()>,
    says: mpsc::UnboundedReceiver<Instant>,
}

impl StreamCost {
    pub async fn measure(self) -> anyhow::Result<Report> {
        let mut subject = Subject::open(&self.store).await?;
        let (worker, mut speaker) = worker(&subject, self.workers);
        let working = subject.run(worker);
        let client = subject.flowfabric.client();
        let plan = Plan { alone: 0, at_once: self.count.div_ceil(self.workers), bytes: self.frame };
        let began = Instant::now();
        let jobs = (0..self.workers).map(|_| client.submit(Job::new(KIND, &plan)));
        let ids: Vec<_> = try_join_all(jobs).await?.into_iter().map(|job| job.execution_id).collect();
        try_join_all(ids.iter().map(|id| client.wait(id))).await?;
        let took = began.elapsed();

        let id = self.submit(&subject, WARM_UP + ALONE, 0).await?;
        follow(&subject, &id, &mut speaker).await?;
        let mut report = subject.report("stream").await?;
        report.throughput_per_s = Some((plan.at_once * self.workers) as f64 / took.as_secs_f64());
        report.latency_ms = subject.meter.latencies.percentiles();
        working.end().await?;
        subject.close().await;
        self.measure_served(&mut report).await?;
        report.set([("workers", self.workers), ("frame_bytes", self.frame), ("count", self.count)]);
        report.set([("alone", ALONE), ("readers", self.readers)]);
        Ok(report)
    }

    /// Measures the same store behind a server process, with one reader and then with many.
    async fn measure_served(&self, report: &mut Report) -> anyhow::Result<()> {
        let server = ServerProcess::start(&self.ff, &self.store).await?;
        let subject = Subject::reach(server.url()).await?;
        let (worker, mut speaker) = worker(&subject, 1);
        let working = subject.run(worker);
        let latencies = Latencies::default();

        let id = self.submit(&subject, WARM_UP + ALONE, 0).await?;
        let readers = Readers::open(&server, &id, 1).await?;
        let starved = readers.follow(&mut speaker, WARM_UP + ALONE, 0, |nth, took, _| {
            if nth >= WARM_UP {
                latencies.took("frame_to_sse", took);
            }
        });
        ensure!(starved.await? == 0, "a single reader was starved");

        if self.readers > 0 {
            report.figures.insert("server_mib_without_readers", server.mib("VmRSS")?);
            let id = self.submit(&subject, ALONE_TO_MANY, AT_ONCE_TO_MANY).await?;
            let readers = Readers::open(&server, &id, self.readers).await?;
            let starved = readers.follow(&mut speaker, ALONE_TO_MANY, AT_ONCE_TO_MANY, |_, took, is_last| {
                latencies.took("frame_to_sse_of_many", took);
                if is_last {
                    latencies.took("frame_to_last_of_many", took);
                }
            });
            report.figures.insert("starved_readers", starved.await? as f64);
            report.figures.insert("server_mib", server.mib("VmHWM")?);
        }
        report.latency_ms.extend(latencies.percentiles());
        working.end().await?;
        subject.close().await;
        server.stop().await
    }

    async fn submit(&self, subject: &Subject, alone: usize, at_once: usize) -> anyhow::Result<ExecutionId> {
        let plan = Plan { alone, at_once, bytes: self.frame };
        Ok(subject.flowfabric.client().submit(Job::new(KIND, &plan)).await?.execution_id)
    }
}

/// Follows one execution, and requests the next frame when one has arrived.
async fn follow(subject: &Subject, id: &ExecutionId, speaker: &mut Speaker) -> anyhow::Result<()> {
    let mut reader = subject.flowfabric.client().output(id, None);
    speaker.asks.send(())?;
    let mut frames = 0;
    while let Some(item) = reader.next().await? {
        let StreamItem::Frame { .. } = item else { continue };
        let came = Instant::now();
        let sent_at = speaker.says.recv().await.unwrap_or(came);
        frames += 1;
        if frames == WARM_UP {
            subject.meter.latencies.forget();
        } else if frames > WARM_UP {
            subject.meter.latencies.took("frame_to_reader", came.saturating_duration_since(sent_at));
        }
        if frames < WARM_UP + ALONE {
            speaker.asks.send(())?;
        }
    }
    Ok(())
}

/// Readers of one stream, each in a separate task.
struct Readers {
    tasks: JoinSet<anyhow::Result<u64>>,
    /// The number of each frame that a reader got, and its arrival.
    frames: mpsc::UnboundedReceiver<(u64, Instant)>,
}

impl Readers {
    /// Opens `count` readers. Returns when the server has answered all of them.
    async fn open(server: &ServerProcess, id: &ExecutionId, count: usize) -> anyhow::Result<Self> {
        let (sender, frames) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            tasks.spawn(read(SseReader::open(server.url(), id).await?, sender.clone()));
        }
        Ok(Self { tasks, frames })
    }

    /// Makes a handler write frames one at a time, each after all readers have got the one before, and then `at_once` frames.
    /// Returns the number of readers that did not get every frame.
    async fn follow(
        mut self,
        speaker: &mut Speaker,
        alone: usize,
        at_once: usize,
        took: impl Fn(usize, Duration, bool),
    ) -> anyhow::Result<usize> {
        let count = self.tasks.len();
        for nth in 0..alone {
            speaker.asks.send(())?;
            let sent_at = speaker.says.recv().await.context("the handler has ended")?;
            for reader in 1..=count {
                let Ok(frame) = tokio::time::timeout(STARVED, self.frames.recv()).await else {
                    return Ok(count + 1 - reader);
                };
                let (_, came) = frame.context("a reader was cut off")?;
                took(nth, came.saturating_duration_since(sent_at), reader == count);
            }
        }
        let mut satisfied = 0;
        while let Ok(Some(read)) = tokio::time::timeout(STARVED, self.tasks.join_next()).await {
            satisfied += usize::from(read?? == (alone + at_once) as u64);
        }
        Ok(count - satisfied)
    }
}

/// Reads to the end, and reports every frame. Returns their number; fails if one is out of order.
async fn read(mut reader: SseReader, sender: mpsc::UnboundedSender<(u64, Instant)>) -> anyhow::Result<u64> {
    let mut next = 0;
    while let Some(seq) = reader.next().await? {
        ensure!(seq == next, "frame {seq} came in place of frame {next}");
        next += 1;
        // Fails when the measurement has ended.
        sender.send((seq, Instant::now())).ok();
    }
    Ok(next)
}

/// Returns a worker whose handlers write frames on request, and the channels to request them.
fn worker(subject: &Subject, at_once: usize) -> (Worker, Speaker) {
    let (asks, requests) = mpsc::unbounded_channel();
    let (sender, says) = mpsc::unbounded_channel();
    let requests = Arc::new(Mutex::new(requests));
    let worker = subject.flowfabric.worker("bench").concurrency(at_once).lease_ttl(Duration::from_secs(60));
    let worker = worker.on(KIND, move |context: Context, plan: Plan| {
        let (requests, sender) = (requests.clone(), sender.clone());
        async move {
            let (out, text) = (context.stream("out"), "x".repeat(plan.bytes));
            for _ in 0..plan.alone {
                requests.lock().await.recv().await;
                // Fails when the receiver is gone.
                sender.send(Instant::now()).ok();
                out.text(text.as_str()).await?;
            }
            for _ in 0..plan.at_once {
                out.text(text.as_str()).await?;
            }
            out.flush().await?;
            Ok::<_, Fault>(Reply::done())
        }
    });
    (worker, Speaker { asks, says })
}
