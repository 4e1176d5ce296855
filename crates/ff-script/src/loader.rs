//! Loading the library into a server that has none or an older one.

use ff_core::engine_error::EngineError;

use crate::bundle::{LibraryClock, VERSION, Version, library};
use crate::server::Primary;
use crate::signature::Version as AskVersion;
use crate::{FcallResult, ScriptError};

/// The reason why a server cannot be used with this program's library.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// A newer program has loaded its library.
    #[error("the server has the functions of version {found}, and this program knows {VERSION}: use a newer program")]
    TooNew { found: Version },
    /// The server's functions use another clock than this program expects.
    #[error("the server has functions whose clock is the {found}'s, and this program works with the {expected}'s")]
    OtherClock { found: String, expected: LibraryClock },
    /// The server did not answer, or refused.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// The library that a server has.
struct LibraryInfo {
    version: Version,
    clock: String,
}

/// Loads this program's library, unless the server has the same or a newer one that this program understands. Never
/// replaces a newer one.
pub async fn ensure_library(primary: &dyn Primary, clock: LibraryClock) -> Result<(), LoadError> {
    match loaded(primary).await? {
        Some(found) if is_current(&found, clock)? => Ok(()),
        _ => primary.load(&library(clock)).await.map_err(|error| ScriptError::from(error).into()),
    }
}

/// Refuses a server whose library this program cannot work with. A server without a library is accepted.
pub async fn check_library(primary: &dyn Primary, clock: LibraryClock) -> Result<(), LoadError> {
    match loaded(primary).await? {
        Some(found) => is_current(&found, clock).map(drop),
        None => Ok(()),
    }
}

async fn loaded(primary: &dyn Primary) -> Result<Option<LibraryInfo>, ScriptError> {
    let call = AskVersion {}.call();
    let signature = call.signature;
    let answer = primary.fcall_if_there(call).await.map_err(|error: EngineError| ScriptError::from(error))?;
    let Some(reply) = answer else { return Ok(None) };
    let (mut fields, _) = FcallResult::parse(signature, reply)?.into_fields();
    Ok(Some(LibraryInfo { version: fields.read()?, clock: fields.text()? }))
}

/// Returns whether the library is as new as this program's. Refuses one that this program cannot work with.
fn is_current(found: &LibraryInfo, clock: LibraryClock) -> Result<bool, LoadError> {
    if found.clock != clock.to_string() {
        return Err(LoadError::OtherClock { found: found.clock.clone(), expected: clock });
    }
    if found.version.major > VERSION.major {
        return Err(LoadError::TooNew { found: found.version });
    }
    Ok(found.version >= VERSION)
}
