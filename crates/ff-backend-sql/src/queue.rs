//! The queues between callers and writers. They are bounded: when a queue is full, its callers wait.

use std::future::pending;

use ff_core::backend::{Answer, BoxedAnswer};
use ff_core::contracts::NodeSpec;
use ff_core::engine_error::EngineError;
use ff_core::operation::{Ask, Operation, Reply};
use ff_core::partition::PartitionConfig;
use ff_core::step::StepOutcome;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

/// Maximum number of operations in a queue. Further callers wait.
const CAPACITY: usize = 1_024;
/// Number of operations after which a batch takes no more. An operation that adds many executions counts as many.
const BATCH: usize = 256;
/// Number of payload bytes after which a batch takes no more operations.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Creates a queue: the handle of its callers and the end of its writer.
pub fn queue() -> (WriterHandle, Queue) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    (WriterHandle { queues: vec![sender], partitions: PartitionConfig::default() }, Queue::of(receiver))
}

/// Creates a queue for each writer. All operations of a partition go to the same queue.
pub fn queues(writers: usize, partitions: PartitionConfig) -> (WriterHandle, Vec<Queue>) {
    let (queues, writers) = (0..writers.max(1)).map(|_| mpsc::channel(CAPACITY)).unzip::<_, _, Vec<_>, Vec<_>>();
    (WriterHandle { queues, partitions }, writers.into_iter().map(Queue::of).collect())
}

/// Returns the partitions of each writer: those whose remainder is the writer's number.
pub fn shares(writers: usize, partitions: &PartitionConfig) -> Vec<Vec<u16>> {
    let share =
        |nth| (0..partitions.num_flow_partitions).filter(move |partition| usize::from(*partition) % writers == nth);
    (0..writers).map(|nth| share(nth).collect()).collect()
}

/// The callers' end of the queues.
#[derive(Clone)]
pub struct WriterHandle {
    /// The queue of each writer. A partition belongs to the writer whose number is its remainder, as in [`shares`].
    queues: Vec<mpsc::Sender<Entry>>,
    partitions: PartitionConfig,
}

/// The writer's end of a queue.
pub struct Queue {
    receiver: mpsc::Receiver<Entry>,
    /// Operations that `take` is about to return, and the count and bytes of the batch so far.
    next: Vec<OperationRequest>,
    count: usize,
    bytes: usize,
}

/// An operation, or none to close the queue.
type Entry = Option<OperationRequest>;

/// A queued operation with the channel of its caller.
pub(crate) struct OperationRequest {
    pub(crate) operation: Operation,
    pub(crate) caller: Caller,
}

/// The channel for the answer to a caller.
pub(crate) type Caller = oneshot::Sender<Answer<Reply>>;

impl WriterHandle {
    /// Performs an operation and returns its answer.
    pub async fn ask<A: Ask>(&self, args: A) -> Answer<A::Answer> {
        answer::<A>(self.perform(args.into_operation()).await?)
    }

    /// Returns the partitions of the store.
    pub fn partitions(&self) -> &PartitionConfig {
        &self.partitions
    }

    /// Accepts no more operations. Those in the queues are still performed.
    pub async fn close(&self) {
        for queue in &self.queues {
            // Fails when the writer is gone; the queue is closed then.
            queue.send(None).await.ok();
        }
    }

    /// Queues many operations before it waits for any of them, so that they share batches. Each has its own outcome.
    pub async fn ask_each<A: Ask>(&self, args: Vec<A>) -> Vec<Answer<A::Answer>> {
        let mut waiting = Vec::with_capacity(args.len());
        for one in args {
            waiting.push(self.enqueue(one.into_operation()).await);
        }
        let mut answers = Vec::with_capacity(waiting.len());
        for one in waiting {
            answers.push(match one {
                Ok(receiver) => wait(receiver).await.and_then(answer::<A>),
                Err(error) => Err(error),
            });
        }
        answers
    }

