//! Hints between programs. Each commit sends at most one note, and none while no other program listens. Every program announces
//! the notes of the others. Hints within the program do not pass through the server.

mod listen;
mod note;
mod poll;
mod presence;

use std::sync::Arc;

use ff_backend_sql::Value;
use ff_core::backend::hint::Hint;
use tokio::sync::mpsc;

use crate::connect::url::StoreLocation;
use crate::statement::value::Parameter;

pub(crate) use listen::{Listener, pass_on};
pub(crate) use poll::poll;
pub(crate) use presence::ListenerPresence;

/// Hints of engines that are still to be sent to other programs.
pub(crate) type Announcements = mpsc::Receiver<Vec<Hint>>;

/// Maximum number of announcements that wait for the connection.
pub(crate) const ANNOUNCEMENTS: usize = 64;

/// Builder of the statements that send the hints of commits to other programs.
#[derive(Clone)]
pub(crate) struct Notes {
    sql: Arc<str>,
    /// Sender name of this program, by which it recognises its own notes.
    sender: Arc<str>,
    /// The channel of notifications. `None` if notes are rows of a table that other programs poll.
    channel: Option<Arc<str>>,
    presence: ListenerPresence,
}

impl Notes {
    pub(crate) fn new(place: &StoreLocation, sender: &str, presence: ListenerPresence) -> Self {
        let (sql, channel) = match place.listen {
            true => ("SELECT pg_notify($1, $2)", Some(channel(place).into())),
            false => ("INSERT INTO notice (note) VALUES ($1)", None),
        };
        Self { sql: sql.into(), sender: sender.into(), channel, presence }
    }

    /// Returns the statement that writes the note within the transaction, if other programs poll for it.
    pub(crate) fn notice(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        self.channel.is_none().then(|| self.note(hints)).flatten()
    }

    /// Returns the statement that follows a commit and sends its note, if other programs listen. It is not part of the
    /// transaction, because the server commits notifying transactions one at a time, each until it is on disk.
    pub(crate) fn notification(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        (self.channel.is_some() && !self.presence.is_absent()).then(|| self.note(hints)).flatten()
    }

    /// Returns whether it is certain that no other program listens.
    pub(crate) fn have_no_listener(&self) -> bool {
        self.presence.is_absent()
    }

    /// Returns the statement that sends a note, `None` without hints.
    fn note(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        if hints.is_empty() {
            return None;
        }
        let note = note::write(&self.sender, hints);
        let channel = self.channel.as_deref().map(|channel| Parameter::one(channel.into()));
        Some((self.sql.clone(), channel.into_iter().chain([Parameter::one(Value::Text(note))]).collect()))
    }
}

/// Returns the channel that announces new rows in the inbox.
fn inbox_channel(place: &StoreLocation) -> String {
    format!("{}_inbox", place.schema)
}

/// Returns the channel of a store's notes. Stores in one database have different channels.
fn channel(place: &StoreLocation) -> String {
    format!("{}_hints", place.schema)
}
