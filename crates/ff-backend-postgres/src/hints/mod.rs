//! Hints between programs: each commit sends at most one note, and none while no other program listens; every program
//! passes on the notes of the others. Hints within the program do not take this way.

mod listen;
mod note;
mod poll;
mod presence;

use std::sync::Arc;

use ff_backend_sql::Value;
use ff_core::hint::Hint;
use tokio::sync::mpsc;

use crate::url::StoreLocation;
use crate::value::Parameter;

pub(crate) use listen::{Listener, pass_on};
pub(crate) use poll::poll;
pub(crate) use presence::ListenerPresence;

/// Hints of engines, on their way to other programs.
pub(crate) type Announcements = mpsc::Receiver<Vec<Hint>>;

/// How many of them wait for the connection.
pub(crate) const ANNOUNCEMENTS: usize = 64;

/// Sends the hints of commits to other programs.
#[derive(Clone)]
pub(crate) struct Notes {
    sql: Arc<str>,
    /// By which a program knows its own notes.
    sender: Arc<str>,
    /// The channel of notifications; none when notes are rows of a table that others poll.
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

    /// The statement by which a transaction writes its note, where others poll for it.
    pub(crate) fn notice(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        self.channel.is_none().then(|| self.note(hints)).flatten()
    }

    /// The statement that follows a commit and sends its note, where others listen. It is no part of the transaction:
    /// the server commits transactions that notify one at a time, each until it is on disk.
    pub(crate) fn notification(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        (self.channel.is_some() && !self.presence.is_absent()).then(|| self.note(hints)).flatten()
    }

    /// Whether it is certain that no other program listens.
    pub(crate) fn have_no_listener(&self) -> bool {
        self.presence.is_absent()
    }

    /// None when there are no hints.
    fn note(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        if hints.is_empty() {
            return None;
        }
        let note = note::write(&self.sender, hints);
        let channel = self.channel.as_deref().map(|channel| Parameter::one(channel.into()));
        Some((self.sql.clone(), channel.into_iter().chain([Parameter::one(Value::Text(note))]).collect()))
    }
}

/// The channel that says that there are new rows in the inbox.
fn inbox_channel(place: &StoreLocation) -> String {
    format!("{}_inbox", place.schema)
}

/// The channel of a store's notes. Stores in one database do not hear each other.
fn channel(place: &StoreLocation) -> String {
    format!("{}_hints", place.schema)
}
