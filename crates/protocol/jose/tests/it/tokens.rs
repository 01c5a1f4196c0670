//! Making, checking and attacking tokens.

use crate::shared::{DECRYPTION, SIGNING, backends};
use bankrail_jose::jws::{self, Compact, JwsHeader, ParseError, VerifyError, VerifyOptions};
use bankrail_jose::{KeySet, RsaSize, SelectError, SigningKey, VerifyingKey, base64url};
use proptest::prelude::*;

fn token(header: &str, payload: &[u8]) -> String {
    let input = format!(
        "{}.{}",
        base64url::encode(header.as_bytes()),
        base64url::encode(payload)
    );
    let signature = SIGNING.sign(input.as_bytes()).unwrap();
    format!("{input}.{}", base64url::encode(&signature))
}

fn token_of(payload: &str) -> String {
    token(r#"{"alg":"RS256"}"#, payload.as_bytes())
}

fn verify(token: &str) -> Result<jws::Verified, VerifyError> {
    jws::verify(token, &SIGNING.verifying_key(), &VerifyOptions::default())
}

#[test]
fn the_header_is_written_in_one_order() {
    let header = JwsHeader::new()
        .kid("k\"")
        .cty("c")
        .typ("jwt")
        .member("to", "b")
        .unwrap();
    assert_eq!(
        header.to_json(None),
        r#"{"alg":"RS256","typ":"jwt","cty":"c","kid":"k\"","to":"b"}"#
    );
    assert_eq!(
        JwsHeader::new().to_json(Some("own")),
        r#"{"alg":"RS256","kid":"own"}"#
    );
    assert_eq!(
        JwsHeader::new().typ("jwt").to_json(None),
        r#"{"alg":"RS256","typ":"jwt"}"#
    );
    for name in [
        "alg", "typ", "cty", "kid", "enc", "zip", "crit", "b64", "jwk", "jku", "x5u", "x5c",
    ] {
        assert!(JwsHeader::new().member(name, "x").is_err(), "{name}");
    }
    assert!(
        JwsHeader::new()
            .member("to", "a")
            .unwrap()
            .member("to", "b")
            .is_err()
    );
}

#[test]
fn what_is_signed_is_verified_with_every_back_end() {
    for options in backends() {
        let key =
            VerifyingKey::from_public_key(SIGNING.verifying_key().public_key().clone(), &options)
                .unwrap();
        for payload in [&b""[..], b"{}", &[0xff; 3000]] {
            let token = jws::sign(&SIGNING, &JwsHeader::new(), payload).unwrap();
            let verified = jws::verify(&token, &key, &VerifyOptions::default()).unwrap();
            assert_eq!(verified.payload(), payload);
            assert_eq!(*verified.into_payload(), payload);
        }
    }
}

#[test]
fn the_kid_selects_and_a_wrong_key_is_refused() {
    let keys = ["a", "b"].map(|kid| {
        SigningKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .with_kid(kid)
    });
    let set = KeySet::new(keys.iter().map(SigningKey::verifying_key)).unwrap();
    let check = |token: &str| jws::verify(token, &set, &VerifyOptions::default());
    let token = jws::sign(&keys[1], &JwsHeader::new(), b"x").unwrap();
    assert_eq!(check(&token).unwrap().key().kid(), Some("b"));
    let token = jws::sign(&keys[1], &JwsHeader::new().kid("a"), b"x").unwrap();
    assert!(matches!(check(&token), Err(VerifyError::BadSignature)));
    let token = jws::sign(&keys[1], &JwsHeader::new().kid("c"), b"x").unwrap();
    assert!(matches!(
        check(&token),
        Err(VerifyError::NoKey(SelectError::UnknownKid { keys: 2 }))
    ));
    let input = jws::prepare(&JwsHeader::new(), None, b"x");
    let signature = keys[1].sign(input.request().message()).unwrap();
    let token = input.finish(&signature, &keys[1].verifying_key()).unwrap();
    assert_eq!(
        check(&token).unwrap().key().kid(),
        Some("b"),
        "without kid both are tried"
    );
    assert!(matches!(
        check(&jws::sign(&SIGNING, &JwsHeader::new(), b"x").unwrap()),
        Err(VerifyError::BadSignature)
    ));
}

#[test]
fn a_token_has_at_most_64_kib_and_a_header_of_4_kib_by_default() {
    let header = |bytes: usize| {
        let json = format!(r#"{{"alg":"RS256","x":"{}"}}"#, "x".repeat(bytes - 22));
        assert_eq!(json.len(), bytes);
        base64url::encode(json.as_bytes())
    };
    let parse = |token: &str| Compact::parse(token, &VerifyOptions::default()).map(drop);
    assert!(parse(&format!("{}..", header(4096))).is_ok());
    assert!(matches!(
        parse(&format!("{}..", header(4097))),
        Err(ParseError::Header(_))
    ));
    // The header is a multiple of four characters long, and so is the payload.
    let token = |signature: &str| {
        format!(
            "{}.{}.{signature}",
            header(24),
            "A".repeat(65_536 - 32 - 2 - 4)
        )
    };
    assert_eq!(token("AAAA").len(), 65_536);
    assert!(parse(&token("AAAA")).is_ok());
    let longer = parse(&format!("{}A", token("AAAA")));
    assert!(matches!(
        longer,
        Err(ParseError::TooLong {
            found: 65_537,
            max: 65_536
        })
    ));
    let good = token_of("{}");
    assert!(Compact::parse(&good, &VerifyOptions::new().max_token_bytes(good.len())).is_ok());
}

/// The room is reserved in advance, because growth would leave copies of the payload behind.
#[test]
fn a_token_is_written_into_room_for_the_longest_signature_and_a_cipher_s_padding() {
    for payload in [0, 1, 2, 3, 1000] {
        let token = jws::sign(&SIGNING, &JwsHeader::new().kid("k"), &vec![b'x'; payload]).unwrap();
        let (signature, longest) = (342, 683);
        assert!(
            token.capacity() >= token.len() - signature + longest + 16,
            "{payload}"
        );
        assert!(
            token.capacity() <= token.len() - signature + longest + 17,
            "{payload}"
        );
    }
    let prepared = jws::prepare(&JwsHeader::new(), None, b"secret");
    assert_eq!(
        format!("{prepared:?}"),
        format!("Prepared {{ len: {} }}", prepared.request().message().len())
    );
}

#[test]
fn shapes_that_are_not_a_token_are_refused_before_any_key_is_used() {
    let good = token(r#"{"alg":"RS256"}"#, b"{}");
    assert!(verify(&good).is_ok());
    let parts: Vec<&str> = good.split('.').collect();
    let (header, payload, signature) = (parts[0], parts[1], parts[2]);
    let cases = [
        (String::new(), "Parts"),
        ("..".into(), "Header"),
        (format!("{header}.{payload}"), "Parts"),
        (format!("{good}."), "Parts"),
        (format!("{good}.x"), "Parts"),
        (format!("{header}.{payload}."), "BadSignature"),
        (
            format!("{header}.{payload}.{signature}="),
            r#"NotBase64url { part: "signature" }"#,
        ),
        (
            format!("{header}.{payload}\n.{signature}"),
            r#"NotBase64url { part: "payload" }"#,
        ),
        (format!(" {good}"), "NotBase64url"),
        (format!("{good}\n"), "NotBase64url"),
        (format!("{header}=.{payload}.{signature}"), "NotBase64url"),
        (
            format!("{header}.{payload}.{}", &signature[..signature.len() - 1]),
            "NotBase64url",
        ),
        (".".repeat(60_000), "Parts { found: 60001 }"),
        (".".repeat(70_000), "TooLong"),
        (
            format!("{}.{payload}.{signature}", "A".repeat(60_000)),
            "TooLong",
        ),
    ];
    for (token, expected) in cases {
        let error = format!("{:?}", verify(&token).unwrap_err());
        assert!(error.contains(expected), "{error} for {token:.80}");
    }
    let long =
        Compact::parse(&good, &VerifyOptions::new().max_token_bytes(good.len() - 1)).unwrap_err();
    assert!(matches!(long, ParseError::TooLong { .. }));
}

#[test]
fn signed_headers_outside_the_profile_are_refused_all_the_same() {
    for header in [
        r#"{"alg":"none"}"#,
        r#"{"alg":"RS512"}"#,
        r#"{"alg":"RS256","b64":false,"crit":["b64"]}"#,
        r#"{"alg":"RS256","jwk":{"kty":"RSA"}}"#,
        r#"{"alg":"RS256","alg":"RS256"}"#,
        r#"{"alg":"RS256","enc":"A256CBC-HS512"}"#,
    ] {
        assert!(
            matches!(
                verify(&token(header, b"{}")),
                Err(VerifyError::Malformed(_))
            ),
            "{header}"
        );
    }
}

#[test]
fn a_public_key_used_as_an_hmac_secret_gets_nowhere() {
    let input = format!("{}.e30", base64url::encode(br#"{"alg":"HS256"}"#));
    let forged = format!("{input}.{}", base64url::encode(&[0; 32]));
    assert!(matches!(
        verify(&forged),
        Err(VerifyError::Malformed(ParseError::Header(_)))
    ));
    assert_ne!(SIGNING.thumbprint(), DECRYPTION.thumbprint());
}

#[test]
fn every_single_bit_flip_is_refused() {
    let good = token(r#"{"alg":"RS256"}"#, b"{}").into_bytes();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut flipped = good.clone();
            flipped[at] ^= 1 << bit;
            let Ok(flipped) = String::from_utf8(flipped) else {
                continue;
            };
            assert!(verify(&flipped).is_err(), "byte {at} bit {bit}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_refused_without_panic(text in "[A-Za-z0-9_.{}\":=-]{0,120}") {
        prop_assert!(verify(&text).is_err());
    }

    #[test]
    fn any_header_text_is_refused_or_is_the_profile(
        header in "\\{(\"(alg|kid|typ|crit|enc)\":(\"RS256\"|\"x\"|1|null|\\[\\]),?){0,4}\\}",
    ) {
        if let Ok(verified) = verify(&token(&header, b"{}")) {
            prop_assert_eq!(verified.header().member_text("alg"), Some("RS256"));
            prop_assert!(verified.header().member_json("crit").or(verified.header().member_json("enc")).is_none());
        }
    }
}
