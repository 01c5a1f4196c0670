//! Random bytes from the operating system.

/// Fills a buffer with random bytes, such as that of a secret that is overwritten when it is
/// dropped.
///
/// # Errors
/// [`RandomnessError`] if the operating system gives none.
#[expect(
    clippy::disallowed_methods,
    reason = "the source that the others draw from"
)]
pub fn fill_random(buffer: &mut [u8]) -> Result<(), RandomnessError> {
    #[cfg(feature = "simulation")]
    if crate::simulation::fill(buffer) {
        return Ok(());
    }
    getrandom::fill(buffer).map_err(|_| RandomnessError)
}

/// Returns random bytes, for values that are not secret, such as an initialisation vector.
///
/// # Errors
/// [`RandomnessError`] if the operating system gives none.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], RandomnessError> {
    let mut bytes = [0; N];
    fill_random(&mut bytes).map(|()| bytes)
}

/// Returns a random number for the jitter of a schedule. If the operating system gives no random
/// bytes, the number is the middle of the range, which means no jitter.
#[must_use]
pub fn jitter() -> u64 {
    random_bytes().map_or(u64::MAX / 2, u64::from_ne_bytes)
}

/// The operating system gave no random bytes. This is a local fault, possibly a temporary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no random bytes from the operating system")]
#[non_exhaustive]
pub struct RandomnessError;
