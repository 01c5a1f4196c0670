//! Every rule of the profile, with values that it accepts and refuses.

use crate::support::{
    AUDIENCE, KEY, NOW, OTHER_KEY, at, block_on, builder, builder_with, claims, customer, now,
    signed, verifier, verifier_with, verify,
};
use bankrail_client_assertion::token::TokenRequest;
use bankrail_client_assertion::{
    AssertionError, AssertionOptions, Audience, JwtId, TypRule, Verifier, VerifierOptions,
};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::remote::{RemoteError, RemoteFuture, RemoteSigner, SignRequest};
use bankrail_jose::{KeySet, RsaSize, SigningKey, VerifyingKey, base64url};
use bankrail_values::Timestamp;
use bankrail_values::json::JsonValue;
use proptest::prelude::*;
use std::time::Duration;

/// The name of the issuer, which is an audience of its token endpoint too.
const ISSUER: &str = "https://auth.example.com/";

#[test]
fn what_is_built_is_verified() {
    let all = AssertionOptions::new()
        .issuer(true)
        .issued_at(true)
        .jwt_id(JwtId::Text("j1".to_owned()));
    let assertion = builder_with(all).sign(&KEY, now()).unwrap();
    let verified = verify(&verifier(), &assertion).unwrap();
    assert_eq!(
        (verified.customer(), verified.expires_at()),
        (&customer(), at(NOW + 300))
    );
    assert_eq!(
        (verified.issued_at(), verified.jwt_id(), verified.key_id()),
        (Some(now()), Some("j1"), None)
    );
    let header = assertion.split('.').next().unwrap();
    assert_eq!(
        base64url::decode(header).unwrap(),
        br#"{"alg":"RS256","typ":"jwt"}"#
    );
}

