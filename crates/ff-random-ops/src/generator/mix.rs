//! The mixes of transitions in runs.

/// The shares of a run, each in a hundred transitions. The rest is about executions and leases.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub flows: u64,
    pub operators: u64,
    pub suspensions: u64,
    pub quotas: u64,
    /// Whether lanes are configured.
    pub lanes: bool,
    /// Whether the operations a store does several of for one call come one by one, late, again or never. Only a subject
    /// that performs groups of operations can be asked them.
    pub messages: bool,
    /// Whether lanes are fair: queued by a key.
    pub fair: bool,
}

impl Mix {
    /// A little of everything.
    pub const ALL: Self =
        Self { flows: 30, operators: 9, suspensions: 30, quotas: 0, lanes: true, messages: false, fair: false };
    pub const EXECUTIONS: Self =
        Self { flows: 0, operators: 9, suspensions: 0, quotas: 0, lanes: false, messages: false, fair: false };
    pub const SUSPENSIONS: Self =
        Self { flows: 0, operators: 0, suspensions: 65, quotas: 0, lanes: false, messages: false, fair: false };
    pub const FLOWS: Self =
        Self { flows: 85, operators: 0, suspensions: 3, quotas: 0, lanes: false, messages: false, fair: false };
    /// Mostly lanes with a limit, whose messages come late, again or never.
    pub const LANES: Self =
        Self { flows: 0, operators: 60, suspensions: 0, quotas: 0, lanes: true, messages: true, fair: false };
    /// Mostly quotas, asked of the store itself.
    pub const QUOTAS: Self =
        Self { flows: 0, operators: 0, suspensions: 0, quotas: 75, lanes: false, messages: false, fair: false };
    /// Lanes that take keys in turn.
    pub const FAIR: Self =
        Self { flows: 12, operators: 18, suspensions: 6, quotas: 0, lanes: true, messages: false, fair: true };
    /// Everything, in the smallest operations.
    pub const GROUPS: Self =
        Self { flows: 30, operators: 24, suspensions: 23, quotas: 0, lanes: true, messages: true, fair: false };
}
