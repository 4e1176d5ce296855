//! Hints from the server. Hints are lost while the connection is down; listeners are then told that they missed some.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::hint::{Hint, Hints};
use ff_core::backend::outage::OutageLog;
use ff_core::engine_error::EngineError;
use ff_core::keys::HINTS_CHANNEL;
use futures_util::{StreamExt, stream};
use redis::RedisResult;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::call::{Calls, message_of};
use crate::link::{CONNECT_TIMEOUT, Post};

/// Maximum number of hints that wait for the slowest listener: more than one bulk submission makes.
const KEPT: usize = 4_096;

/// Pause before the next attempt to listen, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Time after listening again during which a subscription is kept although its server is silent.
const KEPT_FOR: Duration = Duration::from_secs(2);

/// Passes hints on to every listener in this process.
#[derive(Clone)]
pub(crate) struct Announcer(broadcast::Sender<Hint>);

impl Announcer {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(KEPT))
    }

    /// Returns the hints from now on.
    pub(crate) fn listen(&self) -> Hints {
        Box::pin(stream::unfold(self.0.subscribe(), |mut receiver| async move {
            match receiver.recv().await {
                Ok(hint) => Some((hint, receiver)),
                Err(RecvError::Lagged(_)) => Some((Hint::Missed, receiver)),
                Err(RecvError::Closed) => None,
            }
        }))
    }

    fn announce(&self, hint: Hint) {
        // Fails when there is no listener.
        self.0.send(hint).ok();
    }
}

/// The hints that a server publishes.
pub(crate) struct Subscription {
    messages: redis::aio::PubSubStream,
    post: Post,
    /// Until this time the subscription is kept although its server is silent. A new subscription causes a sweep of
    /// everything, and a cluster that stalls again and again must be spared that.
    kept_until: Instant,
}

impl Subscription {
    /// Returns the next message. None when the connection broke, or when the server is silent while other servers of
    /// its cluster can be listened to.
    async fn next(&mut self) -> Option<redis::Msg> {
        let went_silent = async {
            sleep_until(self.kept_until).await;
            self.post.went_silent().await;
        };
        tokio::select! {
            message = self.messages.next() => message,
            () = went_silent => None,
        }
    }
}

/// Starts to listen at one of these servers.
pub(crate) async fn subscribe(posts: Vec<Post>) -> RedisResult<Subscription> {
    let mut failure = (redis::ErrorKind::Io, "there is no server to listen to").into();
    for mut post in posts {
        let client = post.client.clone();
        let listening = async {
            let mut pubsub = client.get_async_pubsub().await?;
            pubsub.subscribe(HINTS_CHANNEL).await?;
            Ok(pubsub.into_on_message())
        };
        let listening = timeout(CONNECT_TIMEOUT, listening);
        tokio::select! {
            listening = listening => match listening {
                Ok(Ok(messages)) => return Ok(Subscription { messages, post, kept_until: Instant::now() }),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = (redis::ErrorKind::Io, "the server did not answer in time").into(),
            },
            () = post.went_silent() => failure = (redis::ErrorKind::Io, "the server answers nothing").into(),
        }
    }
    Err(failure)
}

/// Passes on all hints, for ever. When the connection breaks, listens again and announces that hints were missed. It
/// also announces that when partitions came to another primary, which may know less.
pub(crate) async fn pass_on(
    mut subscription: Subscription,
    calls: Arc<Calls>,
    announcer: Announcer,
    outages: Arc<OutageLog>,
) {
    let mut changes = calls.link.changes();
    loop {
        tokio::select! {
            message = subscription.next() => match message {
                Some(message) => {
                    for hint in ff_script::hints(message.get_payload_bytes()) {
                        announcer.announce(hint);
                    }
                    continue;
                }
                None => {
                    // A program that ends may close the connection before this task. The task then stops here.
                    tokio::task::yield_now().await;
                    let lost = EngineError::Unavailable("the connection over which hints come is lost".into());
                    outages.log_failure("hints", &lost);
                    subscription = listen_again(&calls).await;
                    subscription.kept_until += KEPT_FOR;
                }
            },
            () = changed(&mut changes) => {}
        }
        // A server that was away may have lost data.
        calls.directory.doubt();
        announcer.announce(Hint::Missed);
    }
}

/// Returns when partitions came to another primary; never, if there is one server.
async fn changed(changes: &mut Option<watch::Receiver<u64>>) {
    let changed = match changes {
        Some(changes) => changes.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        pending().await
    }
}

async fn listen_again(calls: &Calls) -> Subscription {
    let mut pause = PAUSE;
    loop {
        match subscribe(calls.link.listening_posts().await).await {
            Ok(subscription) => return subscription,
            Err(error) => tracing::debug!(error = message_of(&error), "the connection for hints cannot be made yet"),
        }
        #[allow(clippy::disallowed_methods, reason = "nothing signals that a server is back")]
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
