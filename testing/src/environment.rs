//! How long random and fault tests run: as their default says, or a variable of the environment.

/// The number a variable of the environment says, or the default.
pub fn number(name: &str, default: usize) -> usize {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}: must be a number, is {text}")))
}
