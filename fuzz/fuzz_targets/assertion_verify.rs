//! Takes bytes, as a token and as the claims of a signed one. Verifying never panics and accepts
//! only claims within the rules.

use bankrail_client_assertion::{Audience, ReplayPolicy, Verifier, VerifierOptions};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::{RsaSize, SigningKey, base64url};
use bankrail_values::Timestamp;
use std::sync::LazyLock;

const NOW: i64 = 1_795_233_600_000;

static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).expect("a key"));
static VERIFIER: LazyLock<Verifier> = LazyLock::new(|| {
    let lenient = VerifierOptions::new().lenient_clients();
    Verifier::new(Audience::parse("urn:a").expect("an audience"), lenient)
});

fuzz_target!(|data: &[u8]| {
    let now = Timestamp::from_unix_millis(NOW).expect("a time");
    if let Ok(token) = std::str::from_utf8(data) {
        assert!(
            VERIFIER
                .verify(token, now, |_| Some(KEY.verifying_key()))
                .is_err(),
            "a forged signature"
        );
    }

    // Past the signature: first with a false one, which costs nothing, and then with a true one.
    let header = JwsHeader::new().typ("jwt");
    let prepared = jws::prepare(&header, None, data);
    let signing_input =
        std::str::from_utf8(prepared.request().message()).expect("a token is ASCII");
    let unsigned = format!("{signing_input}.{}", base64url::encode(&[0; 256]));
    let Ok(unverified) = VERIFIER.read(&unsigned) else {
        return;
    };
    assert!(unverified.verify(&KEY.verifying_key(), now).is_err());
    let signed = jws::sign(&KEY, &header, data).expect("a signature");
    let Ok(verified) = VERIFIER.verify(&signed, now, |_| Some(KEY.verifying_key())) else {
        return;
    };
    let left = verified.expires_at().unix_millis() - NOW;
    // The cap with its tolerance, then the leeway for `iat`.
    assert!((0..=3_630_000).contains(&left));
    assert!(
        !verified
            .customer()
            .as_str()
            .bytes()
            .any(|b| b.is_ascii_lowercase())
    );
    assert!(
        verified
            .issued_at()
            .is_none_or(|at| at.unix_millis() <= NOW + 30_000)
    );
    assert!(verified.all_claims().get("sub").is_some());
    assert!(
        verified
            .replay_key(ReplayPolicy::WholeAssertion)
            .expect("no jti needed")
            .is_some()
    );
});
