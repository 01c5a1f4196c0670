//! Limits over a store, and a store that fails.

use crate::at;
use bankrail_rate_limit::{
    Answer, CallType, Charge, CounterStore, Decision, Limiter, Limits, OnStoreError, Policy, StoreCheckError,
    StoreLimiter,
};
use bankrail_values::{StoreErrorKind, StoreFuture};
use std::num::NonZeroU32;
use std::sync::Arc;

#[derive(Debug)]
struct Down;

impl CounterStore for Down {
    fn charge<'a>(&'a self, _: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(async { Err(StoreErrorKind::Unavailable.into()) })
    }
}

#[tokio::test]
async fn a_store_that_answers_decides() {
    let limiter = StoreLimiter::new(Limits::default(), Arc::new(Limiter::default()));
    for request in 0..26 {
        let answer = limiter.check("A", CallType::Statement, at(0), 1).await.unwrap();
        assert_eq!(answer.is_allowed(), request < 25);
        assert!(matches!(answer, Answer::Decided(_)) && answer.store_error().is_none());
    }
    limiter.change_limits(|limits| limits.set_override("A", CallType::Statement, Policy::unlimited()));
    assert!(limiter.check("A", CallType::Statement, at(0), 1).await.unwrap().is_allowed());
    assert!(matches!(
        limiter.check("B", CallType::Statement, at(0), 26).await,
        Err(StoreCheckError::Cost(error)) if error.cost == 26
    ));
}

#[tokio::test]
async fn a_store_that_fails_refuses_allows_or_leaves_a_share() {
    let share = |parts| OnStoreError::LocalShare(NonZeroU32::new(parts).unwrap());
    let limiter = StoreLimiter::new(Limits::default(), Arc::new(Down))
        .on_store_error(CallType::Payment, OnStoreError::Allow)
        .on_store_error(CallType::Statement, share(4))
        .on_store_error(CallType::Token, share(3));
    let refused = limiter.check("A", CallType::FastPayment, at(0), 1).await.unwrap_err();
    assert!(matches!(&refused, StoreCheckError::Store(error) if error.kind() == StoreErrorKind::Unavailable));
    assert_eq!(std::error::Error::source(&refused).unwrap().to_string(), "the store is unavailable");

    for _ in 0..100 {
        let answer = limiter.check("A", CallType::Payment, at(0), 1).await.unwrap();
        assert!(answer.is_allowed() && answer.decision().is_none() && answer.store_error().is_some());
    }
    for request in 0..10 {
        let answer = limiter.check("A", CallType::Statement, at(0), 1).await.unwrap();
        assert_eq!(answer.is_allowed(), request < 6, "a quarter of 25");
        assert!(answer.decision().is_some() && answer.store_error().is_some());
    }
    let nothing_left = limiter.check("A", CallType::Token, at(0), 1).await;
    assert!(matches!(nothing_left, Err(StoreCheckError::Store(_))), "2 a second leave nothing for one of three");
}
