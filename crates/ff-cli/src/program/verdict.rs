//! What an exit code means for the work.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use ff_sdk::Fault;

/// The code by which a program says that its input is wrong and will be every time: `EX_DATAERR` of `sysexits.h`.
const INPUT_IS_WRONG: i32 = 65;

/// Whether the program did its work. Its code is the category of the failure, so that a retry policy can tell codes apart.
pub(super) fn judge(status: ExitStatus, complaint: &str) -> Result<(), Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(wait_status: i32, complaint: &str) -> Fault {
        judge(ExitStatus::from_raw(wait_status), complaint).unwrap_err()
    }

    #[test]
    fn zero_is_success_and_anything_else_a_failure_of_its_own_category() {
        assert_eq!(judge(ExitStatus::from_raw(0), "only a warning"), Ok(()));
        assert_eq!(fault(1 << 8, "no such host"), Fault::retryable("exit_1", "exit code 1: no such host"));
        assert_eq!(fault(75 << 8, ""), Fault::retryable("exit_75", "exit code 75"));
        assert_eq!(fault(9, ""), Fault::retryable("signal_9", "killed by signal 9"));
    }

    #[test]
    fn wrong_input_is_wrong_for_good() {
        assert_eq!(fault(65 << 8, "not a picture"), Fault::permanent("exit_65", "exit code 65: not a picture"));
    }
}
