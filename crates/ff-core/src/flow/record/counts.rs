//! Exact numbers of the members of a flow, by state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::state::PublicState;

/// Members by state. A state without members is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Counts(BTreeMap<PublicState, u32>);

impl Counts {
    /// Returns the number of members in a state.
    pub fn of(&self, state: PublicState) -> u32 {
        self.0.get(&state).copied().unwrap_or(0)
    }

    /// Returns the number of members that have not ended.
    pub fn live(&self) -> u32 {
        self.0.iter().filter(|(state, _)| !state.is_terminal()).map(|(_, count)| count).sum()
    }

    /// Returns the number of all members.
    pub fn all(&self) -> u32 {
        self.0.values().sum()
    }

    /// Returns each state that has members, with their number.
    pub fn iter(&self) -> impl Iterator<Item = (PublicState, u32)> {
        self.0.iter().map(|(state, count)| (*state, *count))
    }

    /// Moves a member from one state to another in the counts. A new member has no `from`.
    pub(crate) fn moved(&mut self, from: Option<PublicState>, to: PublicState) {
        if let Some(count) = from.and_then(|from| self.0.get_mut(&from)) {
            *count -= 1;
        }
        *self.0.entry(to).or_default() += 1;
        self.0.retain(|_, count| *count > 0);
    }
}

impl FromIterator<PublicState> for Counts {
    fn from_iter<I: IntoIterator<Item = PublicState>>(states: I) -> Self {
        let mut counts = Self::default();
        states.into_iter().for_each(|state| counts.moved(None, state));
        counts
    }
}