    /// Performs an operation. The future is boxed, so that it is compiled once and not for every kind of operation.
    pub(crate) fn perform(&self, operation: Operation) -> BoxedAnswer<'_, Reply> {
        Box::pin(async move { wait(self.enqueue(operation).await?).await })
    }

    async fn enqueue(&self, operation: Operation) -> Answer<oneshot::Receiver<Answer<Reply>>> {
        let (caller, receiver) = oneshot::channel();
        let closed = |_| EngineError::Unavailable("the store is closed".into());
        self.queue_of(&operation).send(Some(OperationRequest { operation, caller })).await.map_err(closed)?;
        Ok(receiver)
    }

    fn queue_of(&self, operation: &Operation) -> &mpsc::Sender<Entry> {
        match &self.queues[..] {
            [only] => only,
            several => &several[usize::from(operation.partition(&self.partitions)) % several.len()],
        }
    }
}

async fn wait(receiver: oneshot::Receiver<Answer<Reply>>) -> Answer<Reply> {
    receiver.await.map_err(|_| EngineError::Unknown("the writer stopped before it answered".into()))?
}

fn answer<A: Ask>(reply: Reply) -> Answer<A::Answer> {
    let mixed_up = || EngineError::Corrupt("an operation was given the answer to another".into());
    A::answer(reply).ok_or_else(mixed_up)
}

impl Queue {
    fn of(receiver: mpsc::Receiver<Entry>) -> Self {
        Self { receiver, next: Vec::new(), count: 0, bytes: 0 }
    }

    /// Begins a new, empty batch.
    pub(crate) fn begin_batch(&mut self) {
        (self.count, self.bytes) = (0, 0);
    }

    /// Takes all queued operations, up to the limits of the batch. Waits while the queue is empty or the batch is full. Returns
    /// none once the queue is closed and empty. Safe to cancel.
    pub(crate) async fn take(&mut self) -> Option<Vec<OperationRequest>> {
        if self.is_full() {
            pending::<()>().await;
        }
        while !self.is_full() {
            let queued = self.receiver.try_recv();
            let entry = match queued {
                Ok(entry) => entry,
                Err(TryRecvError::Empty) if !self.next.is_empty() => break,
                Err(_) => match self.receiver.recv().await {
                    Some(entry) => entry,
                    None => break,
                },
            };
            match entry {
                Some(request) => self.add(request),
                None => self.receiver.close(),
            }
        }
        Some(std::mem::take(&mut self.next)).filter(|batch| !batch.is_empty())
    }

    fn is_full(&self) -> bool {
        self.count >= BATCH || self.bytes >= BATCH_BYTES
    }

    fn add(&mut self, request: OperationRequest) {
        self.count += size(&request.operation);
        self.bytes += weight(&request.operation);
        self.next.push(request);
    }
}

/// Returns how many operations an operation counts as.
fn size(operation: &Operation) -> usize {
    match operation {
        Operation::StageFlow(args) => args.nodes.len().max(1),
        Operation::GrowFlow(args) => args.nodes.len().max(1),
        _ => 1,
    }
}

/// Returns the number of payload bytes of an operation.
fn weight(operation: &Operation) -> usize {
    match operation {
        Operation::Submit(args) => args.payload.bytes.len(),
        Operation::Complete(args) => args.result.as_ref().map_or(0, |result| result.bytes.len()),
        Operation::Deliver(args) => args.payload.as_ref().map_or(0, |payload| payload.bytes.len()),
        Operation::AppendFrames(args) => args.bytes(),
        Operation::RecordStep(args) => match &args.outcome {
            StepOutcome::Succeeded { result } => result.bytes.len(),
            StepOutcome::Failed { .. } => 0,
        },
        Operation::StageFlow(args) => payloads(&args.nodes),
        Operation::GrowFlow(args) => payloads(&args.nodes),
        _ => 0,
    }
}

