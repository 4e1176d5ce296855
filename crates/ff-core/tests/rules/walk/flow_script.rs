//! What a random walk does to a flow, as lines of a script.

use ff_core::contracts::SubmitFlowArgs;
use ff_core::dice::{Dice, Nonce, SeededDice};
use ff_core::flow::CancelPolicy;

use super::flow_graphs::{Shape, graph};
use super::splitmix::SplitMix;

/// One thing to do, and the randomness to do it with.
#[derive(Clone)]
pub(crate) struct FlowLine {
    pub(crate) act: FlowAct,
    pub(crate) nonce: Nonce,
}

/// Something that is done. Members and holders are named by how many there are to choose from.
#[derive(Clone, Debug)]
pub(crate) enum FlowAct {
    /// The next part of a submission, or one that came before.
    Stage {
        again: bool,
    },
    Claim {
        max: usize,
    },
    Complete {
        of: usize,
        bytes: usize,
    },
    Fail {
        of: usize,
        permanent: bool,
    },
    Delay {
        of: usize,
    },
    Cancel {
        of: usize,
    },
    Replay {
        of: usize,
        reopen: bool,
    },
    CancelFlow {
        policy: CancelPolicy,
    },
    /// A node with edges from and to others.
    Grow {
        from: usize,
        to: Option<usize>,
        stale: bool,
        key: Option<&'static str>,
    },
    /// A bare edge.
    Link {
        from: usize,
        to: usize,
    },
    /// A holder adds children.
    Children {
        of: usize,
        count: usize,
    },
    Wait {
        of: usize,
    },
    Close,
    Tag,
    Cascade {
        of: usize,
    },
    Pump,
    /// On to the next moment that is due, or a little.
    Clock {
        little: bool,
    },
}

/// A graph and what is done to it.
pub(crate) struct FlowScript {
    pub(crate) graph: SubmitFlowArgs,
    /// Whether the flow is made empty first, and stays open.
    pub(crate) grown: bool,
    pub(crate) lines: Vec<FlowLine>,
}

/// A script from a seed.
pub(crate) fn improvise_flow(seed: u64, length: usize) -> FlowScript {
    let mut random = SplitMix::new(seed);
    let dice = SeededDice::new(seed);
    let wide = random.chance(4);
    let shape = if wide {
        Shape { nodes: 320, edges: 1, cancelling: true, hub: true }
    } else {
        Shape { nodes: 1 + random.below(7), edges: random.pick(&[0, 30, 60]), cancelling: true, hub: false }
    };
    let graph = graph(&mut random, shape);
    let grown = random.chance(15);
    // Whoever looks at a wide graph looks at much; its walks are shorter.
    let length = if wide { length / 2 } else { length };
    let lines = (0..length).map(|_| FlowLine { act: act(&mut random), nonce: dice.nonce() }).collect();
    FlowScript { graph, grown, lines }
}

fn act(random: &mut SplitMix) -> FlowAct {
    let of = random.below(64);
    match random.below(100) {
        0..5 => FlowAct::Stage { again: random.chance(60) },
        5..20 => FlowAct::Claim { max: random.pick(&[1, 1, 2, 100]) },
        20..38 => FlowAct::Complete { of, bytes: random.pick(&[0, 0, 3, 10]) },
        38..47 => FlowAct::Fail { of, permanent: random.chance(70) },
        47..49 => FlowAct::Delay { of },
        49..52 => FlowAct::Cancel { of },
        52..65 => FlowAct::Replay { of, reopen: random.chance(60) },
        65 => FlowAct::CancelFlow { policy: random.pick(CancelPolicy::ALL) },
        66..70 => FlowAct::Grow {
            from: random.below(64),
            to: random.chance(40).then(|| random.below(64)),
            stale: random.chance(10),
            key: random.pick(&[None, Some("one"), Some("two")]),
        },
        70..73 => FlowAct::Link { from: random.below(64), to: random.below(64) },
        73..78 => FlowAct::Children { of, count: 1 + random.below(2) },
        78..84 => FlowAct::Wait { of },
        84 => FlowAct::Close,
        85 => FlowAct::Tag,
        86..88 => FlowAct::Cascade { of },
        88..94 => FlowAct::Pump,
        _ => FlowAct::Clock { little: random.chance(60) },
    }
}
