//! Answers that wait until the server has the write on its disk.
//!
//! Waiting for the disk blocks a connection, so these calls have their own connections. Calls that wait at the same
//! time wait together: a free connection takes everything that is queued.

use std::sync::Arc;

use redis::{Cmd, ConnectionInfo, RedisError, RedisResult, Value, cmd};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::error::message_of;
use crate::ConnectError;
use crate::link::{CallFailure, Plain, RESPONSE_TIMEOUT, SingleLink};

/// Number of connections. While one waits for the disk, the next serves further calls.
const CONNECTIONS: usize = 4;

/// Maximum number of calls that wait for the disk together.
const GROUP: usize = 256;

pub(crate) struct FsyncGroup {
    /// Unbounded: each caller waits only for its own answer, and holds no place in the queue while it is not polled.
    jobs: mpsc::UnboundedSender<Job>,
}

struct Job {
    commands: Vec<Cmd>,
    answer: oneshot::Sender<Result<Value, CallFailure>>,
}

impl FsyncGroup {
    /// Starts the connections. Refuses a server that cannot confirm what is on its disk.
    pub(crate) async fn start(info: &ConnectionInfo, server: &Plain) -> Result<Self, ConnectError> {
        let probe = server.ask::<Value>(&wait_aof()).await;
        probe.map_err(|error| ConnectError::NoFsync { why: message_of(&error) })?;
        if leaves_it_to_the_system(server).await {
            let why = "with appendfsync no a wait never ends; set it to everysec or always";
            return Err(ConnectError::NoFsync { why: why.into() });
        }
        let (jobs, queue) = mpsc::unbounded_channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..CONNECTIONS {
            let link = SingleLink::to(info.clone());
            let link = link.map_err(|error| ConnectError::NoFsync { why: message_of(&error) })?;
            tokio::spawn(work(link, queue.clone()));
        }
        Ok(Self { jobs })
    }

    /// Sends commands together, and returns the last reply once all of them are on disk.
    pub(crate) async fn send(&self, commands: &[Cmd]) -> Result<Value, CallFailure> {
        let (answer, answered) = oneshot::channel();
        let job = Job { commands: commands.to_vec(), answer };
        if self.jobs.send(job).is_err() {
            return Err(CallFailure::Unsent(stopped()));
        }
        answered.await.unwrap_or_else(|_| Err(CallFailure::Sent(stopped())))
    }
}

/// Returns whether the server leaves syncing to the operating system. A server that does not allow the question is
/// assumed not to.
async fn leaves_it_to_the_system(server: &Plain) -> bool {
    let answer = server.ask::<Vec<String>>(cmd("CONFIG").arg("GET").arg("appendfsync")).await;
    answer.is_ok_and(|setting| setting.last().is_some_and(|policy| policy == "no"))
}

fn stopped() -> RedisError {
    (redis::ErrorKind::Io, "the connection that waits for the disk is gone").into()
}

/// Returns the command that waits for the server's own disk, for half of the time that an answer may take.
fn wait_aof() -> Cmd {
    let timeout = RESPONSE_TIMEOUT.as_millis() / 2;
    cmd("WAITAOF").arg(1).arg(0).arg(u64::try_from(timeout).unwrap_or_default()).clone()
}

/// Serves the queue until all its senders are gone.
async fn work(link: SingleLink, queue: Arc<Mutex<mpsc::UnboundedReceiver<Job>>>) {
    loop {
        let mut jobs = Vec::with_capacity(GROUP);
        if queue.lock().await.recv_many(&mut jobs, GROUP).await == 0 {
            return;
        }
        let mut commands: Vec<_> = jobs.iter().flat_map(|job| job.commands.iter().cloned()).collect();
        commands.push(wait_aof());
        match link.send_all(&commands).await {
            Ok(replies) => answer(jobs, replies),
            Err(failed) => jobs.into_iter().for_each(|job| {
                // Fails when the caller has gone.
                job.answer.send(Err(failed.clone())).ok();
            }),
        }
    }
}

fn answer(jobs: Vec<Job>, replies: Vec<Value>) {
    let durable = replies.last().is_some_and(is_on_disk);
    let mut replies = replies.into_iter();
    for job in jobs {
        let own: Vec<_> = replies.by_ref().take(job.commands.len()).collect();
        let reply = own.into_iter().map(Value::extract_error).last().unwrap_or(Ok(Value::Nil));
        job.answer.send(require_durable(reply, durable)).ok();
    }
}

/// Returns an error as it is, because it is valid without the disk. Fails a reply that may not be on disk.
fn require_durable(reply: RedisResult<Value>, durable: bool) -> Result<Value, CallFailure> {
    match reply {
        Ok(reply) if durable => Ok(reply),
        Ok(_) => Err(CallFailure::Sent((redis::ErrorKind::Io, "it was not on disk in time").into())),
        Err(error) => Err(CallFailure::Sent(error)),
    }
}

/// Returns whether the server confirms that its own disk has everything.
fn is_on_disk(reply: &Value) -> bool {
    matches!(reply, Value::Array(counts) if matches!(counts.first(), Some(Value::Int(1..))))
}
