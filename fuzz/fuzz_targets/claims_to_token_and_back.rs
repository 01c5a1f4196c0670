//! Takes claims. The token built from them verifies and holds the given claims.

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
struct Wanted<'a> {
    customer: &'a str,
    audience: &'a str,
    jwt_id: Option<&'a str>,
    key_id: Option<&'a str>,
    issuer: bool,
    issued_at: bool,
    lifetime: u16,
    now: u32,
}

fuzz_target!(|wanted: Wanted<'_>| {
    let (Ok(customer), Ok(audience)) = (
        CustomerCode::parse(wanted.customer),
        Audience::parse(wanted.audience),
    ) else {
        return;
    };
    // A header has its own bound; a name is far below it.
    let key_id = wanted.key_id.filter(|id| id.len() <= 256);
    let now = Timestamp::from_unix_millis(i64::from(wanted.now) * 1000 + 1).expect("a time");
    let mut options = AssertionOptions::new()
        .lifetime(Duration::from_secs(u64::from(wanted.lifetime)))
        .issuer(wanted.issuer)
        .issued_at(wanted.issued_at)
        .jwt_id(
            wanted
                .jwt_id
                .map_or(JwtId::Absent, |id| JwtId::Text(id.to_owned())),
        );
    if let Some(id) = key_id {
        options = options.key_id(id);
    }
    let builder = AssertionBuilder::new(customer.clone(), audience.clone(), options);
    let possible = (1..=3600).contains(&wanted.lifetime)
        && wanted.jwt_id.is_none_or(|id| (1..=256).contains(&id.len()));
    let built = builder.sign(&KEY, now);
    assert_eq!(built.is_ok(), possible);
    let Ok(assertion) = built else { return };
    let key = match key_id {
        Some(id) => KEY.verifying_key().with_kid(id),
        None => KEY.verifying_key(),
    };
    let verifier = Verifier::new(audience, VerifierOptions::new().typ(TypRule::Exact));
    let verified = verifier
        .verify(&assertion, now, |_| Some(key))
        .expect("verifies");
    assert_eq!(verified.customer(), &customer);
    assert_eq!(verified.jwt_id(), wanted.jwt_id);
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
