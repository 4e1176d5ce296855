//! One owner per file. SQLite itself allows several processes, but the writer, clock and hints of a store belong to one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::open_error::OpenError;

/// The application id that marks our files in the header of a SQLite database.
pub(crate) const APPLICATION_ID: i32 = i32::from_be_bytes(*b"FFab");

/// Exclusive ownership of a file, until it is dropped.
///
/// The lock is the operating system's, so it ends with the process in every case. It is on a separate file, because SQLite has
/// its own locks on the database, and closing any other handle on that file would release them.
pub(crate) struct Owner {
    /// The canonical path of the file.
    pub(crate) path: PathBuf,
    _lock: File,
}

impl Owner {
    /// Takes ownership of a store's file, or of a new one.
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        let path = resolve(path)?;
        check_header(&path)?;
        let mut beside = path.clone().into_os_string();
        beside.push("-lock");
        let failed = |source| OpenError::Io { path: path.clone(), source };
        let lock = private().create(true).truncate(false).write(true).open(beside).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { path }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        create_private(&path).map_err(failed)?;
        Ok(Self { path, _lock: lock })
    }
}

/// Creates a missing file that only its user can open: it will hold payloads, results and token secrets. SQLite's files beside it
/// have the same permissions.
fn create_private(path: &Path) -> io::Result<()> {
    match private().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Returns options that create a file only its user can open. Another user that could open the lock could take it, and keep the
/// store from starting.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns the canonical path of a file. Two names of it, through a link, would give two locks.
fn resolve(path: &Path) -> Result<PathBuf, OpenError> {
    let failed = |source| OpenError::Io { path: path.to_owned(), source };
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        resolved => return resolved.map_err(failed),
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name() else { return Err(failed(io::ErrorKind::InvalidFilename.into())) };
    match fs::canonicalize(directory) {
        Ok(directory) => Ok(directory.join(name)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(OpenError::NoDirectory { path: directory.to_owned() })
        }
        Err(error) => Err(failed(error)),
    }
}

/// Refuses a file that is not a store, before it is written. An empty file counts as a missing one.
fn check_header(path: &Path) -> Result<(), OpenError> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    const APPLICATION_ID_AT: usize = 68;
    let mut header = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(100).read_to_end(&mut header),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
    let other = |why: &str| Err(OpenError::NotAStore { path: path.to_owned(), why: why.into() });
    if header.is_empty() {
        return Ok(());
    }
    if !header.starts_with(MAGIC) {
        return other("it is not a SQLite database");
    }
    match header.get(APPLICATION_ID_AT..APPLICATION_ID_AT + 4) {
        Some(id) if id == APPLICATION_ID.to_be_bytes() => Ok(()),
        _ => other("it is a SQLite database of something else"),
    }
}
