//! Tables of ticks around daylight saving changes.

use jiff::Timestamp;

use super::{Ticks, Timing, Zone};
use crate::types::TimestampMs;

fn at(text: &str) -> TimestampMs {
    TimestampMs(text.parse::<Timestamp>().unwrap().as_millisecond())
}

/// Returns the ticks from one time to another, in UTC, without the seconds.
fn ticks_of(timing: &Timing, zone: &str, from: &str, to: &str) -> Vec<String> {
    let zone: Zone = zone.parse().unwrap();
    let ticks = Ticks { timing, zone: &zone, anchor: at(from), starts_at: None, ends_at: Some(at(to)) };
    let all = ticks.following(at(from) - 1, 1_000);
    all.iter().map(|tick| Timestamp::from_millisecond(tick.0).unwrap().strftime("%d %H:%M").to_string()).collect()
}

fn cron(text: &str) -> Timing {
    Timing::Cron(text.parse().unwrap())
}

fn hourly(from: u32, to: u32, day: &str) -> Vec<String> {
    (from..=to).map(|hour| format!("{day} {hour:02}:00")).collect()
}

/// Clocks go from 02:00 to 03:00 at 01:00 UTC.
#[test]
fn berlin_in_spring() {
    let zone = "Europe/Berlin";
    let around = ("2026-03-28T20:00:00Z", "2026-03-30T06:00:00Z");
    let ticks = |timing: &str| ticks_of(&cron(timing), zone, around.0, around.1);
    for (hour, days) in [
        (0, ["28 23:00", "29 22:00"]),
        (1, ["29 00:00", "29 23:00"]),
        (2, ["29 01:00", "30 00:00"]),
        (3, ["29 01:00", "30 01:00"]),
        (4, ["29 02:00", "30 02:00"]),
        (5, ["29 03:00", "30 03:00"]),
    ] {
        assert_eq!(ticks(&format!("0 {hour} * * *")), days, "daily at {hour}");
    }
    assert_eq!(ticks("30 2 * * *"), ["29 01:00", "30 00:30"], "a skipped time comes when the clocks have changed");
    let around = ("2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z");
    let hours = ticks_of(&cron("0 * * * *"), zone, around.0, around.1);
    assert_eq!(hours, [hourly(22, 23, "28"), hourly(0, 5, "29")].concat(), "02:00 and 03:00 are one moment");
    let interval = ticks_of(&Timing::EveryMs(3_600_000), zone, around.0, around.1);
    assert_eq!(interval, [hourly(22, 23, "28"), hourly(0, 5, "29")].concat());
}

/// Clocks go from 03:00 back to 02:00 at 01:00 UTC.
#[test]
fn berlin_in_autumn() {
    let zone = "Europe/Berlin";
    let around = ("2026-10-24T20:00:00Z", "2026-10-26T05:00:00Z");
    let ticks = |timing: &str| ticks_of(&cron(timing), zone, around.0, around.1);
    for (hour, days) in [
        (0, ["24 22:00", "25 23:00"]),
        (1, ["24 23:00", "26 00:00"]),
        (2, ["25 00:00", "26 01:00"]),
        (3, ["25 02:00", "26 02:00"]),
        (4, ["25 03:00", "26 03:00"]),
        (5, ["25 04:00", "26 04:00"]),
    ] {
        assert_eq!(ticks(&format!("0 {hour} * * *")), days, "daily at {hour}");
    }
    assert_eq!(ticks("30 2 * * *"), ["25 00:30", "26 01:30"], "a repeated time comes once");
    let around = ("2026-10-24T22:00:00Z", "2026-10-25T05:00:00Z");
    let hours = ticks_of(&cron("0 * * * *"), zone, around.0, around.1);
    let expected = ["24 22:00", "24 23:00", "25 00:00", "25 02:00", "25 03:00", "25 04:00", "25 05:00"];
    assert_eq!(hours, expected, "each local hour comes once");
    let interval = ticks_of(&Timing::EveryMs(3_600_000), zone, around.0, around.1);
    assert_eq!(interval, [hourly(22, 23, "24"), hourly(0, 5, "25")].concat(), "an interval does not care");
}

/// Clocks go from 02:00 to 03:00 at 07:00 UTC.
#[test]
fn new_york_in_spring() {
    let zone = "America/New_York";
    let around = ("2026-03-08T03:00:00Z", "2026-03-09T12:00:00Z");
    let ticks = |timing: &str| ticks_of(&cron(timing), zone, around.0, around.1);
    for (hour, days) in [
        (0, ["08 05:00", "09 04:00"]),
        (1, ["08 06:00", "09 05:00"]),
        (2, ["08 07:00", "09 06:00"]),
        (3, ["08 07:00", "09 07:00"]),
        (4, ["08 08:00", "09 08:00"]),
        (5, ["08 09:00", "09 09:00"]),
    ] {
        assert_eq!(ticks(&format!("0 {hour} * * *")), days, "daily at {hour}");
    }
    assert_eq!(ticks("30 2 * * *"), ["08 07:00", "09 06:30"]);
    let around = ("2026-03-08T05:00:00Z", "2026-03-08T11:00:00Z");
    let hours = ticks_of(&cron("0 * * * *"), zone, around.0, around.1);
    assert_eq!(hours, hourly(5, 11, "08"));
    assert_eq!(ticks_of(&Timing::EveryMs(3_600_000), zone, around.0, around.1), hourly(5, 11, "08"));
    let quarters = ticks_of(&cron("*/30 1-3 * * *"), zone, around.0, around.1);
    assert_eq!(quarters, ["08 06:00", "08 06:30", "08 07:00", "08 07:30"], "what is skipped comes together, once");
}

