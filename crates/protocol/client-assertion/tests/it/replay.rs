//! Using assertions more than once.

use crate::support::{
    KEY, NOW, Replays, at, block_on, builder_with, claims, now, signed, verifier, verifier_with,
    verify,
};
use bankrail_client_assertion::{
    AssertionError, AssertionOptions, JwtId, ReplayKey, ReplayPolicy, VerifiedAssertion,
    VerifierOptions,
};
use bankrail_jose::base64url;
use bankrail_values::Timestamp;
use sha2::{Digest as _, Sha256};
use std::time::Duration;

#[test]
fn a_key_is_free_again_after_the_instant_at_which_it_expires() {
    for (ahead, free) in [(-1, false), (0, false), (1, true)] {
        let now = Timestamp::from_unix_millis(NOW * 1000 + ahead).unwrap();
        assert_eq!(
            ReplayKey::new([0; 32], at(NOW)).is_free_at(now),
            free,
            "{ahead} ms"
        );
    }
}

const POLICIES: [ReplayPolicy; 4] = [
    ReplayPolicy::RequireJti,
    ReplayPolicy::JtiIfPresent,
    ReplayPolicy::WholeAssertion,
    ReplayPolicy::Off,
];

fn verified(changes: &[(&str, &str)]) -> VerifiedAssertion {
    verify(&verifier(), &signed(&claims(changes))).unwrap()
}

/// Returns whether each of two assertions is accepted, one after the other, under each policy.
fn accepted(first: &VerifiedAssertion, second: &VerifiedAssertion) -> [[bool; 2]; 4] {
    POLICIES.map(|policy| {
        let store = Replays::default();
        [first, second].map(|assertion| block_on(assertion.claim(policy, &store, now())).is_ok())
    })
}

#[test]
fn policies() {
    let (plain, with_id) = (verified(&[]), verified(&[("jti", "\"1\"")]));
    // Two assertions of the same second without `jti` are equal.
    assert_eq!(
        accepted(&plain, &plain),
        [[false, false], [true, true], [true, false], [true, true]]
    );
    assert_eq!(
        accepted(&with_id, &with_id),
        [[true, false], [true, false], [true, false], [true, true]]
    );
    // A used `jti` is also used up for other assertions; another `jti` is not.
    let again = verified(&[("jti", "\"1\""), ("iat", "1")]);
    assert_eq!(
        accepted(&with_id, &again),
        [[true, false], [true, false], [true, true], [true, true]]
    );
    let other = verified(&[("jti", "\"2\"")]);
    assert_eq!(accepted(&with_id, &other), [[true, true]; 4]);
    assert!(matches!(
        plain.replay_key(ReplayPolicy::RequireJti),
        Err(AssertionError::JwtIdRequired)
    ));
}

/// Stores keep the keys while this crate is updated, so the keys must not change.
#[test]
fn the_keys_are_the_same_in_every_version() {
    let key = |changes: &[(&str, &str)], policy| {
        verified(changes).replay_key(policy).unwrap().unwrap().key
    };
    let expected: [u8; 32] = Sha256::digest(b"jti\0CUSTOMERCODE\x001").into();
    assert_eq!(
        key(&[("jti", "\"1\"")], ReplayPolicy::JtiIfPresent),
        expected
    );
    let signature = signed(&claims(&[]))
        .rsplit_once('.')
        .map(|(_, text)| base64url::decode(text).unwrap())
        .unwrap();
    let expected = Sha256::digest([&b"assertion\0CUSTOMERCODE\0"[..], &signature].concat());
    assert_eq!(
        key(&[], ReplayPolicy::WholeAssertion),
        <[u8; 32]>::from(expected)
    );
}

#[test]
fn a_jti_belongs_to_its_customer() {
    let key_of = |sub: &str, id: &str| {
        let assertion = signed(&claims(&[("sub", sub), ("jti", id)]));
        let verified = verifier()
            .verify(&assertion, now(), |_| Some(KEY.verifying_key()))
            .unwrap();
        verified
            .replay_key(ReplayPolicy::RequireJti)
            .unwrap()
            .unwrap()
            .key
    };
    assert_eq!(key_of("\"A\"", "\"BC\""), key_of("\"A\"", "\"BC\""));
    assert_ne!(key_of("\"A\"", "\"BC\""), key_of("\"AB\"", "\"C\""));
    assert_ne!(key_of("\"A\"", "\"B\\u0000C\""), key_of("\"A\"", "\"BC\""));
}

#[test]
fn remembered_for_as_long_as_it_could_be_accepted() {
    let expires = |options: VerifierOptions, exp: &str| {
        let assertion = signed(&claims(&[("exp", exp), ("jti", "\"1\"")]));
        verify(&verifier_with(options), &assertion)
            .unwrap()
            .replay_key(ReplayPolicy::RequireJti)
            .unwrap()
            .unwrap()
            .expires_at
    };
    let exp = (NOW + 600).to_string();
    for options in [
        VerifierOptions::new(),
        VerifierOptions::new()
            .leeway(Duration::ZERO)
            .lenient_clients(),
    ] {
        assert_eq!(expires(options.clone(), &exp), at(NOW + 600));
        assert_eq!(
            expires(options, &format!("{exp}.0001")).unix_millis(),
            (NOW + 600) * 1000 + 1
        );
    }
}

#[test]
fn a_failing_store_is_a_local_fault_and_refuses() {
    let store = Replays {
        broken: true,
        ..Replays::default()
    };
    let assertion = verify(
        &verifier(),
        &builder_with(AssertionOptions::new().jwt_id(JwtId::Random))
            .sign(&KEY, now())
            .unwrap(),
    )
    .unwrap();
    let error = block_on(assertion.claim(ReplayPolicy::JtiIfPresent, &store, now())).unwrap_err();
    assert!(matches!(error, AssertionError::ReplayStore(_)) && error.is_retryable());
    assert_eq!(
        (error.status(), error.code().as_str()),
        (503, "temporarily_unavailable")
    );
    assert!(block_on(assertion.claim(ReplayPolicy::Off, &store, now())).is_ok());
}
