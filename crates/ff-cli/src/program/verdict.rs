//! The outcome of an attempt by the exit code of its program, the process group of the program, and the variables
//! withheld from it.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use ff_sdk::Fault;
use ff_sdk::store_url::holds_password;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// Exit code for an invalid payload, with which every attempt would fail: `EX_DATAERR` of `sysexits.h`.
const INPUT_IS_WRONG: i32 = 65;

/// Returns the failure of a program that did not succeed. The category contains the exit code, so that a retry policy
/// can tell codes apart.
pub(super) fn check_exit(status: ExitStatus, complaint: &str) -> Result<(), Fault> {
    let (category, how) = match (status.code(), status.signal()) {
        (Some(0), _) => return Ok(()),
        (Some(code), _) => (format!("exit_{code}"), format!("exit code {code}")),
        (None, Some(signal)) => (format!("signal_{signal}"), format!("killed by signal {signal}")),
        (None, None) => ("exit".to_owned(), status.to_string()),
    };
    let message = if complaint.is_empty() { how } else { format!("{how}: {complaint}") };
    let permanent = status.code() == Some(INPUT_IS_WRONG);
    Err(Fault { category, message, permanent })
}

/// The process group of a child. Dropping this value before the program has exited kills the group, so that no process
/// survives its handler.
pub(super) struct Group {
    leader: Option<Pid>,
}

impl Group {
    pub(super) fn led_by(child: &Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { leader }
    }

    /// Releases the group of a program that has exited by itself. Its background processes are not stopped: the number
    /// of the group may soon belong to another process.
    pub(super) fn release(mut self) {
        self.leader = None;
    }

    /// Sends SIGTERM to every process of the group.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends a signal to the remaining processes of the group, if any.
    fn signal(&self, signal: Signal) {
        let Some(leader) = self.leader else { return };
        match kill_process_group(leader, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => tracing::warn!(%error, "cannot stop the command"),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Variables that are always secret.
const SECRET: &[&str] = &["FF_API_KEY", "FF_TOKEN"];

/// Returns the names of the `FF_*` variables with a secret: keys, tokens, and addresses with a password. A value that
/// is not UTF-8 counts as a secret.
pub(super) fn withheld(variables: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = OsString> {
    variables.filter(|(name, value)| is_secret(name, value)).map(|(name, _)| name)
}

fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str().filter(|name| name.starts_with("FF_")) else { return false };
    SECRET.contains(&name) || value.to_str().is_none_or(holds_password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(wait_status: i32, complaint: &str) -> Fault {
        check_exit(ExitStatus::from_raw(wait_status), complaint).unwrap_err()
    }

    #[test]
    fn zero_is_success_and_anything_else_a_failure_of_its_own_category() {
        assert_eq!(check_exit(ExitStatus::from_raw(0), "only a warning"), Ok(()));
        assert_eq!(fault(1 << 8, "no such host"), Fault::retryable("exit_1", "exit code 1: no such host"));
        assert_eq!(fault(75 << 8, ""), Fault::retryable("exit_75", "exit code 75"));
        assert_eq!(fault(9, ""), Fault::retryable("signal_9", "killed by signal 9"));
    }

    #[test]
    fn wrong_input_is_wrong_for_good() {
        assert_eq!(fault(65 << 8, "not a picture"), Fault::permanent("exit_65", "exit code 65: not a picture"));
    }

    #[test]
    fn keys_tokens_and_passwords_are_withheld_and_nothing_else() {
        let variables = [
            ("FF_API_KEY", "ff_a_b"),
            ("FF_TOKEN", ""),
            ("FF_STORE", "postgres://me:secret@db/x"),
            ("FF_NAMESPACE", "acme"),
            ("FF_SERVER", "http://127.0.0.1:7070"),
            ("DATABASE_URL", "postgres://me:theirs@db/x"),
        ];
        let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let names: Vec<_> = withheld(variables.into_iter()).collect();
        assert_eq!(names, ["FF_API_KEY", "FF_TOKEN", "FF_STORE"]);
    }
}
