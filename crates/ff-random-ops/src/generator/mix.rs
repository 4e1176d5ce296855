//! The mixes of transitions in runs.

/// The shares of the kinds of transitions in a run, in percent. The other transitions are about executions and leases.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub flows: u64,
    pub operators: u64,
    pub suspensions: u64,
    pub quotas: u64,
    /// Whether lanes are configured.
    pub lanes: bool,
    /// Whether the operations that a store combines in one call are chosen one by one, so that they may arrive late,
    /// repeatedly or never. Only a subject that performs groups of operations accepts them.
    pub messages: bool,
    /// Whether lanes are fair, that is, take the keys of their work in turn.
    pub fair: bool,
}

impl Mix {
    /// All kinds of transitions except those about quotas, without messages and fair lanes.
    pub const ALL: Self =
        Self { flows: 30, operators: 9, suspensions: 30, quotas: 0, lanes: true, messages: false, fair: false };
    pub const EXECUTIONS: Self =
        Self { flows: 0, operators: 9, suspensions: 0, quotas: 0, lanes: false, messages: false, fair: false };
    pub const SUSPENSIONS: Self =
        Self { flows: 0, operators: 0, suspensions: 65, quotas: 0, lanes: false, messages: false, fair: false };
    pub const FLOWS: Self =
        Self { flows: 85, operators: 0, suspensions: 3, quotas: 0, lanes: false, messages: false, fair: false };
    /// Mostly lanes with a limit, whose messages arrive late, repeatedly or never.
    pub const LANES: Self =
        Self { flows: 0, operators: 60, suspensions: 0, quotas: 0, lanes: true, messages: true, fair: false };
    /// Mostly quotas, by calls of the store itself.
    pub const QUOTAS: Self =
        Self { flows: 0, operators: 0, suspensions: 0, quotas: 75, lanes: false, messages: false, fair: false };
    /// Lanes that take keys in turn.
    pub const FAIR: Self =
        Self { flows: 12, operators: 18, suspensions: 6, quotas: 0, lanes: true, messages: false, fair: true };
    /// All kinds of transitions except those about quotas, as single operations.
    pub const GROUPS: Self =
        Self { flows: 30, operators: 24, suspensions: 23, quotas: 0, lanes: true, messages: true, fair: false };
}
