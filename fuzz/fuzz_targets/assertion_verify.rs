//! Takes bytes, as a token and as the claims of a signed one, or changes of the header and the
//! claims of one. Verifying never panics, accepts only claims within the rules, and agrees with the
//! explanation of each rule by itself.

use crate::invented::{changed_json, choices, logged};
use bankrail_client_assertion::token::{FORM_CONTENT_TYPE, ScopeSet, TokenRequest};
use bankrail_client_assertion::{
    AssertionError, Audience, CustomerCode, ReplayPolicy, TypRule, Verifier, VerifierOptions,
};
use bankrail_jose::{KeySet, RsaSize, SelectError, SigningKey, VerifyingKey, base64url};
use bankrail_values::Timestamp;
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;

const NOW: i64 = 1_795_233_600_000;

/// Two keys without names, either of which may have signed.
static KEYS: LazyLock<([SigningKey; 2], KeySet<VerifyingKey>)> = LazyLock::new(|| {
    let keys = [(); 2].map(|()| SigningKey::generate(RsaSize::Rsa2048).expect("a key"));
    let public = KeySet::new(keys.each_ref().map(SigningKey::verifying_key)).expect("two keys");
    (keys, public)
});
static VERIFIERS: LazyLock<[Verifier; 3]> = LazyLock::new(|| {
    let audience = |text| Audience::parse(text).expect("an audience");
    [
        VerifierOptions::new().lenient_clients().also_audience(audience("urn:b")),
        VerifierOptions::new(),
        VerifierOptions::new().typ(TypRule::Exact).leeway(Duration::from_secs(5)),
    ]
    .map(|options| Verifier::new(audience("urn:a"), options))
});

const HEADERS: [&str; 2] = [
    r#"{"alg":"RS256","typ":"jwt"}"#,
    r#"{"typ":"client-authentication+jwt","alg":"RS256","kid":"a"}"#,
];
const CLAIMS: [&str; 2] = [
    r#"{"sub":"ACME","aud":"urn:a","exp":1795233900}"#,
    r#"{"iss":"ACME","sub":"ACME","aud":["urn:a","urn:b"],"exp":1795233900,"nbf":1795233600,"iat":1795233600.5,"jti":"a"}"#,
];
/// Times around now, the end of the longest lifetime and those with each tolerance.
const VALUES: &[&str] = &[
    "1795233600", "1795233600.001", "1795233601", "1795237200", "1795237201", "1795237230",
    "1795237231", "1795233605", "1795233605.5", "1795233630", "1795233630.0001", "1795233631",
    r#""1795233900""#, r#""1795233900.5""#, r#""urn:a""#, r#""urn:b""#, r#""urn:c""#,
    r#"["urn:a"]"#, r#"["urn:a","urn:c"]"#, r#""ACME""#, r#""JWT""#, r#""jwt""#,
];

fn replay(error: AssertionError) {
    logged(&error);
    assert!(matches!(error, AssertionError::JwtIdRequired));
}

