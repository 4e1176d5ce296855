//! What a random walk does, as a script: symbolic, so that it still means something after lines were dropped from it.

use ff_core::contracts::{Start, SubmitArgs};
use ff_core::dice::{Dice, Nonce, SeededDice};
use ff_core::limits;
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::types::{IdempotencyKey, Kind, LaneId, Namespace, Priority, TimestampMs};
use uuid::Uuid;

use super::splitmix::SplitMix;
use super::waits::{Wait, wait};

/// When every walk begins.
pub(crate) const BEGINNING: TimestampMs = TimestampMs(1_700_000_000_000);
/// Partitions are numbered below this; the one with this number is not there.
pub(crate) const PARTITION_COUNT: u16 = 2;

/// One line: the clock moves, and then someone does something.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) tick: Tick,
    pub(crate) act: Act,
    pub(crate) nonce: Nonce,
}

/// How the clock moves.
#[derive(Clone, Copy)]
pub(crate) enum Tick {
    Stay,
    Ms(u64),
    /// To so many milliseconds from one of the next moments at which something is due or forgotten.
    Moment {
        nth: usize,
        off: i64,
    },
}

/// What is done. Executions are named by the order they were submitted in, fences by how long ago a worker got them.
#[derive(Clone)]
pub(crate) enum Act {
    Submit(Box<SubmitArgs>),
    Claim {
        worker: usize,
        partition: u16,
        namespace: Namespace,
        lane: LaneId,
        kinds: Vec<Kind>,
        max: usize,
        ttl_ms: u64,
    },
    Renew {
        by: By,
        ttl_ms: Option<u64>,
    },
    Progress {
        by: By,
        percent: Option<u8>,
        message: Option<String>,
    },
    Complete {
        by: By,
        result: Option<Payload>,
    },
    Fail {
        by: By,
        category: Kind,
        permanent: bool,
    },
    Delay {
        by: By,
        start: Start,
    },
    Cancel {
        of: usize,
    },
    Replay {
        of: usize,
    },
    Revoke {
        of: usize,
        which: Which,
    },
    Prioritise {
        of: usize,
        priority: i64,
    },
    /// Puts on a label, or takes it away.
    Tag {
        of: usize,
        team: Option<&'static str>,
    },
    Pump {
        partition: u16,
    },
    Wait(Box<Wait>),
    /// Somebody reads what happens on a partition.
    Follow {
        partition: u16,
    },
    /// A call that shows only some of its fence.
    PartialFence {
        by: By,
        shown: [bool; 3],
    },
}

/// In whose name something is done.
#[derive(Clone, Copy)]
pub(crate) struct By {
    pub(crate) worker: usize,
    /// 0 is the fence this worker got last.
    pub(crate) back: usize,
    pub(crate) forged: Forged,
}

/// What is wrong with a fence that is shown.
#[derive(Clone, Copy)]
pub(crate) enum Forged {
    Nothing,
    Lease,
    Epoch,
    Attempt,
    /// It is of another execution.
    Execution,
    /// It is of an execution nobody submitted.
    Unknown,
    /// It is of an execution that cannot be here.
    Beyond,
}

/// Which lease is to be revoked.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    Any,
    /// The one some worker got so many claims ago.
    Known(By),
    Forged,
}

/// A script made up from a seed.
pub(crate) fn improvise(seed: u64, lines: usize) -> Vec<Line> {
    let (mut random, dice) = (SplitMix::new(seed), SeededDice::new(seed));
    let uuids = 2 + random.below(3);
    let mut line = |nth: usize| {
        let act = match nth {
            0..2 => submission(&mut random, uuids),
            2..6 if random.chance(50) => claim(&mut random),
            _ => act(&mut random, uuids),
        };
        Line { tick: tick(&mut random), act, nonce: dice.nonce() }
    };
    (0..lines).map(&mut line).collect()
}

