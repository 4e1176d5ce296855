//! The lines that a ledger worker prints.

use std::fmt;

use ff_core::types::ExecutionId;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The worker is connected and about to claim work.
    Ready,
    /// Work begins.
    Started(ExecutionId),
    /// Timed work begins, at this time in milliseconds.
    Began(ExecutionId, i64),
    /// Timed work is done, at this time in milliseconds. The worker completes the execution only afterwards.
    Ended(ExecutionId, i64),
    /// The function of a step begins.
    Ran(ExecutionId, StepRun),
    /// A step has returned its recorded result: the attempt that ran it.
    Recorded(ExecutionId, StepRun, u32),
    /// The engine has acknowledged the completion with this result.
    Completed(ExecutionId, String),
    /// The engine has refused the completion with this code.
    Refused(ExecutionId, String),
}

/// A step in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRun {
    pub nth: u32,
    pub attempt: u32,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => write!(f, "ready"),
            Self::Started(id) => write!(f, "started {id}"),
            Self::Began(id, at) => write!(f, "began {id} {at}"),
            Self::Ended(id, at) => write!(f, "ended {id} {at}"),
            Self::Ran(id, step) => write!(f, "ran {id} {} {}", step.nth, step.attempt),
            Self::Recorded(id, step, by) => write!(f, "recorded {id} {} {} {by}", step.nth, step.attempt),
            Self::Completed(id, result) => write!(f, "completed {id} {result}"),
            Self::Refused(id, code) => write!(f, "refused {id} {code}"),
        }
    }
}

impl Line {
    /// Parses a line.
    pub fn parse(text: &str) -> Self {
        let mut words = text.splitn(3, ' ');
        let (what, id, more) = (words.next(), words.next().and_then(|id| id.parse().ok()), words.next());
        match (what, id, more) {
            (Some("ready"), None, None) => Self::Ready,
            (Some("started"), Some(id), None) => Self::Started(id),
            (Some("began"), Some(id), Some(at)) => Self::Began(id, at.parse().unwrap()),
            (Some("ended"), Some(id), Some(at)) => Self::Ended(id, at.parse().unwrap()),
            (Some("ran" | "recorded"), Some(id), Some(numbers)) => {
                let numbers: Vec<u32> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
                match numbers[..] {
                    [nth, attempt] => Self::Ran(id, StepRun { nth, attempt }),
                    [nth, attempt, by] => Self::Recorded(id, StepRun { nth, attempt }, by),
                    _ => panic!("not a line of a ledger: {text:?}"),
                }
            }
            (Some("completed"), Some(id), Some(result)) => Self::Completed(id, result.to_owned()),
            (Some("refused"), Some(id), Some(code)) => Self::Refused(id, code.to_owned()),
            _ => panic!("not a line of a ledger: {text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_line_reads_back() {
        let id = ExecutionId::new(7, Uuid::nil());
        let result = "{\"by\": \"a\"}".to_owned();
        let step = StepRun { nth: 3, attempt: 1 };
        let lines = [Line::Ready, Line::Started(id), Line::Completed(id, result), Line::Refused(id, "no".into())];
        let others = [Line::Ran(id, step), Line::Recorded(id, step, 0), Line::Began(id, 12), Line::Ended(id, 13)];
        for line in lines.into_iter().chain(others) {
            assert_eq!(Line::parse(&line.to_string()), line);
        }
    }
}
