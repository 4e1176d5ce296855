//! Listening to the notes of other programs. They may be lost while nobody listens; whoever listens is told then that it
//! missed some.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::Announcer;
use ff_core::hint::Hint;
use tokio::sync::{Notify, mpsc};
use tokio_postgres::{AsyncMessage, Client};

use super::{channel, inbox_channel, note};
use crate::connector::Connector;
use crate::trouble::Trouble;

/// How long to wait before listening again, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Notes as they come, for as long as the connection lives; nothing instead of one when there is something in the inbox.
pub(crate) struct Subscription {
    notes: mpsc::UnboundedReceiver<Option<String>>,
    _client: Client,
}

/// Begins to listen.
pub(crate) async fn subscribe(connector: &Connector) -> Result<Subscription, Trouble> {
    let (client, mut conversation) = connector.converse("listener").await?;
    let (hear, notes) = mpsc::unbounded_channel();
    let hints = channel(&connector.place);
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| conversation.poll_message(cx)).await {
            if let AsyncMessage::Notification(notification) = message
                && hear.send((notification.channel() == hints).then(|| notification.payload().to_owned())).is_err()
            {
                return;
            }
        }
    });
    let listen = format!("LISTEN {}; LISTEN {}", channel(&connector.place), inbox_channel(&connector.place));
    client.batch_execute(&listen).await.map_err(|error| Trouble::of(&error))?;
    Ok(Subscription { notes, _client: client })
}

/// Passes on what others tell for ever. When the connection breaks, listens again and says that something was missed.
pub(crate) async fn pass_on(
    mut subscription: Subscription,
    connector: Arc<Connector>,
    announcer: Announcer,
    ourselves: String,
    inbox: Arc<Notify>,
) {
    loop {
        while let Some(told) = subscription.notes.recv().await {
            match told {
                Some(text) => announcer.announce(note::read(&ourselves, &text)),
                None => inbox.notify_one(),
            }
        }
        tracing::warn!("hints are not heard any more; listening again");
        subscription = listen_again(&connector).await;
        announcer.announce(vec![Hint::Missed]);
        inbox.notify_one();
    }
}

async fn listen_again(connector: &Connector) -> Subscription {
    let mut pause = PAUSE;
    loop {
        match subscribe(connector).await {
            Ok(subscription) => return subscription,
            Err(trouble) => tracing::debug!(why = trouble.why(), "still nobody to listen to"),
        }
        #[allow(clippy::disallowed_methods, reason = "nothing signals that a server is back")]
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
