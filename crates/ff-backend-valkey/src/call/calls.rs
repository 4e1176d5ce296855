//! Calling the library's functions: on the server that has their keys, with the right clock, as durably as configured,
//! and again after the server has lost them.

use std::collections::HashMap;
use std::slice;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ff_core::backend::clock::Clock;
use ff_core::engine_error::EngineError;
use ff_script::{Fcall, LibraryClock, LoadError, Server, Value, ensure_library, test_clock_key};
use redis::{Cmd, FromRedisValue, cmd};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::durability::FsyncGroup;
use super::error::lacks_the_library;
use crate::directory::{Directory, Entry};
use crate::link::{CallFailure, Link, call_failed, value};

/// Maximum number of times that one call loads lost functions again.
const LOADED_AGAIN: usize = 3;

/// The calls of a store.
pub(crate) struct Calls {
    pub(crate) link: Arc<Link>,
    /// The clock of tests.
    pub(crate) clock: Option<Arc<dyn Clock>>,
    /// None when the server's own durability is enough.
    pub(crate) fsync: Option<FsyncGroup>,
    pub(crate) loading: LibraryLoads,
    pub(crate) directory: Directory,
}

#[async_trait]
impl Server for Calls {
    async fn fcall(&self, call: Fcall) -> Result<Value, EngineError> {
        let writes = !call.signature.flags.contains(&"no-writes");
        self.ask(call, writes).await
    }
}

/// The same store, for callers that do not wait for its disk.
pub(crate) struct WithoutFsync<'c>(pub(crate) &'c Calls);

#[async_trait]
impl Server for WithoutFsync<'_> {
    async fn fcall(&self, call: Fcall) -> Result<Value, EngineError> {
        self.0.ask(call, false).await
    }
}

impl Calls {
    /// Calls a function. If the answer must be durable and the store waits for its disk, waits for it.
    async fn ask(&self, call: Fcall, durable: bool) -> Result<Value, EngineError> {
        let key = call.keys.first().cloned().unwrap_or_default();
        let commands = self.commands(&key, &call);
        let mut answer = self.send(&key, &commands, durable).await;
        for _ in 0..LOADED_AGAIN {
            if !matches!(&answer, Err(CallFailure::Sent(error)) if lacks_the_library(error)) {
                break;
            }
            tracing::warn!("the server had lost the functions; loading them again");
            self.load(&key).await?;
            answer = self.send(&key, &commands, durable).await;
        }
        answer.map(value).map_err(|failed| call_failed(&failed))
    }

    /// Sends one plain command about a key.
    pub(crate) async fn plain(&self, key: &str, command: &Cmd) -> Result<redis::Value, EngineError> {
        self.link.send(key, slice::from_ref(command)).await.map_err(|failed| call_failed(&failed))
    }

    /// Sends one plain command about a key, and reads its reply. `wrong` says what the key does if the reply is of
    /// another type, as in `is not a set`.
    pub(crate) async fn read<T: FromRedisValue>(
        &self,
        key: &str,
        command: &Cmd,
        wrong: &str,
    ) -> Result<T, EngineError> {
        let reply = self.plain(key, command).await?;
        T::from_redis_value(reply).map_err(|_| corrupt(key, wrong))
    }

    /// Returns the members of a set, in order. `wrong` is as for [`Self::read`].
    pub(crate) async fn members<T: FromStr + Ord>(&self, key: &str, wrong: &str) -> Result<Vec<T>, EngineError> {
        let names: Vec<String> = self.read(key, cmd("SMEMBERS").arg(key), wrong).await?;
        let members = names.iter().map(|name| name.parse().map_err(|_| corrupt(key, wrong)));
        let mut members: Vec<_> = members.collect::<Result<_, _>>()?;
        members.sort_unstable();
        Ok(members)
    }

    /// Returns the value of a key or of a field, which is JSON, if there is one. `wrong` is as for [`Self::read`].
    pub(crate) async fn read_json<T: DeserializeOwned>(
        &self,
        key: &str,
        command: &Cmd,
        wrong: &str,
    ) -> Result<Option<T>, EngineError> {
        let text: Option<String> = self.read(key, command, wrong).await?;
        text.map(|text| serde_json::from_str(&text).map_err(|_| corrupt(key, wrong))).transpose()
    }

