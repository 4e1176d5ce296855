//! What a server itself says all calls it was made took together.

use crate::support::Process;

/// The microseconds a server spent in functions since it was last asked to count from zero.
pub(super) fn time_in_functions(server: &Process) -> u64 {
    let stats = server.ask(&["INFO", "commandstats"]);
    let of_functions =
        stats.lines().find_map(|line| line.strip_prefix("cmdstat_fcall:")).expect("functions were called");
    let spent = of_functions.split(',').find_map(|field| field.strip_prefix("usec=")).expect("time is counted");
    spent.parse().unwrap()
}

/// Counts time from zero.
pub(super) fn count_from_zero(server: &Process) {
    assert_eq!(server.ask(&["CONFIG", "RESETSTAT"]), "+OK");
}
