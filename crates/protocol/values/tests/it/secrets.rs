//! Secrets.

use bankrail_values::SecretString;

#[test]
fn printing_shows_nothing() {
    let secret = SecretString::from("hunter2");
    assert!(!format!("{secret:?} {secret:#?}").contains("hunter"));
    assert!(secret.matches(b"hunter2") && !secret.matches(b"hunter") && !secret.matches(b""));
}

#[test]
fn secrets_compare_by_all_their_bytes() {
    let secret = SecretString::from("hunter2".to_owned());
    assert_eq!(secret.expose_secret(), "hunter2");
    assert!(secret == SecretString::from("hunter2"));
    for other in ["hunter3", "Hunter2", "hunter", "hunter22", ""] {
        assert!(
            secret != SecretString::from(other) && !secret.matches(other.as_bytes()),
            "{other}"
        );
    }
}
