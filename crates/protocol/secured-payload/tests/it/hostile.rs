//! Messages of an outsider: any bytes encrypted to our encryption key, and any text.

use crate::shared::{Keys, SIGNING, backends, compact, outsider, parts};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::{RsaSize, SigningKey, base64url};
use bankrail_secured_payload::{MalformedMessageError, OpenError, OpenErrorKind, OpenOptions};
use proptest::prelude::*;

fn signed(payload: &[u8]) -> Vec<u8> {
    jws::sign(&SIGNING, &JwsHeader::new().typ("JWT"), payload)
        .unwrap()
        .into_bytes()
}

/// Returns everything that an error shows.
fn seen(error: &OpenError) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    format!(
        "{error} {error:?} {error:#?} {source:?} {:?} {} {}",
        error.kind(),
        error.http_status(),
        error.public_message()
    )
}

/// Returns messages that fail somewhere between RSA-OAEP and the inner signature.
fn rejected() -> Vec<(&'static str, String)> {
    let good = signed(b"{}");
    let stranger = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let stranger = jws::sign(&stranger, &JwsHeader::new(), b"{}").unwrap();
    let sealed = outsider::encrypt(outsider::HEADER, &good);
    let change = |part: usize, at: usize| {
        let mut parts = parts(&sealed);
        parts[part][at] ^= 1;
        compact(&parts)
    };
    let zip = outsider::HEADER.replace('}', r#","zip":"DEF"}"#);
    let inner = |header: &str| {
        let input = format!("{}.e30", base64url::encode(header.as_bytes()));
        let signature = SIGNING.sign(input.as_bytes()).unwrap();
        outsider::encrypt(
            outsider::HEADER,
            format!("{input}.{}", base64url::encode(&signature)).as_bytes(),
        )
    };
    let (_, rest) = sealed.split_once('.').unwrap();
    let respaced = format!(
        "{}.{rest}",
        base64url::encode(outsider::HEADER.replace(',', ", ").as_bytes())
    );
    let blocks = |key: &[u8]| outsider::assemble(outsider::HEADER, key, &[5; 64]);
    vec![
        ("encrypted key", change(1, 100)),
        ("encrypted key, first byte", change(1, 0)),
        ("initialisation vector", change(2, 3)),
        ("ciphertext", change(3, 20)),
        (
            "ciphertext, last block: padding and tag",
            change(3, parts(&sealed)[3].len() - 17),
        ),
        ("tag", change(4, 31)),
        ("header bytes", respaced),
        ("padding wrong under a right tag", blocks(&outsider::KEY)),
        ("content key of 32 bytes", blocks(&[7; 32])),
        ("content key of 65 bytes", blocks(&[7; 65])),
        ("content key of no byte", blocks(&[])),
        ("plain text empty", outsider::encrypt(outsider::HEADER, b"")),
        (
            "plain text not a signature",
            outsider::encrypt(outsider::HEADER, b"{}"),
        ),
        (
            "plain text not UTF-8",
            outsider::encrypt(outsider::HEADER, b"\xff\xfe"),
        ),
        (
            "signature of a stranger",
            outsider::encrypt(outsider::HEADER, stranger.as_bytes()),
        ),
        (
            "signature cut",
            outsider::encrypt(outsider::HEADER, &good[..good.len() - 4]),
        ),
        (
            "signature with a space",
            outsider::encrypt(outsider::HEADER, &[&good[..], b" "].concat()),
        ),
        ("inner alg none", inner(r#"{"alg":"none"}"#)),
        ("inner alg RS512", inner(r#"{"alg":"RS512"}"#)),
        ("inner crit", inner(r#"{"alg":"RS256","crit":["x"],"x":1}"#)),
        (
            "inner b64",
            inner(r#"{"alg":"RS256","b64":false,"crit":["b64"]}"#),
        ),
        ("inner jwk", inner(r#"{"alg":"RS256","jwk":{}}"#)),
        ("inner duplicate", inner(r#"{"alg":"RS256","alg":"RS256"}"#)),
        (
            "a message in a message",
            outsider::encrypt(outsider::HEADER, sealed.as_bytes()),
        ),
        ("not deflated", outsider::encrypt(&zip, &good)),
        ("deflated nothing", outsider::encrypt(&zip, &[3, 0])),
    ]
}

#[test]
fn every_cryptographic_failure_is_one_value() {
    for keys in backends() {
        let opener = keys.customer();
        assert!(
            opener
                .open(&outsider::encrypt(outsider::HEADER, &signed(b"{}")))
                .is_ok()
        );
        for (name, message) in rejected() {
            let error = opener.open(&message).expect_err(name);
            assert_eq!(seen(&error), seen(&OpenError::Rejected), "{name}");
        }
    }
}

#[test]
fn shapes_lengths_and_headers_are_refused_before_any_key_is_used() {
    let keys = backends().next().unwrap();
    let good = keys.sealer().seal(b"{}").unwrap();
    let lengths = |part: usize, bytes: usize| {
        let mut parts = parts(&good);
        parts[part].resize(bytes, 0);
        compact(&parts)
    };
    let header = |json: &str| {
        let (_, rest) = good.split_once('.').unwrap();
        format!("{}.{rest}", base64url::encode(json.as_bytes()))
    };
    let bare = String::from_utf8(signed(b"{}")).unwrap();
    let malformed = [
        String::new(),
        "....".into(),
        format!("{good}."),
        format!("{good}.x"),
        good.replacen('.', "", 1),
        format!("{good}="),
        format!("{good} "),
        format!("\n{good}"),
        good.replacen('.', "=.", 1),
        lengths(1, 255),
        lengths(1, 257),
        lengths(1, 0),
        lengths(2, 15),
        lengths(2, 0),
        lengths(3, 0),
        lengths(3, 15),
        lengths(3, 17),
        lengths(4, 16),
        lengths(4, 0),
        lengths(4, 33),
        lengths(4, 64),
        header("{}x"),
        header("[]"),
        header(r#"{"alg":"RSA-OAEP","alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#),
        header(r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","\u0065nc":"A256CBC-HS512"}"#),
        header(&format!(
            r#"{{"alg":"RSA-OAEP","enc":"A256CBC-HS512","x":"{}"}}"#,
            "x".repeat(5000)
        )),
        ".".repeat(500_000),
        "A".repeat(600_000),
    ];
    for message in malformed {
        let error = keys.opener().open(&message).unwrap_err();
        assert_eq!(
            error.kind(),
            OpenErrorKind::Malformed,
            "{message:.60} {error}"
        );
        assert_eq!(
            (error.http_status(), error.public_message()),
            (400, OpenError::Rejected.public_message())
        );
    }
    for json in [
        r#"{"enc":"A256CBC-HS512"}"#,
        r#"{"alg":"RSA-OAEP"}"#,
        r#"{"alg":"RSA1_5","enc":"A256CBC-HS512"}"#,
        r#"{"alg":"RSA-OAEP-256","enc":"A256CBC-HS512"}"#,
        r#"{"alg":"PBES2-HS512+A256KW","enc":"A256CBC-HS512","p2c":2147483647,"p2s":"AA"}"#,
        r#"{"alg":"RSA-OAEP","enc":"A256GCM"}"#,
        r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","crit":["exp"],"exp":1}"#,
        r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","jwk":{"kty":"RSA"}}"#,
        r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","jku":"http://127.0.0.1/"}"#,
        r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","zip":"DEF"}"#,
    ] {
        let error = keys.opener().open(&header(json)).unwrap_err();
        assert_eq!(error.kind(), OpenErrorKind::UnsupportedHeader, "{json}");
        assert_eq!(
            (error.http_status(), error.public_message()),
            (400, OpenError::Rejected.public_message())
        );
    }
    assert!(matches!(
        keys.opener().open(&bare),
        Err(OpenError::Malformed(MalformedMessageError::BareSignature))
    ));
    assert!(matches!(
        keys.opener().open(r#" {"protected":""}"#),
        Err(OpenError::Malformed(MalformedMessageError::JsonForm))
    ));
    for (bytes, found) in [
        (524_288, "expected five parts separated by dots, found 1"),
        (
            524_289,
            "expected a message of at most 524288 bytes, found 524289",
        ),
    ] {
        assert_eq!(
            keys.opener()
                .open(&"A".repeat(bytes))
                .unwrap_err()
                .to_string(),
            found
        );
    }
    let seven = keys.opener().open("A.A.A.A.A.A.A").unwrap_err();
    assert_eq!(
        seven.to_string(),
        "expected five parts separated by dots, found 7"
    );
    let exact = keys.opener_with(OpenOptions::new().max_message_bytes(good.len()));
    assert!(exact.open(&good).is_ok());
    let small = keys.opener_with(OpenOptions::new().max_message_bytes(good.len() - 1));
    assert!(matches!(
        small.open(&good),
        Err(OpenError::Malformed(MalformedMessageError::TooLong { .. }))
    ));
}

#[test]
fn inflating_stops_at_the_bound() {
    let keys = backends().next().unwrap();
    let zip = outsider::HEADER.replace('}', r#","zip":"DEF"}"#);
    let json = format!("\"{}\"", "x".repeat(1000));
    let token = signed(json.as_bytes());
    let deflated = |plain: &[u8]| {
        let mut stream =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut stream, plain).unwrap();
        stream.finish().unwrap()
    };
    let message = outsider::encrypt(&zip, &deflated(&token));
    let open = |max| {
        keys.opener_with(OpenOptions::new().max_inflated_bytes(Some(max)))
            .open(&message)
    };
    assert_eq!(open(token.len()).unwrap().json(), json.as_bytes());
    assert_eq!(
        seen(&open(token.len() - 1).unwrap_err()),
        seen(&OpenError::Rejected)
    );
    let bomb = outsider::encrypt(&zip, &deflated(&vec![b'a'; 20 << 20]));
    assert_eq!(
        seen(&keys.customer().open(&bomb).unwrap_err()),
        seen(&OpenError::Rejected)
    );
    let trailing = outsider::encrypt(&zip, &[&deflated(&token)[..], b"x"].concat());
    assert_eq!(
        seen(&keys.customer().open(&trailing).unwrap_err()),
        seen(&OpenError::Rejected)
    );
}

#[test]
fn every_single_bit_flip_of_a_message_is_refused() {
    std::thread::scope(|scope| {
        backends().for_each(|keys| drop(scope.spawn(move || refuses_every_bit_flip(&keys))))
    });
}

fn refuses_every_bit_flip(keys: &Keys) {
    let good = keys.sealer().seal(b"{}").unwrap();
    let opener = keys.customer();
    // This loop flips one bit of each character of the text, the next one each bit of the decoded
    // parts.
    for at in 0..good.len() {
        let mut flipped = good.clone().into_bytes();
        flipped[at] ^= 1 << (at % 8);
        let Ok(flipped) = String::from_utf8(flipped) else {
            continue;
        };
        assert!(opener.open(&flipped).is_err(), "character {at}");
    }
    let bytes = parts(&good);
    for part in 1..5 {
        for at in 0..bytes[part].len() * 8 {
            let mut flipped = bytes.clone();
            flipped[part][at / 8] ^= 1 << (at % 8);
            let error = opener.open(&compact(&flipped)).unwrap_err();
            assert_eq!(
                seen(&error),
                seen(&OpenError::Rejected),
                "part {part} bit {at}"
            );
        }
    }
}

#[test]
fn ten_thousand_truncations_are_refused() {
    for keys in backends() {
        let good = keys.sealer().seal(b"{\"a\":1}").unwrap();
        let opener = keys.customer();
        // The sequence is pseudo-random and fixed, so that a failure can be repeated.
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        for _ in 0..10_000 {
            let (from, to) = (next(good.len() / 4), next(good.len()));
            let cut = if from % 2 == 0 {
                &good[..to]
            } else {
                good.get(from..to).unwrap_or_default()
            };
            let error = opener.open(cut).unwrap_err();
            assert_ne!(error.kind(), OpenErrorKind::PayloadInvalid);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_refused_without_panic(text in "[A-Za-z0-9_.{}\":=-]{0,200}") {
        prop_assert!(backends().next().unwrap().customer().open(&text).is_err());
    }

    #[test]
    fn any_plain_text_of_an_outsider_is_refused_alike(
        plain in prop::collection::vec(any::<u8>(), 0..100), zip in any::<bool>(),
    ) {
        let header = if zip { outsider::HEADER.replace('}', r#","zip":"DEF"}"#) } else { outsider::HEADER.into() };
        let error = backends().next().unwrap().customer().open(&outsider::encrypt(&header, &plain)).unwrap_err();
        prop_assert_eq!(seen(&error), seen(&OpenError::Rejected));
    }
}

#[test]
fn what_is_malformed_is_named_with_its_length() {
    let keys = backends().next().unwrap();
    let sealed = outsider::encrypt(outsider::HEADER, &signed(b"{}"));
    let with = |part: usize, text: String| {
        let mut parts: Vec<&str> = sealed.split('.').collect();
        parts[part] = &text;
        parts.join(".")
    };
    let bytes = |part, length| with(part, base64url::encode(&vec![7; length]));
    let header = |json: &str| with(0, base64url::encode(json.as_bytes()));
    let [lenient, strict] =
        [false, true].map(|cty| keys.opener_with(OpenOptions::new().require_cty(cty)));
    for (opener, message, expected) in [
        (
            &lenient,
            with(0, "!".into()),
            "expected the header in canonical base64url without padding",
        ),
        (
            &lenient,
            with(1, "!".into()),
            "expected the encrypted key in canonical base64url without padding",
        ),
        (
            &lenient,
            with(2, "!".into()),
            "expected the initialisation vector in canonical base64url without padding",
        ),
        (
            &lenient,
            with(3, "!".into()),
            "expected the ciphertext in canonical base64url without padding",
        ),
        (
            &lenient,
            with(4, "!".into()),
            "expected the authentication tag in canonical base64url without padding",
        ),
        (
            &lenient,
            bytes(1, 255),
            "expected as many bytes as the key's modulus as encrypted key, found 255 bytes",
        ),
        (
            &lenient,
            bytes(2, 15),
            "expected 16 bytes as initialisation vector, found 15 bytes",
        ),
        (
            &lenient,
            bytes(3, 0),
            "expected one or more blocks of 16 bytes as ciphertext, found 0 bytes",
        ),
        (
            &lenient,
            bytes(3, 17),
            "expected one or more blocks of 16 bytes as ciphertext, found 17 bytes",
        ),
        (
            &lenient,
            bytes(4, 33),
            "expected 32 bytes as authentication tag, found 33 bytes",
        ),
        (
            &strict,
            sealed.clone(),
            r#"expected a header member "cty", found none"#,
        ),
        (
            &lenient,
            header(r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","cty":"JWS"}"#),
            r#"expected "JWT" as header member "cty", found "JWS""#,
        ),
    ] {
        let error = opener.open(&message).unwrap_err();
        assert_eq!(bankrail_values::causes(&error).to_string(), expected);
    }
}
