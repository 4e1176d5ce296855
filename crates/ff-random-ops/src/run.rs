//! A run from beginning to end, and shortening one that shows something wrong.

use std::time::{Duration, Instant};

use crate::compare::{Comparison, Difference};
use crate::coverage::Coverage;
use crate::generator::Generator;
use crate::subject::Setup;
use crate::transition::Transition;

/// Transitions between two looks at everything. Answers are compared at every transition, and a script that is shortened
/// is looked at after each, so a difference is found late here and shown early.
const LOOK_EVERY: usize = 30;

/// Takes so many random transitions. When something is wrong, panics with the seed and the shortest script that shows it.
pub async fn run(setup: Setup, seed: u64, transitions: usize) -> Coverage {
    let mut comparison = Comparison::new(setup, seed).await;
    let mut generator = Generator::new(setup.mix, seed);
    let mut script = Vec::new();
    let mut found = Ok(());
    while found.is_ok() && script.len() < transitions {
        let transition = generator.choose(&comparison.reference);
        found = comparison.take(&transition).await;
        script.push(transition);
        if found.is_ok() && script.len().is_multiple_of(LOOK_EVERY) {
            found = comparison.look(false).await;
        }
    }
    let (coverage, found) = conclude(setup, comparison, found).await;
    if let Err(difference) = found {
        eprintln!("seed {seed}: wrong at transition {} of {transitions}, being shortened: {difference}", script.len());
        let (script, difference) = shrink(setup, seed, script, difference).await;
        let lines: Vec<_> = script.iter().map(|transition| format!("    {transition:?},")).collect();
        let lines = lines.join("\n");
        panic!(
            "seed {seed}: wrong after {transitions} transitions. The shortest script found that shows it:\n[\n{lines}\n]\n{difference}"
        );
    }
    coverage
}

/// Takes runs from so many seeds, and adds up their coverage.
pub async fn runs(setup: Setup, seeds: impl IntoIterator<Item = u64>, transitions: usize) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in seeds {
        coverage.add(&run(setup, seed, transitions).await);
    }
    coverage
}

/// Takes the transitions of a script, looking at everything after each. Gives the first difference.
pub async fn replay(setup: Setup, seed: u64, script: &[Transition]) -> Option<Difference> {
    let mut comparison = Comparison::new(setup, seed).await;
    let mut found = Ok(());
    for (nth, transition) in script.iter().enumerate() {
        found = comparison.take(transition).await;
        // A group that is performed after every transition is no group.
        let looks = comparison.has_store() || nth % LOOK_EVERY == LOOK_EVERY - 1;
        if found.is_ok() && looks {
            found = comparison.look(false).await;
        }
        if found.is_err() {
            break;
        }
    }
    conclude(setup, comparison, found).await.1.err()
}

/// Looks at everything a last time, and works until nothing is left where that is asked for.
async fn conclude(
    setup: Setup,
    mut comparison: Comparison,
    mut found: Result<(), Difference>,
) -> (Coverage, Result<(), Difference>) {
    if found.is_ok() {
        found = comparison.look(true).await;
    }
    if found.is_ok() && setup.to_the_end {
        found = comparison.finish();
    }
    (comparison.end().await, found)
}

/// How long a script is shortened for. A test that runs into its own limit would show no script at all.
const SHRINK_FOR: Duration = Duration::from_secs(180);

/// The script without every transition, or run of transitions, that can be left out while something is still wrong, as far as that
/// is found in time.
async fn shrink(
    setup: Setup,
    seed: u64,
    mut script: Vec<Transition>,
    mut difference: Difference,
) -> (Vec<Transition>, Difference) {
    let began = Instant::now();
    let mut length = script.len().div_ceil(2);
    loop {
        let mut from = 0;
        let before = script.len();
        while from < script.len() {
            if began.elapsed() > SHRINK_FOR {
                return (script, difference);
            }
            let mut shorter = script.clone();
            shorter.drain(from..(from + length).min(script.len()));
            match replay(setup, seed, &shorter).await {
                Some(still) => (script, difference) = (shorter, still),
                None => from += length,
            }
        }
        if length <= 1 && script.len() == before {
            return (script, difference);
        }
        length = (length / 2).max(1);
    }
}

/// The number a variable of the environment says, or the default.
pub fn number(name: &str, default: usize) -> usize {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}: must be a number, is {text}")))
}
