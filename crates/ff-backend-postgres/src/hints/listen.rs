//! Listens to the notes of other programs. Notes are lost while the connection is down; the listener then reports a miss.

use std::collections::{HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::Announcer;
use ff_core::backend::hint::Hint;
use ff_core::backend::outage::OutageLog;
use ff_core::engine_error::EngineError;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_postgres::{AsyncMessage, Client};

use super::presence::{ListenerPresence, register};
use super::{Announcements, channel, inbox_channel, note};
use crate::connect::connector::Connector;
use crate::connect::driver_error::DriverError;

/// Pause before listening again, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Interval between checks whether other programs still listen.
const LOOK: Duration = Duration::from_secs(10);

/// Maximum time for other listeners to answer a hello. A listener that does not answer may send no notes for a while; the sweep
/// makes up for them.
const WELCOME: Duration = Duration::from_secs(1);

/// The listener of this program.
pub(crate) struct Listener {
    pub(crate) connector: Arc<Connector>,
    /// First key of this store's advisory locks, which tells them apart from those of other stores.
    pub(crate) class: i32,
    /// Sender name of this program, by which it recognises its own notes.
    pub(crate) ourselves: String,
    pub(crate) presence: ListenerPresence,
    pub(crate) outages: Arc<OutageLog>,
}

/// Notifications that arrive while the connection is open: the text of a note, or `None` for new rows in the inbox.
pub(crate) struct Subscription {
    notes: mpsc::UnboundedReceiver<Notification>,
    /// Notifications that arrived before the hello was answered.
    early: VecDeque<Notification>,
    client: Client,
}

type Notification = Option<String>;

impl Subscription {
    /// Returns the next notification, `None` once the connection is lost.
    async fn next(&mut self) -> Option<Notification> {
        match self.early.pop_front() {
            Some(notification) => Some(notification),
            None => self.notes.recv().await,
        }
    }
}

impl Listener {
    /// Connects and begins to listen.
    pub(crate) async fn subscribe(&self) -> Result<Subscription, DriverError> {
        let (client, mut conversation) = self.connector.converse("listener").await?;
        let (hear, notes) = mpsc::unbounded_channel();
        let hints = channel(&self.connector.place);
        let ours = hints.clone();
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| conversation.poll_message(cx)).await {
                if let AsyncMessage::Notification(notification) = message
                    && hear.send((notification.channel() == ours).then(|| notification.payload().to_owned())).is_err()
                {
                    return;
                }
            }
        });
        let listen = format!("LISTEN {hints}; LISTEN {}", inbox_channel(&self.connector.place));
        client.batch_execute(&listen).await.map_err(|error| DriverError::of(&error))?;
        let mut subscription = Subscription { notes, early: VecDeque::new(), client };
        self.join(&mut subscription).await?;
        Ok(subscription)
    }

    /// Registers this program and makes sure that the other listeners send their notes from now on.
    async fn join(&self, subscription: &mut Subscription) -> Result<(), DriverError> {
        register(&subscription.client, self.class).await?;
        self.say(&subscription.client, &note::hello(&self.ourselves)).await?;
        let others = self.presence.look(&subscription.client, self.class).await?;
        let (notes, early) = (&mut subscription.notes, &mut subscription.early);
        let answered = async {
            let mut known = HashSet::new();
            while known.len() < others
                && let Some(notification) = notes.recv().await
            {
                let from = notification.as_deref().map(note::sender).filter(|sender| *sender != self.ourselves);
                known.extend(from.map(str::to_owned));
                early.push_back(notification);
            }
        };
        if tokio::time::timeout(WELCOME, answered).await.is_err() {
            tracing::debug!(others, "not all listeners have answered");
        }
        Ok(())
    }

    async fn say(&self, client: &Client, note: &str) -> Result<(), DriverError> {
        let sent = client.execute("SELECT pg_notify($1, $2)", &[&channel(&self.connector.place), &note]).await;
        sent.map(drop).map_err(|error| DriverError::of(&error))
    }

    /// Records that another program listens, and answers a hello.
    async fn hear(&self, client: &Client, text: &str) {
        if note::sender(text) == self.ourselves {
            return;
        }
        self.presence.may_be_there();
        if note::is_hello(text)
            && let Err(error) = self.say(client, &note::write(&self.ourselves, &[])).await
        {
            tracing::debug!(why = error.why(), "a program that connected was not answered");
        }
    }

    /// Sends hints of an engine to other programs, if any listen. An engine repeats its announcements, which makes up for a lost
    /// note.
    async fn announce(&self, client: &Client, hints: &[Hint]) {
        if !self.presence.is_absent()
            && let Err(error) = self.say(client, &note::write(&self.ourselves, hints)).await
        {
            tracing::debug!(why = error.why(), "other programs were not notified of this engine");
        }
    }

    async fn subscribe_again(&self) -> Subscription {
        let mut pause = PAUSE;
        loop {
            match self.subscribe().await {
                Ok(subscription) => return subscription,
                Err(error) => tracing::debug!(why = error.why(), "the connection for hints cannot be made yet"),
            }
            #[allow(clippy::disallowed_methods, reason = "nothing signals that a server is back")]
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Checks whether other programs still listen. If the connection fails here, its loss is about to be noticed.
    async fn look_around(&self, client: &Client) {
        if let (false, Err(error)) = (self.presence.is_absent(), self.presence.look(client, self.class).await) {
            tracing::debug!(why = error.why(), "other listeners could not be counted");
        }
    }
}

/// Announces the notes of other programs forever. When the connection breaks, listens again and reports a miss.
pub(crate) async fn pass_on(
    mut subscription: Subscription,
    listener: Listener,
    announcer: Announcer,
    mut announcements: Announcements,
    inbox: Arc<Notify>,
) {
    let mut look = interval_at(Instant::now() + LOOK, LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        loop {
            tokio::select! {
                notification = subscription.next() => match notification {
                    Some(Some(text)) => {
                        listener.hear(&subscription.client, &text).await;
                        announcer.announce(note::read(&listener.ourselves, &text));
                    }
                    Some(None) => inbox.notify_one(),
                    None => break,
                },
                Some(hints) = announcements.recv() => listener.announce(&subscription.client, &hints).await,
                _ = look.tick() => listener.look_around(&subscription.client).await,
            }
        }
        // A program that ends may close the connection before it cancels this task. The cancellation takes effect here.
        tokio::task::yield_now().await;
        let lost = EngineError::Unavailable("the connection over which hints come is lost".into());
        listener.outages.log_failure("hints", &lost);
        listener.presence.may_be_there();
        subscription = listener.subscribe_again().await;
        announcer.announce(vec![Hint::Missed]);
        inbox.notify_one();
    }
}
