//! A server's statistics of its calls: the slow calls, and the time of all calls together.

use std::collections::BTreeMap;

use redis::{AsyncConnectionConfig, Client, Value, cmd, from_redis_value};

use crate::PATIENCE;
use crate::support::{Flavour, Process};

/// Minimum duration of a recorded call. Shorter calls are never too long.
const REMEMBERED_US: u64 = 500;

/// The reference script: it takes about a millisecond where a function may take five, and mixes Lua with calls of the
/// server.
const REFERENCE: &str = "local text = {} for i = 1, 200 do redis.call('HSET', 'reference', i % 20, i) \
    for j = 1, 20 do text[j] = tostring(i * j) .. ':' end table.concat(text) end return 0";

/// Starts a server that records every slow call.
pub(crate) fn watched_server() -> Process {
    let remembered = REMEMBERED_US.to_string();
    let options = ["--appendonly", "no", "--slowlog-log-slower-than", &remembered, "--slowlog-max-len", "200000"];
    Process::start(Flavour::Valkey, &options)
}

/// Returns the microseconds that the reference takes on this server: the median of many runs.
pub(crate) fn reference_us(server: &Process) -> u64 {
    let mut took: Vec<_> = (0..101)
        .map(|_| {
            count_from_zero(server);
            server.ask(&["EVAL", REFERENCE, "1", "reference"]);
            command_stat(server, "eval", "usec=")
        })
        .collect();
    server.ask(&["DEL", "reference"]);
    took.sort_unstable();
    count_from_zero(server);
    took[50]
}

/// Returns the function calls that took longer than `longer_than_us`, by their arguments, with their durations.
pub(crate) async fn slow_calls(server: &Process, longer_than_us: u64) -> BTreeMap<String, u64> {
    let client = Client::open(format!("redis://127.0.0.1:{}", server.port)).unwrap();
    let patient = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
    let mut connection = client.get_multiplexed_async_connection_with_config(&patient).await.unwrap();
    let entries: Vec<Vec<Value>> = cmd("SLOWLOG").arg("GET").arg(-1).query_async(&mut connection).await.unwrap();
    let call = |entry: Vec<Value>| {
        let took: u64 = from_redis_value(entry[2].clone()).unwrap();
        let words: Vec<Vec<u8>> = from_redis_value(entry[3].clone()).unwrap();
        let words: Vec<_> = words.iter().map(|word| word.escape_ascii().to_string()).collect();
        (took > longer_than_us && words[0].eq_ignore_ascii_case("fcall")).then(|| (words[1..].join(" "), took))
    };
    entries.into_iter().filter_map(call).collect()
}

/// Returns the number of function calls since the last reset of the statistics.
pub(crate) fn calls_of_functions(server: &Process) -> usize {
    usize::try_from(command_stat(server, "fcall", "calls=")).unwrap()
}

/// Returns the microseconds that the server spent in functions since the last reset of the statistics.
pub(crate) fn time_in_functions(server: &Process) -> u64 {
    command_stat(server, "fcall", "usec=")
}

/// Returns the number of commands since the last reset of the statistics, including those within functions.
pub(crate) fn total_calls(server: &Process) -> u64 {
    let stats = server.ask(&["INFO", "commandstats"]);
    let calls = |line: &str| line.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok();
    stats.lines().filter_map(calls).sum()
}

fn command_stat(server: &Process, command: &str, field: &str) -> u64 {
    let stats = server.ask(&["INFO", "commandstats"]);
    let prefix = format!("cmdstat_{command}:");
    let of_command = stats.lines().find_map(|line| line.strip_prefix(&prefix)).expect("it was called");
    let value = of_command.split(',').find_map(|part| part.strip_prefix(field)).expect("it is counted");
    value.parse().unwrap()
}

/// Resets the statistics.
pub(crate) fn count_from_zero(server: &Process) {
    assert_eq!(server.ask(&["CONFIG", "RESETSTAT"]), "+OK");
}
