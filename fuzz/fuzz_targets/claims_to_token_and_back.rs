//! Takes claims. The token built from them verifies and holds the given claims.

use crate::invented::{Odd, logged};
use arbitrary::Arbitrary;
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, JwtId, TypRule, Verifier,
    VerifierOptions,
};
use bankrail_jose::{RsaSize, SigningKey};
use bankrail_values::Timestamp;
use std::sync::LazyLock;
use std::time::Duration;

static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).expect("a key"));

#[derive(Arbitrary, Debug)]
struct Wanted {
    customer: Odd,
    audience: Odd,
    jwt_id: Option<Odd>,
    key_id: Option<Odd>,
    issuer: bool,
    issued_at: bool,
    lifetime: u16,
    now: u32,
}

fuzz_target!(|wanted: Wanted| {
    let (Ok(customer), Ok(audience)) = (
        CustomerCode::parse(&wanted.customer.0),
        Audience::parse(&wanted.audience.0),
    ) else {
        return;
    };
    // A header has its own bound; a name is far below it.
    let text = |odd: &Option<Odd>| odd.as_ref().map(|odd| odd.0.clone());
    let (jwt_id, key_id) = (text(&wanted.jwt_id), text(&wanted.key_id));
    let key_id = key_id.as_deref().filter(|id| id.len() <= 256);
    let now = Timestamp::from_unix_millis(i64::from(wanted.now) * 1000 + 1).expect("a time");
    let mut options = AssertionOptions::new()
        .lifetime(Duration::from_secs(u64::from(wanted.lifetime)))
        .issuer(wanted.issuer)
        .issued_at(wanted.issued_at)
        .jwt_id(
            jwt_id
                .clone()
                .map_or(JwtId::Absent, JwtId::Text),
        );
    if let Some(id) = key_id {
        options = options.key_id(id);
    }
    let builder = AssertionBuilder::new(customer.clone(), audience.clone(), options);
    let possible = (1..=3600).contains(&wanted.lifetime)
        && jwt_id.as_ref().is_none_or(|id| (1..=256).contains(&id.len()));
    let built = builder.sign(&KEY, now);
    assert_eq!(built.is_ok(), possible);
    let assertion = match built {
        Ok(assertion) => assertion,
        Err(error) => return logged(&error),
    };
    let key = match key_id {
        Some(id) => KEY.verifying_key().with_kid(id),
        None => KEY.verifying_key(),
    };
    let verifier = Verifier::new(audience, VerifierOptions::new().typ(TypRule::Exact));
    let verified = verifier
        .verify(&assertion, now, |_| Some(key))
        .expect("verifies");
    assert_eq!(verified.customer(), &customer);
    assert_eq!(verified.jwt_id(), jwt_id.as_deref());
    assert_eq!(verified.key_id(), key_id);
    let seconds = i64::from(wanted.now);
    assert_eq!(
        verified.expires_at().unix_millis(),
        (seconds + i64::from(wanted.lifetime)) * 1000
    );
    assert_eq!(
        verified.issued_at().map(Timestamp::unix_seconds),
        wanted.issued_at.then_some(seconds)
    );
});
