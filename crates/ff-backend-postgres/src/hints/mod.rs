//! Hints between programs: each commit sends at most one note, and every program passes on what the others tell. A program
//! tells itself without a detour.

mod listen;
mod note;

use std::sync::Arc;

use ff_backend_sql::Value;
use ff_core::hint::Hint;

use crate::url::Place;
use crate::value::Parameter;

pub(crate) use listen::{pass_on, subscribe};

/// Sends the hints of commits to other programs.
#[derive(Clone)]
pub(crate) struct Notes {
    sql: Arc<str>,
    /// By which a program knows its own notes.
    sender: Arc<str>,
    channel: Arc<str>,
}

impl Notes {
    pub(crate) fn new(place: &Place, sender: &str) -> Self {
        Self { sql: "SELECT pg_notify($1, $2)".into(), sender: sender.into(), channel: channel(place).into() }
    }

    /// What a commit sends to tell others; nothing when there is nothing to tell.
    pub(crate) fn to_send(&self, hints: &[Hint]) -> Option<(Arc<str>, Vec<Parameter>)> {
        if hints.is_empty() {
            return None;
        }
        let note = note::write(&self.sender, hints);
        let parameters = vec![Parameter::one((&*self.channel).into()), Parameter::one(Value::Text(note))];
        Some((self.sql.clone(), parameters))
    }
}

/// Where the notes of a store are told. Stores in one database do not hear each other.
fn channel(place: &Place) -> String {
    format!("{}_hints", place.schema)
}
