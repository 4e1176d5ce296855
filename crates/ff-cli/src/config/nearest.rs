//! What somebody who mistyped a name may have meant.

/// The name that is fewest slips away, if that is near enough to be meant.
pub(super) fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = names.map(|name| (slips(typed, name), name)).min()?;
    (near.0 <= typed.len().max(near.1.len()).div_ceil(3)).then_some(near.1)
}

/// How many letters have to be added, left out or replaced to come from one word to the other.
fn slips(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (nth, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], nth + 1);
        for (at, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_what_was_meant_and_nonsense_finds_nothing() {
        let names = || ["listen", "store", "concurrency", "lease-ttl"].into_iter();
        for (typed, meant) in
            [("lisen", "listen"), ("stor", "store"), ("leasettl", "lease-ttl"), ("concurency", "concurrency")]
        {
            assert_eq!(nearest(typed, names()), Some(meant));
        }
        assert_eq!(nearest("colour", names()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }
}
