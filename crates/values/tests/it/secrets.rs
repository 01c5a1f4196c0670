//! Secrets.

use bankrail_values::SecretString;

#[test]
fn printing_shows_nothing() {
    let secret = SecretString::from("hunter2");
    assert!(!format!("{secret:?} {secret:#?}").contains("hunter"));
    assert!(secret.matches(b"hunter2") && !secret.matches(b"hunter") && !secret.matches(b""));
}
