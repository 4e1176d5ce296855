//! How many members of a flow are in which state, exactly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::state::PublicState;

/// Members by state. A state without members is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Counts(BTreeMap<PublicState, u32>);

impl Counts {
    /// Members in a state.
    pub fn of(&self, state: PublicState) -> u32 {
        self.0.get(&state).copied().unwrap_or(0)
    }

    /// Members that have not ended.
    pub fn live(&self) -> u32 {
        self.0.iter().filter(|(state, _)| !state.is_terminal()).map(|(_, count)| count).sum()
    }

    /// Every member.
    pub fn all(&self) -> u32 {
        self.0.values().sum()
    }

    /// Each state that has members, and how many.
    pub fn iter(&self) -> impl Iterator<Item = (PublicState, u32)> {
        self.0.iter().map(|(state, count)| (*state, *count))
    }

    /// Counts a member that came from one state, if from any, to another.
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
