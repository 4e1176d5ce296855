//! A complete run, and the shortening of a run that finds an error.

use std::time::{Duration, Instant};

use crate::compare::{Comparison, Difference};
use crate::coverage::Coverage;
use crate::generator::Generator;
use crate::subject::Setup;
use crate::transition::Transition;

/// Number of transitions between two full comparisons. Answers are compared after every transition. A script that is
/// being shortened is fully compared after every transition, so an error that is found late here is located exactly
/// there.
const LOOK_EVERY: usize = 30;

/// Performs the given number of random transitions. If it finds an error, panics with the seed and the shortest script
/// found that shows the error.
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

/// Performs a run for each seed and adds up their coverage.
pub async fn runs(setup: Setup, seeds: impl IntoIterator<Item = u64>, transitions: usize) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in seeds {
        coverage.add(&run(setup, seed, transitions).await);
    }
    coverage
}

/// Performs the transitions of a script with a full comparison after each. Returns the first difference.
pub async fn replay(setup: Setup, seed: u64, script: &[Transition]) -> Option<Difference> {
    let mut comparison = Comparison::new(setup, seed).await;
    let mut found = Ok(());
    for (nth, transition) in script.iter().enumerate() {
        found = comparison.take(transition).await;
        // A subject without a store performs operations in groups. A comparison after every transition would leave
        // groups of one.
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

/// Performs the last full comparison. If the setup requests it, runs the model until nothing is left to do.
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

/// Time limit for shortening a script. A test that reaches its own time limit would print no script at all.
const SHRINK_FOR: Duration = Duration::from_secs(180);

/// Returns a shorter script that still shows an error. Removes single transitions and ranges of them while an error
/// remains and time is left.
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

/// Returns the number in an environment variable, or the default if the variable is not set.
pub fn number(name: &str, default: usize) -> usize {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}: must be a number, is {text}")))
}
