//! Cron expressions: parsing, and the next local time that matches.

use jiff::civil::{Date, DateTime};

/// Number of years that are searched for a match. A 29th of February occurs within eight years, also across a year like
/// 2100, which is not a leap year.
const YEARS: i16 = 9;

/// A parsed cron expression. Each field is a set of numbers, one bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    seconds: u64,
    minutes: u64,
    hours: u64,
    days: u64,
    /// Whether the last day of the month matches.
    last_day: bool,
    months: u64,
    weekdays: u64,
    /// True when the day of the month and the day of the week are both restricted: then a day that matches either is a match.
    is_either_day: bool,
}

/// The error of a cron expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadCron(String);

/// One field: its name and its allowed numbers.
struct Field {
    name: &'static str,
    low: u32,
    high: u32,
    /// Names of the numbers, from the lowest on.
    names: &'static [&'static str],
}

const SECOND: Field = Field { name: "second", low: 0, high: 59, names: &[] };
const MINUTE: Field = Field { name: "minute", low: 0, high: 59, names: &[] };
const HOUR: Field = Field { name: "hour", low: 0, high: 23, names: &[] };
const DAY: Field = Field { name: "day of month", low: 1, high: 31, names: &[] };
const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const MONTH: Field = Field { name: "month", low: 1, high: 12, names: MONTHS };
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const WEEKDAY: Field = Field { name: "day of week", low: 0, high: 7, names: WEEKDAYS };

