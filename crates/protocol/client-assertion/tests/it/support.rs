//! Keys, claims and stores for several tests.

use bankrail_client_assertion::{
    AssertionBuilder, AssertionError, AssertionOptions, Audience, CustomerCode, ReplayKey,
    VerifiedAssertion, Verifier, VerifierOptions,
};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::{RsaSize, SigningKey};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::HashMap;
use std::future::Future;
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll, Waker};

/// The UNIX time of 2026-11-21T04:00:00Z.
pub(crate) const NOW: i64 = 1_795_233_600;
pub(crate) const AUDIENCE: &str = "https://auth.example.com/v1.0/auth";

pub(crate) static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());
pub(crate) static OTHER_KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());

pub(crate) fn now() -> Timestamp {
    at(NOW)
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis(seconds * 1000).unwrap()
}

pub(crate) fn customer() -> CustomerCode {
    CustomerCode::parse("CUSTOMERCODE").unwrap()
}

pub(crate) fn verifier() -> Verifier {
    verifier_with(VerifierOptions::new())
}

pub(crate) fn verifier_with(options: VerifierOptions) -> Verifier {
    Verifier::new(Audience::parse(AUDIENCE).unwrap(), options)
}

pub(crate) fn builder() -> AssertionBuilder {
    builder_with(AssertionOptions::new())
}

pub(crate) fn builder_with(options: AssertionOptions) -> AssertionBuilder {
    AssertionBuilder::new(customer(), Audience::parse(AUDIENCE).unwrap(), options)
}

/// Returns the default claims, with members replaced, added or, if the value is empty, removed.
pub(crate) fn claims(changes: &[(&str, &str)]) -> String {
    let expires = (NOW + 600).to_string();
    let audience = format!("\"{AUDIENCE}\"");
    let mut members = vec![
        ("sub", "\"CUSTOMERCODE\""),
        ("exp", &expires),
        ("aud", &audience),
    ];
    for (name, value) in changes {
        members.retain(|(known, _)| known != name);
        if !value.is_empty() {
            members.push((name, value));
        }
    }
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// Signs claims with the customer's key.
pub(crate) fn signed(claims: &str) -> String {
    jws::sign(&KEY, &JwsHeader::new().typ("jwt"), claims.as_bytes()).unwrap()
}

pub(crate) fn verify(
    verifier: &Verifier,
    assertion: &str,
) -> Result<VerifiedAssertion, AssertionError> {
    verifier.verify(assertion, now(), |asked| {
        (*asked == customer()).then(|| KEY.verifying_key())
    })
}

/// Runs a future that is ready when first polled.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the stores of these tests never wait"),
    }
}

/// A replay store in memory, which fails if `broken`.
#[derive(Debug, Default)]
pub(crate) struct Replays {
    pub(crate) claimed: Mutex<HashMap<[u8; 32], Timestamp>>,
    pub(crate) broken: bool,
}

impl bankrail_client_assertion::ReplayStore for Replays {
    fn claim(&self, key: ReplayKey, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            if self.broken {
                return Err(StoreError::from(StoreErrorKind::Timeout));
            }
            let mut claimed = self.claimed.lock().unwrap();
            claimed.retain(|_, expires| *expires > now);
            Ok(claimed.insert(key.key, key.expires_at).is_none())
        })
    }
}