/// A script that is mostly about waiting: one piece of work, or two, and a clock that seldom moves, so that a lease lasts
/// for long enough to wait for something.
pub(crate) fn improvise_waiting(seed: u64, lines: usize) -> Vec<Line> {
    let (mut random, dice) = (SplitMix::new(seed), SeededDice::new(seed));
    let uuids = 1 + random.below(2);
    let mut line = |nth: usize| {
        let act = match (nth, random.below(100)) {
            (0..2, _) => lasting(submission(&mut random, uuids), &mut random),
            (2..5, _) | (_, 0..14) => claim_any(&mut random),
            (_, 14..24) => Act::Pump { partition: partition(&mut random) },
            (_, 24..32) => act(&mut random, uuids),
            (_, 32..34) => Act::Cancel { of: random.below(2) },
            _ => {
                let mostly = By { worker: random.below(2), back: 0, forged: Forged::Nothing };
                let by = if random.chance(85) { mostly } else { by(&mut random) };
                Act::Wait(Box::new(wait(&mut random, by)))
            }
        };
        let tick = if random.chance(45) { Tick::Stay } else { tick(&mut random) };
        Line { tick, act, nonce: dice.nonce() }
    };
    (0..lines).map(&mut line).collect()
}

fn tick(random: &mut SplitMix) -> Tick {
    match random.below(100) {
        0..60 => Tick::Stay,
        60..75 => Tick::Ms(random.next() % 300),
        _ => Tick::Moment { nth: random.pick(&[0, 0, 0, 1, 2]), off: random.pick(&[-1, 0, 0, 1]) },
    }
}

fn act(random: &mut SplitMix, uuids: usize) -> Act {
    let of = random.below(6);
    match random.below(100) {
        0..12 => submission(random, uuids),
        12..34 => claim(random),
        34..42 => Act::Renew {
            by: by(random),
            ttl_ms: random.pick(&[None, None, None, None, Some(1_000), Some(2_000), Some(999)]),
        },
        42..46 => Act::Progress {
            by: by(random),
            percent: random.pick(&[None, Some(1), Some(50), Some(99), Some(100), Some(101)]),
            message: random.pick(&[None, Some("half".to_owned())]),
        },
        46..54 => Act::Complete { by: by(random), result: random.pick(&[None, Some(Payload::json("\"done\""))]) },
        54..64 => Act::Fail {
            by: by(random),
            category: random.pick(&[kind("network"), kind("bug")]),
            permanent: random.chance(15),
        },
        64..70 => Act::Delay { by: by(random), start: start(random, 20) },
        70..73 => Act::Cancel { of },
        73..79 => Act::Replay { of },
        79..83 => {
            let known = Which::Known(by(random));
            Act::Revoke { of, which: random.pick(&[Which::Any, Which::Any, known, Which::Forged]) }
        }
        83..85 => {
            Act::PartialFence { by: by(random), shown: [random.chance(50), random.chance(50), random.chance(50)] }
        }
        85 => Act::Follow { partition: partition(random) },
        86..88 => Act::Prioritise { of, priority: random.pick(&[0, 7, 9_000]) },
        88..91 => Act::Tag { of, team: random.pick(&[None, Some("data"), Some("web")]) },
        _ => Act::Pump { partition: partition(random) },
    }
}

/// Most work of one uuid is the same work, submitted again; some is not.
fn submission(random: &mut SplitMix, uuids: usize) -> Act {
    let nth = random.below(uuids);
    let like = if random.chance(90) { nth } else { random.below(uuids) };
    let key = if random.chance(90) { like } else { random.below(3) };
    let keys = [None, Some("once"), Some("twice"), None];
    Act::Submit(Box::new(SubmitArgs {
        uuid: Uuid::from_u128(1 + nth as u128),
        namespace: namespace(random),
        lane: lane(random),
        payload: Payload::json(["1", "2", "2", "1"][like]),
        priority: Priority::new(random.pick(&[0, 0, 7, 9_000])).expect("in range"),
        idempotency_key: keys[key].map(|key| IdempotencyKey::parse(key).expect("a key")),
        start: start(random, 65),
        policy: policy(random),
        ..SubmitArgs::new(kind(["resize", "resize", "send", "send"][like]), Payload::default())
    }))
}