const SHORTHANDS: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl Cron {
    /// Parses five fields (minute, hour, day of month, month, day of week), six (with
    /// the second first), or a shorthand such as `@daily`.
    pub fn parse(text: &str) -> Result<Self, BadCron> {
        let text = text.trim();
        if text.starts_with('@') {
            let known = SHORTHANDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            let (_, fields) = known.ok_or_else(|| {
                let names: Vec<_> = SHORTHANDS.iter().map(|(name, _)| *name).collect();
                BadCron(format!("must be one of {}, got {text:?}", names.join(", ")))
            })?;
            return Self::parse(fields);
        }
        let fields: Vec<_> = text.split_ascii_whitespace().collect();
        let (second, rest) = match fields.as_slice() {
            rest if rest.len() == 5 => ("0", rest),
            [second, rest @ ..] if rest.len() == 5 => (*second, rest),
            _ => {
                let what = "5 fields (minute, hour, day of month, month, day of week) or 6 (second first)";
                return Err(BadCron(format!("must have {what}, got {}", fields.len())));
            }
        };
        let (day, weekday) = (rest[2], rest[4]);
        let (days, last_day) = days(day)?;
        let mut weekdays = WEEKDAY.set(weekday)?;
        // Sunday is 0 and 7.
        weekdays = (weekdays | weekdays >> 7) & 0x7f;
        let cron = Self {
            seconds: SECOND.set(second)?,
            minutes: MINUTE.set(rest[0])?,
            hours: HOUR.set(rest[1])?,
            days,
            last_day,
            months: MONTH.set(rest[3])?,
            weekdays,
            is_either_day: !is_any(day) && !is_any(weekday),
        };
        cron.check_comes(day)?;
        Ok(cron)
    }

    /// Refuses a day that no date can match, such as the 30th of February.
    fn check_comes(&self, day: &str) -> Result<(), BadCron> {
        if self.is_either_day || self.last_day {
            return Ok(());
        }
        let longest = |month: u32| [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
        let comes = (1..=12).any(|month| has(self.months, month) && self.days.trailing_zeros() <= longest(month));
        if comes {
            return Ok(());
        }
        Err(BadCron(format!("day of month never comes in the given months, got {day:?}")))
    }

    /// Returns the first local time that matches, not before `from`; `None` if there is none within [`YEARS`].
    pub fn next_from(&self, from: DateTime) -> Option<DateTime> {
        let from = if from.subsec_nanosecond() == 0 {
            from
        } else {
            let whole = from.with().subsec_nanosecond(0).build().ok()?;
            whole.checked_add(jiff::Span::new().seconds(1)).ok()?
        };
        let last = from.year().saturating_add(YEARS);
        let mut date = from.date();
        let mut earliest = (from.hour(), from.minute(), from.second());
        while date.year() <= last {
            if !has(self.months, two(date.month())) {
                date = next_month(date)?;
                earliest = (0, 0, 0);
                continue;
            }
            if self.is_day(date)
                && let Some((hour, minute, second)) = self.time_from(earliest)
            {
                return Some(date.at(hour, minute, second, 0));
            }
            date = date.tomorrow().ok()?;
            earliest = (0, 0, 0);
        }
        None
    }

    fn is_day(&self, date: Date) -> bool {
        let is_last = self.last_day && date.day() == date.days_in_month();
        let in_month = has(self.days, two(date.day())) || is_last;
        let in_week = has(self.weekdays, two(date.weekday().to_sunday_zero_offset()));
        if self.is_either_day { in_month || in_week } else { in_month && in_week }
    }

    /// Returns the first matching time of a day, not before this one.
    fn time_from(&self, (hour, minute, second): (i8, i8, i8)) -> Option<(i8, i8, i8)> {
        let first = |set: u64| first_from(set, 0);
        if has(self.hours, two(hour)) {
            if has(self.minutes, two(minute))
                && let Some(second) = first_from(self.seconds, second)
            {
                return Some((hour, minute, second));
            }
            if let Some(minute) = first_from(self.minutes, minute + 1) {
                return Some((hour, minute, first(self.seconds)?));
            }
        }
        let hour = first_from(self.hours, hour + 1)?;
        Some((hour, first(self.minutes)?, first(self.seconds)?))
    }
}

fn two(number: i8) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn has(set: u64, number: u32) -> bool {
    set >> number & 1 == 1
}

/// Returns the first number of a set, not below `from`.
fn first_from(set: u64, from: i8) -> Option<i8> {
    let rest = set & (u64::MAX << two(from));
    (rest != 0).then(|| i8::try_from(rest.trailing_zeros()).ok()).flatten()
}

fn next_month(date: Date) -> Option<Date> {
    date.last_of_month().tomorrow().ok()
}

fn is_any(field: &str) -> bool {
    matches!(field, "*" | "?")
}

/// Parses the days of the month, and whether the last day is among them.
fn days(field: &str) -> Result<(u64, bool), BadCron> {
    let (last, others): (Vec<_>, Vec<_>) = field.split(',').partition(|part| part.eq_ignore_ascii_case("L"));
    if others.is_empty() {
        return Ok((0, true));
    }
    Ok((DAY.set(&others.join(","))?, !last.is_empty()))
}

impl Field {
    /// Parses a field: a list of numbers, ranges and steps.
    fn set(&self, field: &str) -> Result<u64, BadCron> {
        field.split(',').try_fold(0, |set, part| Ok(set | self.part(part)?))
    }

    fn part(&self, part: &str) -> Result<u64, BadCron> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step, part)?)),
            None => (part, None),
        };
        let (low, high) = match range.split_once('-') {
            _ if is_any(range) => (self.low, self.high.min(if self.names.len() == 7 { 6 } else { 59 })),
            Some((low, high)) => (self.number(low)?, self.number(high)?),
            // A step without an end continues to the highest number.
            None if step.is_some() => (self.number(range)?, self.high),
            None => (self.number(range)?, self.number(range)?),
        };
        if low > high {
            return Err(BadCron(format!("{} must be a range from low to high, got {part:?}", self.name)));
        }
        let numbers = (low..=high).step_by(step.unwrap_or(1) as usize);
        Ok(numbers.fold(0, |set, number| set | 1 << number))
    }

    fn step(&self, step: &str, part: &str) -> Result<u32, BadCron> {
        let most = self.high.max(1);
        match step.parse() {
            Ok(step) if (1..=most).contains(&step) => Ok(step),
            _ => Err(BadCron(format!("{} must have a step from 1 to {most}, got {part:?}", self.name))),
        }
    }

    fn number(&self, text: &str) -> Result<u32, BadCron> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = match self.names.iter().position(|name| name.eq_ignore_ascii_case(text)) {
            Some(place) => u32::try_from(place).ok().map(|place| place + self.low),
            None => text.parse().ok().filter(|_| is_number),
        };
        number.filter(|number| (self.low..=self.high).contains(number)).ok_or_else(|| self.refusal(text))
    }

    fn refusal(&self, text: &str) -> BadCron {
        let names = match (self.names.first(), self.names.last()) {
            (Some(first), Some(last)) => format!(" or {first} to {last}"),
            _ => String::new(),
        };
        BadCron(format!("{} must be from {} to {}{names}, got {text:?}", self.name, self.low, self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(cron: &str, from: &str) -> String {
        let next = Cron::parse(cron).unwrap().next_from(from.parse().unwrap());
        next.map_or_else(|| "never".into(), |at| at.to_string())
    }

    #[test]
    fn the_next_local_time_matches_every_field() {
        for (cron, from, expected) in [
            ("0 9 * * *", "2026-01-05T09:00:00", "2026-01-05T09:00:00"),
            ("0 9 * * *", "2026-01-05T09:00:01", "2026-01-06T09:00:00"),
            ("0 9 * * *", "2026-01-05T08:59:59.5", "2026-01-05T09:00:00"),
            ("*/15 * * * *", "2026-01-05T09:46:00", "2026-01-05T10:00:00"),
            ("5/20 * * * *", "2026-01-05T09:26:00", "2026-01-05T09:45:00"),
            ("30 8-10,22 * * *", "2026-01-05T10:31:00", "2026-01-05T22:30:00"),
            ("15 30 6 * * *", "2026-01-05T06:30:16", "2026-01-06T06:30:15"),
            ("0 0 * * MON-FRI", "2026-01-02T00:00:01", "2026-01-05T00:00:00"),
            ("0 0 * * 7", "2026-01-05T00:00:00", "2026-01-11T00:00:00"),
            ("0 0 * * 5-7", "2026-01-05T00:00:00", "2026-01-09T00:00:00"),
            ("0 0 1 jan,Jul *", "2026-01-01T00:00:01", "2026-07-01T00:00:00"),
            ("@hourly", "2026-12-31T23:00:01", "2027-01-01T00:00:00"),
            ("@weekly", "2026-01-05T00:00:00", "2026-01-11T00:00:00"),
            ("@monthly", "2026-01-01T00:00:01", "2026-02-01T00:00:00"),
            ("@YEARLY", "2026-01-01T00:00:01", "2027-01-01T00:00:00"),
            ("0 0 ? * 1", "2026-01-06T00:00:00", "2026-01-12T00:00:00"),
        ] {
            assert_eq!(next(cron, from), expected, "{cron} from {from}");
        }
    }

    #[test]
    fn a_leap_day_comes_with_its_year_also_across_2100() {
        assert_eq!(next("0 0 29 2 *", "2026-03-01T00:00:00"), "2028-02-29T00:00:00");
        assert_eq!(next("0 0 29 2 *", "2096-03-01T00:00:00"), "2104-02-29T00:00:00");
    }

    #[test]
    fn the_ends_of_months_are_where_they_are() {
        for (from, expected) in [
            ("2026-01-31T00:00:01", "2026-02-28T00:00:00"),
            ("2028-02-01T00:00:00", "2028-02-29T00:00:00"),
            ("2026-04-01T00:00:00", "2026-04-30T00:00:00"),
            ("2026-12-31T12:00:00", "2027-01-31T00:00:00"),
        ] {
            assert_eq!(next("0 0 L * *", from), expected);
        }
        assert_eq!(
            next("0 0 31 * *", "2026-02-01T00:00:00"),
            "2026-03-31T00:00:00",
            "months without it are passed over"
        );
        assert_eq!(next("0 0 15,L * *", "2026-02-16T00:00:00"), "2026-02-28T00:00:00");
    }

    #[test]
    fn a_day_of_either_kind_matches_where_both_are_restricted() {
        assert_eq!(next("0 0 13 * FRI", "2026-01-03T00:00:00"), "2026-01-09T00:00:00");
        assert_eq!(next("0 0 13 * FRI", "2026-01-10T00:00:00"), "2026-01-13T00:00:00");
    }

    #[test]
    fn an_invalid_cron_field_is_refused_with_its_allowed_values() {
        for (cron, why) in [
            ("60 * * * *", "minute must be from 0 to 59, got \"60\""),
            ("* 24 * * *", "hour must be from 0 to 23, got \"24\""),
            ("* * 0 * *", "day of month must be from 1 to 31, got \"0\""),
            ("* * * 13 *", "month must be from 1 to 12 or JAN to DEC, got \"13\""),
            ("* * * FOO *", "month must be from 1 to 12 or JAN to DEC, got \"FOO\""),
            ("* * * * 8", "day of week must be from 0 to 7 or SUN to SAT, got \"8\""),
            ("61 * * * * *", "second must be from 0 to 59, got \"61\""),
            ("*/0 * * * *", "minute must have a step from 1 to 59, got \"*/0\""),
            ("*/60 * * * *", "minute must have a step from 1 to 59, got \"*/60\""),
            ("30-10 * * * *", "minute must be a range from low to high, got \"30-10\""),
            ("+5 * * * *", "minute must be from 0 to 59, got \"+5\""),
            ("5,, * * * *", "minute must be from 0 to 59, got \"\""),
            ("0 0 30 2 *", "day of month never comes in the given months, got \"30\""),
            ("0 0 31 4,6 *", "day of month never comes in the given months, got \"31\""),
        ] {
            assert_eq!(Cron::parse(cron).unwrap_err().to_string(), why, "{cron}");
        }
        for cron in ["", "* * * *", "* * * * * * *"] {
            assert!(Cron::parse(cron).unwrap_err().to_string().starts_with("must have 5 fields"), "{cron:?}");
        }
        assert!(Cron::parse("@often").unwrap_err().to_string().contains("@hourly"));
    }

    /// The next match is the same from every time before it, tested in steps of 61 seconds.
    #[test]
    fn nothing_that_matches_is_passed_over() {
        for (cron, from) in [("7 11 * * *", "2026-03-01T10:00:00"), ("*/7 */5 * * 2", "2026-03-02T22:00:00")] {
            let parsed = Cron::parse(cron).unwrap();
            let mut at: DateTime = from.parse().unwrap();
            let found = parsed.next_from(at).unwrap();
            while at < found {
                assert_eq!(parsed.next_from(at).unwrap(), found, "{cron} from {at}");
                at = at.checked_add(jiff::Span::new().seconds(61)).unwrap();
            }
        }
    }
}