/// Clocks go from 02:00 back to 01:00 at 06:00 UTC.
#[test]
fn new_york_in_autumn() {
    let zone = "America/New_York";
    let around = ("2026-11-01T03:00:00Z", "2026-11-02T11:00:00Z");
    let ticks = |timing: &str| ticks_of(&cron(timing), zone, around.0, around.1);
    for (hour, days) in [
        (0, ["01 04:00", "02 05:00"]),
        (1, ["01 05:00", "02 06:00"]),
        (2, ["01 07:00", "02 07:00"]),
        (3, ["01 08:00", "02 08:00"]),
        (4, ["01 09:00", "02 09:00"]),
        (5, ["01 10:00", "02 10:00"]),
    ] {
        assert_eq!(ticks(&format!("0 {hour} * * *")), days, "daily at {hour}");
    }
    assert_eq!(ticks("30 1 * * *"), ["01 05:30", "02 06:30"]);
    let around = ("2026-11-01T04:00:00Z", "2026-11-01T09:00:00Z");
    let hours = ticks_of(&cron("0 * * * *"), zone, around.0, around.1);
    assert_eq!(hours, ["01 04:00", "01 05:00", "01 07:00", "01 08:00", "01 09:00"]);
    assert_eq!(ticks_of(&Timing::EveryMs(3_600_000), zone, around.0, around.1), hourly(4, 9, "01"));
}

/// Every tick of a year is later than the previous one, across all clock changes.
#[test]
fn ticks_never_go_back() {
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"] {
        for timing in ["17 * * * *", "30 2 * * *", "*/20 1-3 * * *"] {
            let zone: Zone = zone.parse().unwrap();
            let (timing, anchor) = (cron(timing), at("2026-01-01T00:00:00Z"));
            let year = Ticks { timing: &timing, zone: &zone, anchor, starts_at: None, ends_at: None };
            let all = year.following(anchor, 9_000);
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{timing:?} in {zone}");
        }
    }
}

/// Istanbul was two hours ahead of UTC in winter until 2016, and is three hours ahead all year since.
#[test]
fn a_zone_that_changed_its_rules() {
    let daily = |from, to| ticks_of(&cron("0 9 * * *"), "Europe/Istanbul", from, to);
    assert_eq!(daily("2015-12-01T00:00:00Z", "2015-12-02T00:00:00Z"), ["01 07:00"]);
    assert_eq!(daily("2016-12-01T00:00:00Z", "2016-12-02T00:00:00Z"), ["01 06:00"]);
    // São Paulo has had no summer time since 2019.
    let daily = |from, to| ticks_of(&cron("0 9 * * *"), "America/Sao_Paulo", from, to);
    assert_eq!(daily("2018-12-01T00:00:00Z", "2018-12-02T00:00:00Z"), ["01 11:00"]);
    assert_eq!(daily("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"), ["01 12:00"]);
    // Apia skipped 30 December 2011: the tick of that day comes when the next day begins.
    let daily = |from, to| ticks_of(&cron("0 9 * * *"), "Pacific/Apia", from, to);
    assert_eq!(daily("2011-12-29T00:00:00Z", "2011-12-31T00:00:00Z"), ["29 19:00", "30 10:00", "30 19:00"]);
}

#[test]
fn the_bounds_belong_to_the_schedule() {
    let (timing, zone) = (cron("0 * * * *"), Zone::default());
    let (starts_at, ends_at) = (Some(at("2026-01-01T02:00:00Z")), Some(at("2026-01-01T04:00:00Z")));
    let within = Ticks { timing: &timing, zone: &zone, anchor: at("2026-01-01T00:00:00Z"), starts_at, ends_at };
    let all = within.following(at("2025-01-01T00:00:00Z"), 100);
    assert_eq!(all, ["02", "03", "04"].map(|hour| at(&format!("2026-01-01T{hour}:00:00Z"))));
    let every = Timing::EveryMs(90_000);
    let from = Ticks { timing: &every, anchor: starts_at.unwrap(), ..within };
    assert_eq!(from.after(at("2025-01-01T00:00:00Z")), starts_at, "an interval begins with the start");
    assert_eq!(from.after(starts_at.unwrap()), Some(starts_at.unwrap() + 90_000));
    let once = Timing::At(at("2026-01-01T03:30:00Z"));
    let once = Ticks { timing: &once, ..within };
    assert_eq!(once.following(at("2025-01-01T00:00:00Z"), 9), [at("2026-01-01T03:30:00Z")]);
}