    /// Makes sure that directories have some entries, before a write that they lead to.
    pub(crate) async fn note(&self, entries: &[Entry]) -> Result<(), EngineError> {
        self.directory.note(&self.link, entries).await
    }

    /// Makes sure that directories have the entries of a write that is done, because it may have found a server that
    /// had lost everything.
    pub(crate) async fn note_again(&self, entries: &[Entry]) -> Result<(), EngineError> {
        self.note(entries).await.map_err(|error| EngineError::Unknown(error.to_string()))
    }

    pub(crate) fn library_clock(&self) -> LibraryClock {
        if self.clock.is_some() { LibraryClock::Test } else { LibraryClock::Server }
    }

    async fn send(&self, key: &str, commands: &[Cmd], durable: bool) -> Result<redis::Value, CallFailure> {
        match &self.fsync {
            Some(group) if durable => group.send(commands).await,
            _ => self.link.send(key, commands).await,
        }
    }

    fn commands(&self, key: &str, call: &Fcall) -> Vec<Cmd> {
        let mut fcall = cmd("FCALL");
        fcall.arg(call.signature.name).arg(call.keys.len()).arg(&call.keys);
        for arg in &call.args {
            fcall.arg(&arg[..]);
        }
        match (&self.clock, tag(key)) {
            (Some(clock), Some(tag)) => {
                let mut set = cmd("SET");
                set.arg(test_clock_key(tag)).arg(clock.now().0);
                vec![set, fcall]
            }
            _ => vec![fcall],
        }
    }

    /// Loads the library into the primary that has the slot of a key. Concurrent callers that find it missing load it
    /// once.
    async fn load(&self, key: &str) -> Result<(), EngineError> {
        // A server that has lost its functions may have lost more.
        self.directory.doubt();
        let mut loaded = self.loading.join(&self.link, key, self.library_clock());
        let outcome = loaded.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        outcome.unwrap_or_else(|| Err(EngineError::Unavailable("the functions were not loaded".into())))
    }
}

/// The loads of the library that are under way, by primary. Each has its own task. Callers wait for its report and hold
/// no lock, so a caller that is not polled does not block others.
#[derive(Default)]
pub(crate) struct LibraryLoads(Mutex<HashMap<Option<(String, u16)>, LoadOutcome>>);

/// The state of a load: empty while it runs, then its outcome.
type LoadOutcome = watch::Receiver<Option<Result<(), EngineError>>>;

impl LibraryLoads {
    /// Returns the running load for the primary of a key, and starts one if there is none.
    fn join(&self, link: &Arc<Link>, key: &str, clock: LibraryClock) -> LoadOutcome {
        let mut loads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loads.retain(|_, loaded| loaded.has_changed().is_ok());
        let begin = || {
            let (report, loaded) = watch::channel(None);
            let (link, key) = (link.clone(), key.to_owned());
            tokio::spawn(async move {
                let outcome = load(&link, &key, clock).await;
                report.send(Some(outcome)).ok();
            });
            loaded
        };
        loads.entry(link.address_of(key)).or_insert_with(begin).clone()
    }
}

async fn load(link: &Link, key: &str, clock: LibraryClock) -> Result<(), EngineError> {
    let primary = link.primary_of(key).await.map_err(|failed| call_failed(&failed))?;
    ensure_library(&primary, clock).await.map_err(|error| match error {
        LoadError::Script(error) => error.into(),
        other => EngineError::Unavailable(other.to_string()),
    })
}

/// Returns the error for a key whose contents are of another type.
pub(crate) fn corrupt(key: &str, wrong: &str) -> EngineError {
    EngineError::Corrupt(format!("{key} {wrong}"))
}

/// Returns the tag of a key, with its braces.
fn tag(key: &str) -> Option<&str> {
    let open = key.find('{')?;
    let close = key[open..].find('}')? + open;
    Some(&key[open..=close])
}
