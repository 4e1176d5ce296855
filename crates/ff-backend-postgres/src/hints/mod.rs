//! Hints between programs: each commit sends at most one note, and none while nobody else listens; every program passes on
//! what the others tell. A program tells itself without a detour.

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
    /// Where they are told; nowhere when they are put up to be looked for.
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

    /// What a transaction writes to tell others, where they look for it.
    pub(crate) fn to_put_up(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        self.channel.is_none().then(|| self.note(hints)).flatten()
    }

    /// What follows a commit to tell others, where any listen. It is no part of the transaction: of those that notify the
    /// server commits one at a time, and each until it is on disk.
    pub(crate) fn to_tell(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        (self.channel.is_some() && !self.presence.is_absent()).then(|| self.note(hints)).flatten()
    }

    /// Whether it is certain that no other program is there.
    pub(crate) fn are_for_nobody(&self) -> bool {
        self.presence.is_absent()
    }

    /// Nothing when there is nothing to tell.
    fn note(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        if hints.is_empty() {
            return None;
        }
        let note = note::write(&self.sender, hints);
        let channel = self.channel.as_deref().map(|channel| Parameter::one(channel.into()));
        Some((self.sql.clone(), channel.into_iter().chain([Parameter::one(Value::Text(note))]).collect()))
    }
}

/// Where programs are told that something was left in the inbox.
fn inbox_channel(place: &StoreLocation) -> String {
    format!("{}_inbox", place.schema)
}

/// Where the notes of a store are told. Stores in one database do not hear each other.
fn channel(place: &StoreLocation) -> String {
    format!("{}_hints", place.schema)
}
