//! Giving a server the library, unless it has one as new.

use ff_core::engine_error::EngineError;

use crate::bundle::{LibraryClock, VERSION, Version, library};
use crate::server::Primary;
use crate::signature::Version as AskVersion;
use crate::{FcallResult, FromFcallResult, ScriptError};

/// Why a server cannot be used with this program's library.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// A newer program has loaded its own.
    #[error("the server has the functions of version {found}, and this program knows {VERSION}: use a newer program")]
    TooNew { found: Version },
    /// The server's functions take time from elsewhere than this program expects.
    #[error("the server has functions whose clock is the {found}'s, and this program works with the {expected}'s")]
    OtherClock { found: String, expected: LibraryClock },
    /// The server did not say, or refused.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// The library that a server has.
struct LibraryInfo {
    version: Version,
    clock: String,
}

/// Makes sure that a server has this program's library or a newer one it understands. Never replaces a newer one.
pub async fn ensure_library(primary: &dyn Primary, clock: LibraryClock) -> Result<(), LoadError> {
    match loaded(primary).await? {
        Some(found) if is_current(&found, clock)? => Ok(()),
        _ => primary.load(&library(clock)).await.map_err(|error| ScriptError::from(error).into()),
    }
}

/// The library a server has, if it has any. Refuses one this program cannot work with.
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
    answer.map(|reply| LibraryInfo::from_fcall_result(FcallResult::parse(signature, reply)?)).transpose()
}

/// Whether a library need not be replaced.
fn is_current(found: &LibraryInfo, clock: LibraryClock) -> Result<bool, LoadError> {
    if found.clock != clock.to_string() {
        return Err(LoadError::OtherClock { found: found.clock.clone(), expected: clock });
    }
    if found.version.major > VERSION.major {
        return Err(LoadError::TooNew { found: found.version });
    }
    Ok(found.version >= VERSION)
}

impl FromFcallResult for LibraryInfo {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError> {
        let (mut fields, _) = result.into_fields();
        Ok(Self { version: fields.read()?, clock: fields.text()? })
    }
}
