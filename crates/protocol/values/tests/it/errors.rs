//! Errors and the texts that programs print for them.

use bankrail_values::{MainError, StoreError, StoreErrorKind, causes};
use std::error::Error as _;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(&'static str, #[source] Option<Box<Cause>>);

#[test]
fn an_error_is_told_with_its_causes_each_once() {
    let inner = |text, source| Some(Box::new(Cause(text, source)));
    assert_eq!(causes(&Cause("a", None)), "a");
    assert_eq!(causes(&Cause("a", inner("b", inner("c", None)))), "a: b: c");
    assert_eq!(
        causes(&Cause("a: b", inner("b", inner("c", None)))),
        "a: b: c",
        "what is said is not said again"
    );
}

#[test]
fn what_ends_a_program_is_printed_as_one_sentence() {
    let main = || -> Result<(), MainError> { Err(Cause("a", Some(Box::new(Cause("b", None)))))? };
    assert_eq!(format!("{:?}", main().unwrap_err()), "a: b");
    assert_eq!(
        format!("{:?}", MainError::from("usage: biller FOLDER")),
        "usage: biller FOLDER"
    );
}

#[test]
fn an_own_ledgers_error_says_in_the_words_of_the_others_if_it_may_pass() {
    for (own, retryable) in [
        (StoreError::retryable(Cause("the core is away", None)), true),
        (
            StoreError::permanent(Cause("the core is away", None)),
            false,
        ),
    ] {
        assert_eq!(own.is_retryable(), retryable);
        assert!(causes(&own).ends_with(": the core is away"), "{own}");
    }
    let kinds = [
        (StoreErrorKind::Unavailable, true),
        (StoreErrorKind::Timeout, true),
        (StoreErrorKind::Full, true),
        (StoreErrorKind::Corrupt, false),
        (StoreErrorKind::Conflict, false),
        (StoreErrorKind::Refused, false),
    ];
    for (kind, retryable) in kinds {
        assert_eq!(StoreError::from(kind).is_retryable(), retryable, "{kind}");
    }
}

#[test]
fn an_error_of_a_store_says_its_kind_and_keeps_its_source() {
    for (kind, text) in [
        (StoreErrorKind::Unavailable, "the store is unavailable"),
        (StoreErrorKind::Timeout, "the store did not answer in time"),
        (
            StoreErrorKind::Corrupt,
            "the store holds an unreadable record",
        ),
        (StoreErrorKind::Full, "the store is full"),
        (
            StoreErrorKind::Conflict,
            "the store holds something else under this name",
        ),
        (StoreErrorKind::Refused, "the store refused the operation"),
    ] {
        let (alone, with) = (StoreError::from(kind), StoreError::new(kind, "the source"));
        assert_eq!((alone.kind(), alone.to_string()), (kind, text.to_owned()));
        assert!(alone.source().is_none());
        assert_eq!((with.kind(), with.to_string()), (kind, text.to_owned()));
        assert_eq!(
            with.source().map(ToString::to_string),
            Some("the source".to_owned())
        );
    }
}
