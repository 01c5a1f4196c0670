//! The types that this crate's macros make, its constants and its random numbers.

use std::collections::HashSet;

bankrail_values::hash_value! {
    /// A hash.
    struct Fingerprint;
}

bankrail_values::options! {
    /// Options.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Choices {
        /// Default: 3.
        tries: u32 = 3,
        /// Default: none.
        name(into): String = String::new(),
    }
}

#[test]
fn a_hash_has_32_bytes_and_shows_four() {
    let bytes: [u8; 32] = std::array::from_fn(|at| u8::try_from(at).unwrap() + 0xA0);
    let fingerprint = Fingerprint::from(bytes);
    assert_eq!(fingerprint.as_bytes(), &bytes);
    assert_eq!(format!("{fingerprint:?}"), "Fingerprint(a0a1a2a3…)");
}

#[test]
fn options_have_their_defaults_until_they_are_set() {
    assert_eq!(Choices::new(), Choices::default());
    let choices = Choices::new().tries(5).name("x");
    assert_eq!(
        (
            choices.tries,
            choices.name.as_str(),
            Choices::default().tries
        ),
        (5, "x", 3)
    );
}

#[test]
fn bounds_are_those_of_the_documentation() {
    assert_eq!(bankrail_values::MAX_MESSAGE_BYTES, 250_000);
    assert_eq!(bankrail_values::EXPIRY_GRACE.as_secs(), 3600);
}

#[cfg(feature = "random")]
#[test]
fn random_numbers_use_every_bit() {
    let drawn: Vec<u64> = (0..64).map(|_| bankrail_values::jitter()).collect();
    assert_eq!(drawn.iter().fold(0, |all, one| all | one), u64::MAX);
    assert_eq!(drawn.iter().fold(u64::MAX, |all, one| all & one), 0);
    let bytes: HashSet<[u8; 16]> = (0..64)
        .map(|_| bankrail_values::random_bytes().unwrap())
        .collect();
    assert_eq!(bytes.len(), 64);
}
