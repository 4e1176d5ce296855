//! A program and everything it started, stopped together.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The process group a child leads. It is killed when this is dropped before the program was over, so that no handler
/// leaves a program behind that nobody waits for.
pub(super) struct Group {
    leader: Option<Pid>,
}

impl Group {
    pub(super) fn led_by(child: &Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { leader }
    }

    /// The program ended by itself. What it left running in the background is its own affair, and the number of its group
    /// may soon be somebody else's.
    pub(super) fn disband(mut self) {
        self.leader = None;
    }

    /// Asks every member to stop.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends a signal to whoever is left of the group; that may be nobody.
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
