//! Calling the library's functions: where their keys are, by the right clock, as durably as asked, and again when the
//! server had lost them.

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::clock::Clock;
use ff_core::engine_error::EngineError;
use ff_script::{Fcall, LibraryClock, LoadError, Server, Value, ensure_library, test_clock_key};
use redis::{Cmd, cmd};
use tokio::sync::Mutex;

use crate::directory::Directory;
use crate::durability::FsyncGroup;
use crate::link::{Failed, Link, value};
use crate::trouble::{lacks_the_library, trouble, unreachable};

/// How often one call may find the functions lost: more than that is not bad luck.
const LOADED_AGAIN: usize = 3;

/// A store that can be asked.
pub(crate) struct Calls {
    pub(crate) link: Link,
    /// For tests.
    pub(crate) clock: Option<Arc<dyn Clock>>,
    /// Absent when the server's own durability is enough.
    pub(crate) fsync: Option<FsyncGroup>,
    pub(crate) loading: Mutex<()>,
    pub(crate) directory: Directory,
}

#[async_trait]
impl Server for Calls {
    async fn fcall(&self, call: Fcall) -> Result<Value, EngineError> {
        let key = call.keys.first().cloned().unwrap_or_default();
        let writes = !call.signature.flags.contains(&"no-writes");
        let commands = self.commands(&key, &call);
        let mut answer = self.send(&key, &commands, writes).await;
        for _ in 0..LOADED_AGAIN {
            if !matches!(&answer, Err(Failed::Sent(error)) if lacks_the_library(error)) {
                break;
            }
            tracing::warn!("the server had lost the functions; loading them again");
            self.load().await?;
            answer = self.send(&key, &commands, writes).await;
        }
        answer.map(value).map_err(|failed| told(&failed))
    }
}

impl Calls {
    /// One plain command about a key.
    pub(crate) async fn plain(&self, key: &str, command: Cmd) -> Result<redis::Value, EngineError> {
        self.link.send(key, &[command]).await.map_err(|failed| told(&failed))
    }

    pub(crate) fn library_clock(&self) -> LibraryClock {
        if self.clock.is_some() { LibraryClock::Test } else { LibraryClock::Server }
    }

    async fn send(&self, key: &str, commands: &[Cmd], writes: bool) -> Result<redis::Value, Failed> {
        match &self.fsync {
            Some(group) if writes => group.send(commands).await,
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

    /// Gives the library to every primary that lacks it. Callers that find it missing together load it once.
    async fn load(&self) -> Result<(), EngineError> {
        let _alone = self.loading.lock().await;
        // A server that lost its functions may have lost more.
        self.directory.doubt();
        for primary in self.link.primaries().await.map_err(|failed| told(&failed))? {
            ensure_library(&primary, self.library_clock()).await.map_err(|error| match error {
                LoadError::Script(error) => error.into(),
                other => EngineError::Unavailable(other.to_string()),
            })?;
        }
        Ok(())
    }
}

/// What a caller is told of a call that has no reply.
pub(crate) fn told(failed: &Failed) -> EngineError {
    match failed {
        Failed::Unsent(error) => unreachable(error),
        Failed::Sent(error) => trouble(error),
    }
}

/// The tag of a key, with its braces.
fn tag(key: &str) -> Option<&str> {
    let open = key.find('{')?;
    let close = key[open..].find('}')? + open;
    Some(&key[open..=close])
}