fn judge(which: usize, header: &[u8], claims: &[u8], signed_by: usize) {
    let (now, verifier) = (Timestamp::from_unix_millis(NOW).expect("a time"), &VERIFIERS[which]);
    let (keys, public) = &*KEYS;
    let input = format!("{}.{}", base64url::encode(header), base64url::encode(claims));
    // Past the signature: first with a false one, which costs nothing, and then with a true one.
    let unsigned = format!("{input}.{}", base64url::encode(&[0; 256]));
    let rules = verifier.explain(&unsigned, now);
    let broken = rules.iter().filter_map(|rule| rule.outcome.as_ref().err());
    broken.clone().for_each(|error| logged(error));
    let holds = broken.count() == 0;
    match verifier.read(&unsigned) {
        Ok(unverified) => assert!(unverified.verify(public, now).is_err()),
        Err(error) => {
            logged(&error);
            return assert!(!holds, "{error}");
        }
    }
    let signature = keys[signed_by % 2].sign(input.as_bytes()).expect("a signature");
    let signed = format!("{input}.{}", base64url::encode(&signature));
    let unknown = verifier.verify(&signed, now, |_| None::<VerifyingKey>);
    logged(&unknown.expect_err("no key"));
    let verified = verifier.verify(&signed, now, |_| Some(public.clone()));
    let other = verifier.verify(&signed, now, |_| Some(keys[1 - signed_by % 2].verifying_key()));
    logged(&other.expect_err("another key"));
    // Where every rule by itself holds, the assertion is accepted, and only there.
    let verified = match verified {
        Ok(verified) => verified,
        Err(error) => {
            logged(&error);
            return assert!(!holds, "{error}");
        }
    };
    assert!(holds, "{:?}", verifier.explain(&signed, now));
    let named = public.keys().iter().map(|key| key.clone().with_kid("b")).collect::<Vec<_>>();
    let by_name = verifier.verify(&signed, now, |_| KeySet::new(named).ok());
    assert_eq!(
        matches!(by_name, Err(AssertionError::NoKey(SelectError::UnknownKid { .. }))),
        by_name.is_err()
    );

    let left = verified.expires_at().unix_millis() - NOW;
    // The cap with its tolerance.
    assert!((0..=3_600_000 + if which == 0 { 30_000 } else { 0 }).contains(&left));
    let customer = verified.customer().as_str();
    assert!(CustomerCode::parse(customer).is_ok());
    let claimed: Value = serde_json::from_slice(claims).unwrap_or_default();
    if claimed.is_object() {
        assert_eq!(claimed["sub"], customer);
        assert!(claimed.get("iss").is_none_or(|iss| iss == customer));
        let lead = [30.0, 30.0, 5.0][which];
        for claim in ["nbf", "iat"] {
            let begins = claimed.get(claim).map(|time| time.as_f64().expect("a number"));
            assert!(begins.is_none_or(|time| time <= NOW as f64 / 1e3 + lead), "{claimed}");
        }
        let audiences = match &claimed["aud"] {
            Value::Array(all) if which == 0 => all.clone(),
            one => vec![one.clone()],
        };
        let own = |one: &Value| one == "urn:a" || which == 0 && one == "urn:b";
        assert!(!audiences.is_empty() && audiences.iter().all(own), "{claimed}");
        assert_eq!(verified.jwt_id(), claimed["jti"].as_str());
        assert!(which == 0 || claimed["exp"].is_number());
    }
    assert_eq!(verified.issued_at().is_some(), verified.all_claims().get("iat").is_some());
    assert!(verified.all_claims().get("sub").is_some() && verified.key_id().is_none());
    let has_id = verified.jwt_id().is_some();
    for (policy, expected) in [
        (ReplayPolicy::Off, false),
        (ReplayPolicy::JtiIfPresent, has_id),
        (ReplayPolicy::RequireJti, true),
        (ReplayPolicy::WholeAssertion, true),
    ] {
        match verified.replay_key(policy) {
            Ok(key) => assert_eq!(key.is_some(), expected),
            Err(error) => replay(error),
        }
    }
    for (client, is_own) in [(customer, true), ("OTHER", false)] {
        let client = CustomerCode::parse(client).expect("a code");
        let scope: ScopeSet = "A".parse().expect("a scope");
        let request = TokenRequest::new(signed.as_str(), scope).with_client_id(&client);
        let request = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), request.to_form().as_bytes());
        let checked = verified.check_client_id(&request.expect("what was written"));
        assert!(checked.is_ok() == is_own || customer == "OTHER");
        let _ = checked.map_err(|error| logged(&error));
    }
    assert!(!format!("{verified:?}").contains(char::is_control));
}

fuzz_target!(|data: &[u8]| {
    let now = Timestamp::from_unix_millis(NOW).expect("a time");
    if let Some(mut choices) = choices(data) {
        let which = choices.choose_index(VERIFIERS.len()).unwrap_or(0);
        let by = choices.choose_index(2).unwrap_or(0);
        let header = changed_json(&mut choices, &HEADERS, VALUES);
        let claims = changed_json(&mut choices, &CLAIMS, VALUES);
        return judge(which, header.as_bytes(), claims.as_bytes(), by);
    }
    if let Ok(token) = std::str::from_utf8(data) {
        for verifier in &*VERIFIERS {
            let verified = verifier.verify(token, now, |_| Some(KEYS.1.clone()));
            logged(&verified.expect_err("a forged signature"));
            let rules = verifier.explain(token, now);
            assert!(rules.iter().all(|rule| !rule.rule.is_empty()));
        }
    }
    judge(0, HEADERS[0].as_bytes(), data, 0);
});