/// The same work, which mostly starts at once and lives for as long as it waits.
fn lasting(submission: Act, random: &mut SplitMix) -> Act {
    let Act::Submit(mut args) = submission else { return submission };
    if random.chance(75) {
        (args.policy, args.start) = (Policy::default(), Start::Now);
    }
    Act::Submit(args)
}

/// Takes whatever there is.
fn claim_any(random: &mut SplitMix) -> Act {
    let (namespace, lane) = (Namespace::default_name(), LaneId::default_name());
    let (worker, partition) = (random.below(2), random.pick(&[0, 1]));
    Act::Claim { worker, partition, namespace, lane, kinds: vec![], max: 2, ttl_ms: random.pick(&[1_500, 3_000]) }
}

fn policy(random: &mut SplitMix) -> Policy {
    let backoff = match random.below(4) {
        0 => Backoff::default(),
        1 => Backoff::Fixed { delay_ms: 500, jitter: true },
        _ => Backoff::Fixed { delay_ms: random.pick(&[0, 500, 1_000]), jitter: false },
    };
    let retryable_categories = if random.chance(20) { vec!["network".into(), "timeout".into()] } else { vec![] };
    let span = |random: &mut SplitMix, spans: &[u64]| random.chance(40).then(|| random.pick(spans));
    let remembered =
        if random.chance(4) { limits::SPAN_MAX_MS + 1 } else { random.pick(&[limits::DEDUP_WINDOW_MS, 1_500, 0]) };
    Policy {
        retry_policy: RetryPolicy { max_retries: random.pick(&[0, 1, 2]), backoff, retryable_categories },
        timeout_policy: TimeoutPolicy {
            attempt_timeout_ms: span(random, &[800, 1_000, 2_000]),
            execution_deadline_ms: span(random, &[500, 2_000, 4_000, 8_000]),
        },
        max_reclaim_count: random.pick(&[0, 1, 1, 2]),
        max_replay_count: random.pick(&[0, 1, 1, 2]),
        dedup_window_ms: remembered,
        retention_ms: random.pick(&[None, None, Some(0), Some(1_000)]),
    }
}

fn claim(random: &mut SplitMix) -> Act {
    Act::Claim {
        worker: random.below(2),
        partition: partition(random),
        namespace: namespace(random),
        lane: lane(random),
        kinds: random.pick(&[vec![], vec![], vec![kind("resize")], vec![kind("send"), kind("resize")]]),
        max: if random.chance(4) {
            random.pick(&[0, limits::CLAIM + 1])
        } else {
            random.pick(&[1, 1, 2, limits::CLAIM])
        },
        ttl_ms: if random.chance(4) { 999 } else { random.pick(&[1_000, 1_000, 1_500, 3_000]) },
    }
}

fn by(random: &mut SplitMix) -> By {
    let forged = match random.below(40) {
        0 => Forged::Lease,
        1 => Forged::Epoch,
        2 => Forged::Attempt,
        3 => Forged::Execution,
        4 => Forged::Unknown,
        5 => Forged::Beyond,
        _ => Forged::Nothing,
    };
    By { worker: random.below(2), back: random.pick(&[0, 0, 0, 1, 1, 2, 3, 5]), forged }
}

fn start(random: &mut SplitMix, now_percent: usize) -> Start {
    if random.chance(now_percent) {
        return Start::Now;
    }
    match random.below(16) {
        0 => Start::After(limits::SPAN_MAX_MS + 1),
        1..8 => Start::At(BEGINNING + random.next() % 4_000),
        _ => Start::After(random.pick(&[0, 500, 1_000])),
    }
}

fn partition(random: &mut SplitMix) -> u16 {
    if random.chance(2) { PARTITION_COUNT } else { random.pick(&[0, 1]) }
}

fn namespace(random: &mut SplitMix) -> Namespace {
    if random.chance(97) { Namespace::default_name() } else { Namespace::parse("acme").expect("a name") }
}

fn lane(random: &mut SplitMix) -> LaneId {
    if random.chance(92) { LaneId::default_name() } else { LaneId::parse("mail").expect("a name") }
}

fn kind(name: &str) -> Kind {
    Kind::parse(name).expect("a name")
}