#[test]
fn claims_one_by_one() {
    let exp = |ahead: &str| ("exp", format!("{}{ahead}", NOW));
    let good: &[(&str, String)] = &[
        ("exp", (NOW + 1).to_string()),
        ("exp", (NOW + 3600).to_string()),
        exp(".001"),
        ("exp", format!("{}.999", NOW + 3599)),
        ("exp", "1795233900e0".to_owned()),
        ("nbf", (NOW + 30).to_string()),
        ("iat", (NOW + 30).to_string()),
        ("iat", "0".to_owned()),
        ("iss", "\"CUSTOMERCODE\"".to_owned()),
        ("jti", "\"x\"".to_owned()),
        ("other", r#"{"a":[1,{"b":null}]}"#.to_owned()),
    ];
    for (name, value) in good {
        let found = verify(&verifier(), &signed(&claims(&[(name, value)])));
        assert!(found.is_ok(), "{name} {value} {found:?}");
    }
    let (longest, long) = (
        format!("\"{}\"", "j".repeat(256)),
        format!("\"{}\"", "j".repeat(257)),
    );
    assert!(verify(&verifier(), &signed(&claims(&[("jti", &longest)]))).is_ok());
    let array = format!("[\"{AUDIENCE}\"]");
    let slash = format!("\"{AUDIENCE}/\"");
    let bad: &[(&str, &str)] = &[
        ("exp", ""),
        ("exp", "1795233600"),
        ("exp", "1795233600.0"),
        ("exp", "1795237201"),
        ("exp", "1795237200.001"),
        ("exp", "1795237200.0001"),
        ("exp", "-1"),
        ("exp", "0"),
        ("exp", "\"1795234200\""),
        ("exp", "null"),
        ("exp", "true"),
        ("exp", "[1795234200]"),
        ("exp", "1e300"),
        ("exp", "1e999"),
        ("exp", "9223372036854775807"),
        ("exp", "18446744073709551615"),
        ("exp", "01795234200"),
        ("aud", ""),
        ("aud", &array),
        ("aud", &slash),
        ("aud", "\"\""),
        ("aud", "null"),
        ("aud", "\"HTTPS://AUTH.EXAMPLE.COM/V1.0/AUTH\""),
        ("sub", ""),
        ("sub", "\"\""),
        ("sub", "\"customercode\""),
        ("sub", "\"CUSTOMERCODE \""),
        ("sub", "\"CUSTOMERCODE\\u0000\""),
        ("sub", "\"OTHER\""),
        ("sub", "1"),
        ("sub", "[\"CUSTOMERCODE\"]"),
        ("nbf", "1795233631"),
        ("nbf", "1795233630.0001"),
        ("nbf", "\"1795233600\""),
        ("nbf", "null"),
        ("iat", "1795233631"),
        ("iat", "1795233630.0001"),
        ("iat", "\"now\""),
        ("iss", "\"OTHER\""),
        ("iss", "\"\""),
        ("iss", "null"),
        ("iss", "[\"CUSTOMERCODE\"]"),
        ("jti", "\"\""),
        ("jti", "1"),
        ("jti", "null"),
        ("jti", &long),
        ("x", "[[[[[[[[1]]]]]]]]"),
        ("x", r#"{"a":1,"a":1}"#),
        ("x", "1}{\"y\":1"),
        ("x\":1,\"s\\u0075b", "\"OTHER\""),
    ];
    for (name, value) in bad {
        let found = verify(&verifier(), &signed(&claims(&[(name, value)])));
        assert!(found.is_err(), "{name} {value} {found:?}");
    }
    for whole in ["", "[]", "null", "\"x\"", "{}", "{", "\u{feff}{}"] {
        assert!(verify(&verifier(), &signed(whole)).is_err(), "{whole}");
    }
}

#[test]
fn an_assertion_has_at_most_16_kib_and_a_header_of_2_kib() {
    let with = |kid: usize, filler: usize| {
        let header = JwsHeader::new().typ("jwt").kid("k".repeat(kid));
        let filler = format!("\"{}\"", "x".repeat(filler));
        jws::sign(&KEY, &header, claims(&[("x", &filler)]).as_bytes()).unwrap()
    };
    // Three bytes of claims make four characters, so the length of the `kid` determines the
    // possible lengths.
    let around_the_bound = |kid: usize| {
        let filler = (16_384 - with(kid, 0).len()) * 3 / 4;
        (filler - 3..filler + 4).map(move |filler| with(kid, filler))
    };
    let lengths: Vec<_> = (1..=3)
        .flat_map(around_the_bound)
        .map(|assertion| (assertion.len(), verify(&verifier(), &assertion).is_ok()))
        .collect();
    assert!(
        lengths.contains(&(16_384, true)) && lengths.contains(&(16_385, false)),
        "{lengths:?}"
    );
    assert!(
        lengths
            .iter()
            .all(|(length, accepted)| *accepted == (*length <= 16_384)),
        "{lengths:?}"
    );
    let around = JwsHeader::new().typ("jwt").kid("").to_json(None).len();
    for (bytes, accepted) in [(2 * 1024, true), (2 * 1024 + 1, false)] {
        assert_eq!(
            verify(&verifier(), &with(bytes - around, 1)).is_ok(),
            accepted,
            "{bytes}"
        );
    }
}

#[test]
fn a_remote_key_signs_the_same_assertion() {
    #[derive(Debug)]
    struct Remote;

    impl RemoteSigner for Remote {
        fn verifying_key(&self) -> VerifyingKey {
            KEY.verifying_key()
        }

        fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
            Box::pin(async move { KEY.sign(request.message()).map_err(RemoteError::permanent) })
        }
    }

    let found = block_on(builder().sign_remote(&Remote, now())).unwrap();
    assert_eq!(found, builder().sign(&KEY, now()).unwrap());
}

#[test]
fn each_refusal_is_told_apart_locally() {
    let error =
        |changes: &[(&str, &str)]| verify(&verifier(), &signed(&claims(changes))).unwrap_err();
    assert!(matches!(
        error(&[("exp", "")]),
        AssertionError::ClaimMissing { claim: "exp" }
    ));
    assert!(matches!(
        error(&[("exp", "1")]),
        AssertionError::Expired { .. }
    ));
    assert!(matches!(
        error(&[("exp", "9999999999")]),
        AssertionError::TooFarAhead { .. }
    ));
    assert!(matches!(
        error(&[("nbf", "9999999999")]),
        AssertionError::NotYetValid { claim: "nbf", .. }
    ));
    assert!(matches!(
        error(&[("aud", "\"x\"")]),
        AssertionError::Audience { .. }
    ));
    assert!(matches!(
        error(&[("aud", "[]")]),
        AssertionError::ClaimType { claim: "aud", .. }
    ));
    assert!(matches!(
        error(&[("iss", "\"X\"")]),
        AssertionError::Issuer { .. }
    ));
    assert!(matches!(
        error(&[("sub", "\"x\"")]),
        AssertionError::Subject(_)
    ));
    assert!(matches!(
        error(&[("sub", "\"X\"")]),
        AssertionError::UnknownCustomer { .. }
    ));
    assert!(matches!(
        error(&[("jti", "\"\"")]),
        AssertionError::ClaimValue { claim: "jti", .. }
    ));
    let foreign = builder().sign(&OTHER_KEY, now()).unwrap();
    assert!(matches!(
        verify(&verifier(), &foreign),
        Err(AssertionError::BadSignature)
    ));
    assert!(matches!(
        verify(&verifier(), "a.b"),
        Err(AssertionError::Malformed(_))
    ));
    let unknown = builder_with(AssertionOptions::new().key_id("k2"))
        .sign(&KEY, now())
        .unwrap();
    let found = verifier().verify(&unknown, now(), |_| {
        Some(KEY.verifying_key().with_kid("k1"))
    });
    assert!(matches!(found, Err(AssertionError::NoKey(_))));
}

#[test]
fn types_of_token() {
    let of = |typ: Option<&str>| {
        let header = typ.map_or_else(JwsHeader::new, |typ| JwsHeader::new().typ(typ));
        jws::sign(&KEY, &header, claims(&[]).as_bytes()).unwrap()
    };
    let accepted = |verifier: &Verifier| -> Vec<bool> {
        [
            Some("jwt"),
            Some("JWT"),
            Some("JwT"),
            None,
            Some("Client-Authentication+JWT"),
            Some("JOSE"),
            Some(""),
        ]
        .map(|typ| verify(verifier, &of(typ)).is_ok())
        .to_vec()
    };
    assert_eq!(
        accepted(&verifier()),
        [true, true, true, false, false, false, false]
    );
    assert_eq!(
        accepted(&verifier_with(VerifierOptions::new().typ(TypRule::Lenient))),
        [true, true, true, true, true, false, false]
    );
    assert_eq!(
        accepted(&verifier_with(VerifierOptions::new().typ(TypRule::Exact))),
        [true, false, false, false, false, false, false]
    );
}

#[test]
fn published_samples_have_a_text_as_exp() {
    let text = signed(&claims(&[("exp", "\"1795234200\"")]));
    assert!(verify(&verifier(), &text).is_err());
    let lenient = verifier_with(VerifierOptions::new().accept_text_exp(true));
    assert_eq!(verify(&lenient, &text).unwrap().expires_at(), at(NOW + 600));
    let found = |claim, value| verify(&lenient, &signed(&claims(&[(claim, value)])));
    for bad in ["\"\"", "\"soon\"", "\"1795234200 \""] {
        assert!(
            matches!(
                found("exp", bad),
                Err(AssertionError::ClaimValue { claim: "exp", .. })
            ),
            "{bad}"
        );
    }
    for bad in ["\"1795233600\"", "\"1795237201\"", "null"] {
        assert!(found("exp", bad).is_err(), "{bad}");
    }
    assert!(found("nbf", "\"1\"").is_err());
}

fn is_accepted(options: &VerifierOptions, claim: &str, value: &str) -> bool {
    verify(
        &verifier_with(options.clone()),
        &signed(&claims(&[(claim, value)])),
    )
    .is_ok()
}

#[test]
fn clocks_may_differ_by_half_a_minute_and_no_assertion_lives_longer() {
    let default = VerifierOptions::new();
    let none = VerifierOptions::new().leeway(Duration::ZERO);
    // A larger leeway is cut to the maximum.
    let most = VerifierOptions::new().leeway(Duration::MAX);
    for claim in ["nbf", "iat"] {
        for (options, ahead, accepted) in [
            (&default, 30, true),
            (&default, 31, false),
            (&none, 0, true),
            (&none, 1, false),
            (&most, 300, true),
            (&most, 301, false),
        ] {
            assert_eq!(
                is_accepted(options, claim, &(NOW + ahead).to_string()),
                accepted,
                "{claim} {ahead}"
            );
        }
    }
    for options in [&default, &none, &most] {
        assert!(
            !is_accepted(options, "exp", &NOW.to_string()),
            "expired at its own second"
        );
        assert!(is_accepted(options, "exp", &format!("{NOW}.001")));
        assert!(
            !is_accepted(options, "exp", &format!("{}.001", NOW + 3600)),
            "the cap is exact"
        );
    }
}

#[test]
fn a_tolerance_on_the_cap_is_an_option() {
    let half_a_minute = VerifierOptions::new().clock_tolerance(Duration::from_secs(30));
    let most = VerifierOptions::new().clock_tolerance(Duration::MAX);
    for (options, exp, accepted) in [
        (&half_a_minute, 3630, true),
        (&half_a_minute, 3631, false),
        (&half_a_minute, 0, false),
        (&most, 3900, true),
        (&most, 3901, false),
        (&most, 0, false),
    ] {
        assert_eq!(
            is_accepted(options, "exp", &(NOW + exp).to_string()),
            accepted,
            "{exp}"
        );
    }
}

#[test]
fn each_of_several_audiences_is_accepted_and_no_other() {
    let both = VerifierOptions::new().also_audience(Audience::parse(ISSUER).unwrap());
    for audience in [AUDIENCE, ISSUER] {
        assert!(
            is_accepted(&both, "aud", &format!("\"{audience}\"")),
            "{audience}"
        );
    }
    assert!(!is_accepted(
        &both,
        "aud",
        "\"https://elsewhere.example.com/\""
    ));
    assert!(!is_accepted(
        &VerifierOptions::new(),
        "aud",
        &format!("\"{ISSUER}\"")
    ));
    let arrays = both.clone().accept_audience_array(true);
    for (value, default, option) in [
        (format!("[\"{AUDIENCE}\"]"), false, true),
        (format!("[\"{ISSUER}\"]"), false, true),
        (format!("[\"{AUDIENCE}\",\"{ISSUER}\"]"), false, true),
        (
            format!("[\"{ISSUER}\",\"{AUDIENCE}\",\"{ISSUER}\"]"),
            false,
            true,
        ),
        (
            format!("[\"{AUDIENCE}\",\"https://elsewhere.example.com/\"]"),
            false,
            false,
        ),
        (
            format!("[\"https://elsewhere.example.com/\",\"{AUDIENCE}\"]"),
            false,
            false,
        ),
        (format!("[\"{AUDIENCE}\",1]"), false, false),
        (format!("[[\"{AUDIENCE}\"]]"), false, false),
        (
            "[\"https://elsewhere.example.com/\"]".to_owned(),
            false,
            false,
        ),
        ("[]".to_owned(), false, false),
        ("[1]".to_owned(), false, false),
    ] {
        assert_eq!(is_accepted(&both, "aud", &value), default, "{value}");
        assert_eq!(is_accepted(&arrays, "aud", &value), option, "{value}");
    }
    // The option applies to the audience only.
    assert!(!is_accepted(&arrays, "sub", "[\"CUSTOMERCODE\"]"));
    assert!(!is_accepted(&arrays, "iss", "[\"CUSTOMERCODE\"]"));
    assert!(!is_accepted(&arrays, "exp", "[\"1795234200\"]"));
}

#[test]
fn a_refusal_names_what_was_found_what_is_expected_and_the_option() {
    let both = VerifierOptions::new().also_audience(Audience::parse(ISSUER).unwrap());
    let refused = |options: &VerifierOptions, claim: &str, value: &str| {
        let assertion = signed(&claims(&[(claim, value)]));
        let error = verify(&verifier_with(options.clone()), &assertion).unwrap_err();
        assert_eq!(error.to_body().to_json(), r#"{"error":"invalid_client"}"#);
        error.to_string()
    };
    let elsewhere = "\"https://elsewhere.example.com/\"";
    for (options, value, expected, option) in [
        (
            VerifierOptions::new(),
            elsewhere.to_owned(),
            format!("\"{AUDIENCE}\""),
            "also_audience",
        ),
        (
            both.clone().lenient_clients(),
            format!("[\"{AUDIENCE}\", {elsewhere}]"),
            format!("\"{AUDIENCE}\", \"{ISSUER}\""),
            "also_audience",
        ),
        (
            both,
            format!("[\"{ISSUER}\", \"{AUDIENCE}\"]"),
            format!("\"{AUDIENCE}\", \"{ISSUER}\""),
            "accept_audience_array",
        ),
    ] {
        assert_eq!(
            refused(&options, "aud", &value),
            format!(
                "expected {expected} as the claim aud, found {value}, which VerifierOptions::{option} \
                 accepts"
            )
        );
    }
    for (claim, value, part) in [
        (
            "exp",
            format!("\"{NOW}\""),
            "VerifierOptions::accept_text_exp",
        ),
        (
            "exp",
            format!("{}", (NOW + 60) * 1000),
            "as if milliseconds were written",
        ),
        (
            "iat",
            format!("{}", NOW * 1000),
            "as if milliseconds were written",
        ),
        (
            "nbf",
            format!("{}", NOW * 1000),
            "as if milliseconds were written",
        ),
    ] {
        let error = refused(&VerifierOptions::new(), claim, &value);
        assert!(error.contains(part), "{error}");
    }
    let years = refused(
        &VerifierOptions::new(),
        "exp",
        &format!("{}", NOW + 10 * 31_536_000),
    );
    assert!(!years.contains("milliseconds"), "{years}");
}

#[test]
fn lenient_clients_are_one_option() {
    let lenient = VerifierOptions::new().lenient_clients();
    let each = VerifierOptions::new()
        .clock_tolerance(Duration::from_secs(30))
        .typ(TypRule::Lenient)
        .accept_text_exp(true)
        .accept_audience_array(true);
    assert_eq!(lenient, each);
    // Combines no `typ`, an `exp` as text an hour and half a minute ahead, and one audience in an
    // array.
    let (exp, aud) = (format!("\"{}\"", NOW + 3630), format!("[\"{AUDIENCE}\"]"));
    let odd = claims(&[
        ("exp", &exp),
        ("aud", &aud),
        ("iat", &(NOW + 30).to_string()),
    ]);
    let odd = jws::sign(&KEY, &JwsHeader::new(), odd.as_bytes()).unwrap();
    assert!(verify(&verifier_with(lenient.clone()), &odd).is_ok());
    assert!(verify(&verifier(), &odd).is_err());
    for (claim, value) in [
        ("exp", (NOW + 3631).to_string()),
        ("exp", NOW.to_string()),
        ("iat", (NOW + 31).to_string()),
    ] {
        assert!(!is_accepted(&lenient, claim, &value), "{claim} {value}");
    }
}

#[test]
fn a_verified_assertion_shows_its_other_claims() {
    let assertion = signed(&claims(&[("department", "\"treasury\""), ("iat", "1")]));
    let verified = verify(&verifier(), &assertion).unwrap();
    let claims = verified.all_claims();
    assert_eq!(
        claims.get("department").and_then(JsonValue::as_str),
        Some("treasury")
    );
    assert!(matches!(claims.get("iat"), Some(JsonValue::Number(one)) if one.as_i64() == Some(1)));
    assert!(claims.get("jti").is_none());
    assert!(!format!("{verified:?} {claims:?}").contains("treasury"));
}

#[test]
fn an_assertion_may_be_signed_with_a_key_of_any_size_from_2048_bits() {
    let key = SigningKey::generate(RsaSize::Rsa3072).unwrap();
    let public = VerifyingKey::from_pem(&key.verifying_key().to_spki_pem()).unwrap();
    let assertion = builder().sign(&key, now()).unwrap();
    assert!(
        verifier()
            .verify(&assertion, now(), |_| Some(public))
            .is_ok()
    );
}

#[test]
fn the_subject_chooses_the_keys_and_nothing_more() {
    // An assertion signed with another customer's key is refused, even if it names this customer.
    let forged = builder().sign(&OTHER_KEY, now()).unwrap();
    let verifier = verifier();
    let unverified = verifier.read(&forged).unwrap();
    assert_eq!(unverified.subject_for_key_lookup(), &customer());
    assert!(unverified.verify(&KEY.verifying_key(), now()).is_err());
    // During a rotation both keys are accepted, selected by `kid`.
    let keys = KeySet::new([
        KEY.verifying_key().with_kid("a"),
        OTHER_KEY.verifying_key().with_kid("b"),
    ])
    .unwrap();
    let named = builder_with(AssertionOptions::new().key_id("b"))
        .sign(&OTHER_KEY, now())
        .unwrap();
    assert_eq!(
        verifier
            .read(&named)
            .unwrap()
            .verify(&keys, now())
            .unwrap()
            .key_id(),
        Some("b")
    );
    assert!(
        verifier.read(&forged).unwrap().verify(&keys, now()).is_ok(),
        "without a kid, both are tried"
    );
    let misnamed = builder_with(AssertionOptions::new().key_id("a"))
        .sign(&OTHER_KEY, now())
        .unwrap();
    assert!(
        verifier
            .read(&misnamed)
            .unwrap()
            .verify(&keys, now())
            .is_err()
    );
}

#[test]
fn the_form_may_name_the_same_client() {
    let assertion = builder().sign(&KEY, now()).unwrap();
    let verified = verify(&verifier(), &assertion).unwrap();
    let request = TokenRequest::new(assertion, "A".parse().unwrap());
    assert!(verified.check_client_id(&request).is_ok());
    assert!(
        verified
            .check_client_id(&request.clone().with_client_id(&customer()))
            .is_ok()
    );
    let other = request.with_client_id(&"CUSTOMERCODE2".parse().unwrap());
    let error = verified.check_client_id(&other).unwrap_err();
    assert_eq!(
        (error.status(), error.code().as_str()),
        (401, "invalid_client")
    );
}

/// Requests as OAuth libraries send them with their default settings.
#[test]
fn what_real_clients_send() {
    let sign = |typ: Option<&str>, claims: &str| {
        let header = typ.map_or_else(JwsHeader::new, |typ| JwsHeader::new().typ(typ));
        jws::sign(&KEY, &header, claims.as_bytes()).unwrap()
    };
    let exchange = |verifier: &Verifier, content_type: &str, assertion: &str, more: &str| {
        let request = TokenRequest::new(assertion, "A B".parse().unwrap());
        let form = format!("{}{more}", request.to_form());
        let request = TokenRequest::from_form(Some(content_type), form.as_bytes()).unwrap();
        let verified = verify(verifier, request.assertion().expose_secret())?;
        verified.check_client_id(&request).map(|()| verified)
    };
    let (second, hour) = (NOW.to_string(), (NOW + 3600).to_string());
    // The first library writes `typ` in upper case, the maximum lifetime, and a charset.
    let first = sign(
        Some("JWT"),
        &claims(&[
            ("iss", "\"CUSTOMERCODE\""),
            ("iat", &second),
            ("exp", &hour),
            ("jti", "\"a\""),
        ]),
    );
    let content_type = "application/x-www-form-urlencoded;charset=UTF-8";
    assert!(exchange(&verifier(), content_type, &first, "").is_ok());
    // The second library writes no `typ`, and adds `client_id` to the form.
    let second = sign(
        None,
        &claims(&[
            ("iss", "\"CUSTOMERCODE\""),
            ("jti", "\"b\""),
            ("nbf", &second),
            ("iat", &second),
        ]),
    );
    let content_type = "application/x-www-form-urlencoded;charset=utf-8";
    assert!(
        exchange(
            &verifier(),
            content_type,
            &second,
            "&client_id=CUSTOMERCODE"
        )
        .is_err()
    );
    assert!(
        exchange(
            &verifier_with(VerifierOptions::new().typ(TypRule::Lenient)),
            content_type,
            &second,
            "&client_id=CUSTOMERCODE"
        )
        .is_ok()
    );
    assert!(
        exchange(
            &verifier_with(VerifierOptions::new().typ(TypRule::Lenient)),
            content_type,
            &second,
            "&client_id=customercode"
        )
        .is_err()
    );
}

#[test]
fn a_changed_byte_anywhere_is_refused() {
    let assertion = builder().sign(&KEY, now()).unwrap();
    assert!(verify(&verifier(), &assertion).is_ok());
    for at in 0..assertion.len() {
        let mut bytes = assertion.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        assert!(verify(&verifier(), &changed).is_err(), "byte {at}");
    }
    for length in 0..assertion.len() {
        assert!(
            verify(&verifier(), &assertion[..length]).is_err(),
            "cut to {length}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hostile_text_is_refused_and_never_panics(text in "[A-Za-z0-9_.=+/ -]{0,200}|\\PC{0,60}") {
        prop_assert!(verify(&verifier(), &text).is_err());
    }

    #[test]
    fn hostile_claims_are_read_or_refused(payload in proptest::collection::vec(any::<u8>(), 0..80)) {
        let token = jws::sign(&KEY, &JwsHeader::new().typ("jwt"), &payload).unwrap();
        prop_assert!(verify(&verifier(), &token).is_err());
    }

    #[test]
    fn an_assertion_is_good_from_its_making_to_its_end(
        made in 0_i64..4_000_000_000, lifetime in 1_u64..=3600, offset in -40_000_i64..3_605_000,
    ) {
        let made = Timestamp::from_unix_millis(made * 1000 + 999).unwrap();
        let options = AssertionOptions::new().lifetime(Duration::from_secs(lifetime)).issued_at(true);
        let assertion = builder_with(options).sign(&KEY, made).unwrap();
        let now = Timestamp::from_unix_millis(made.unix_millis() + offset).unwrap();
        let found = verifier().verify(&assertion, now, |_| Some(KEY.verifying_key()));
        let issued = made.unix_millis() - 999;
        let end = issued + i64::try_from(lifetime).unwrap() * 1000;
        // The leeway for `iat`, and the cap on `exp`.
        let begin = (issued - 30_000).max(end - 3_600_000);
        prop_assert_eq!(found.is_ok(), (begin..end).contains(&now.unix_millis()));
    }
}