fn payloads(nodes: &[NodeSpec]) -> usize {
    nodes.iter().map(|node| node.payload.bytes.len()).sum()
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::{PumpArgs, SubmitArgs};
    use ff_core::engine_error::Code;
    use ff_core::limits;
    use ff_core::payload::Payload;
    use ff_core::rule::due::{ExpiryCounts, PumpedPartition};
    use ff_core::types::Kind;
    use futures_util::FutureExt;

    use super::*;

    fn pumped(partition: u16) -> Answer<Reply> {
        let reply = Reply::Pumped(PumpedPartition {
            fired: usize::from(partition),
            lapsed: ExpiryCounts::default(),
            next_due: None,
        });
        Ok(reply)
    }

    #[tokio::test]
    async fn queued_operations_form_a_batch_and_each_gets_its_own_answer() {
        let (writer, mut queue) = queue();
        let asks = futures_util::future::join_all((0..9).map(|partition| writer.ask(PumpArgs { partition })));
        let writer = async {
            let batch = queue.take().await.unwrap();
            assert_eq!(batch.len(), 9);
            for request in batch {
                let Operation::Pump(args) = &request.operation else { panic!("{:?}", request.operation) };
                request.caller.send(pumped(args.partition)).unwrap();
            }
        };
        let (answers, ()) = tokio::join!(asks, writer);
        assert_eq!(answers.into_iter().map(|answer| answer.unwrap().fired).collect::<Vec<_>>(), Vec::from_iter(0..9));
    }

    #[tokio::test]
    async fn everything_of_a_partition_goes_to_one_writer() {
        let (writer, mut queues) = queues(3, PartitionConfig::default());
        for partition in [0, 1, 3, 4, 6, 2] {
            drop(writer.enqueue(PumpArgs { partition }.into_operation()).await.unwrap());
        }
        for (queue, expected) in queues.iter_mut().zip([vec![0, 3, 6], vec![1, 4], vec![2]]) {
            let batch = queue.take().await.unwrap();
            let partition = |request: &OperationRequest| request.operation.partition(&PartitionConfig::default());
            assert_eq!(batch.iter().map(partition).collect::<Vec<_>>(), expected);
        }
    }

    #[tokio::test]
    async fn a_batch_is_bounded_by_number_and_by_bytes() {
        let (writer, mut queue) = queue();
        let mut waiting = Vec::new();
        for _ in 0..=BATCH {
            waiting.push(writer.enqueue(PumpArgs { partition: 0 }.into_operation()).await.unwrap());
        }
        assert_eq!(queue.take().await.unwrap().len(), BATCH);
        assert!(queue.take().now_or_never().is_none(), "there is no room");
        queue.begin_batch();
        assert_eq!(queue.take().await.unwrap().len(), 1);
        for _ in 0..9 {
            let large = Payload::bytes(vec![0; limits::PAYLOAD_BYTES]);
            let work = SubmitArgs::new(Kind::parse("k").unwrap(), large);
            waiting.push(writer.enqueue(work.into_operation()).await.unwrap());
        }
        queue.begin_batch();
        assert_eq!(queue.take().await.unwrap().len(), 8);
    }

    #[tokio::test]
    async fn a_closed_queue_drains_and_refuses_new_operations() {
        let (writer, mut queue) = queue();
        let waiting = writer.enqueue(PumpArgs { partition: 0 }.into_operation()).await.unwrap();
        writer.close().await;
        let batch = queue.take().await.unwrap();
        assert!(queue.take().await.is_none());
        let late = writer.ask(PumpArgs { partition: 0 }).await.unwrap_err();
        assert_eq!(late.code(), Code::StoreUnavailable);
        drop(batch);
        let unanswered = wait(waiting).await.unwrap_err();
        assert_eq!(unanswered.code(), Code::OutcomeUnknown, "it may have been done");
    }
}
