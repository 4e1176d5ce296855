//! What a server itself says about the calls it was made: which took long, and what all of them took together.

use std::collections::BTreeMap;

use redis::{AsyncConnectionConfig, Client, Value, cmd, from_redis_value};

use crate::PATIENCE;
use crate::support::{Flavour, Process};

/// What no function may take.
const TOO_LONG_US: u64 = 5_000;

/// A server that keeps every call that took too long.
pub(super) fn watched_server() -> Process {
    let too_long = TOO_LONG_US.to_string();
    Process::start(
        Flavour::Valkey,
        &["--appendonly", "no", "--slowlog-log-slower-than", &too_long, "--slowlog-max-len", "100000"],
    )
}

/// The calls of functions that took too long, by what was asked, with the microseconds each took.
pub(super) async fn slow_calls(server: &Process) -> BTreeMap<String, u64> {
    let client = Client::open(format!("redis://127.0.0.1:{}", server.port)).unwrap();
    let patient = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
    let mut connection = client.get_multiplexed_async_connection_with_config(&patient).await.unwrap();
    let entries: Vec<Vec<Value>> = cmd("SLOWLOG").arg("GET").arg(-1).query_async(&mut connection).await.unwrap();
    let call = |entry: Vec<Value>| {
        let took: u64 = from_redis_value(entry[2].clone()).unwrap();
        let words: Vec<Vec<u8>> = from_redis_value(entry[3].clone()).unwrap();
        let words: Vec<_> = words.iter().map(|word| word.escape_ascii().to_string()).collect();
        words[0].eq_ignore_ascii_case("fcall").then(|| (words[1..].join(" "), took))
    };
    entries.into_iter().filter_map(call).collect()
}

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
