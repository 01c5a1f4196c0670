//! Sealing and opening messages.

use crate::shared::{DECRYPTION, SIGNING, backends, outsider, parts};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::remote::RemoteError;
use bankrail_jose::{
    DecryptionKey, KeyError, KeySet, Role, RsaSize, SelectError, SigningKey, base64url,
};
use bankrail_secured_payload::{
    OpenError, OpenErrorKind, OpenOptions, Opened, Opener, Recipient, SealError, SealOptions,
    Sealer, SecuredPayload, UnsignedMessage, unverified_kid,
};
use bankrail_values::MAX_MESSAGE_BYTES;
use bankrail_values::json::{self, JsonLimits};
use proptest::prelude::*;

fn signed(payload: &[u8]) -> String {
    jws::sign(&SIGNING, &JwsHeader::new(), payload).unwrap()
}

#[test]
fn handles_are_shared_values() {
    fn check<T: std::fmt::Debug + Send + Sync + 'static>() {}
    check::<Sealer>();
    check::<Opener>();
    check::<Opened>();
    check::<OpenError>();
    check::<SealError>();
}

#[test]
fn what_one_back_end_seals_every_back_end_opens() {
    for sealing in backends() {
        let compact = sealing
            .sealer()
            .seal(b"{\"a\":\"\xf0\x9f\x98\x80\"}")
            .unwrap();
        for opening in backends() {
            let opened = opening.opener().open(&compact).unwrap();
            assert_eq!(opened.json(), b"{\"a\":\"\xf0\x9f\x98\x80\"}");
            assert_eq!(opened.signing_key().thumbprint(), SIGNING.thumbprint());
            assert_eq!(
                opened.encryption_key().thumbprint(),
                DECRYPTION.thumbprint()
            );
        }
    }
}

#[test]
fn the_headers_are_the_specification_s() {
    let keys = backends().next().unwrap();
    let compact = keys.sealer().seal(b"{}").unwrap();
    assert_eq!(
        parts(&compact)[0],
        br#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","cty":"JWT"}"#
    );
    assert_eq!(
        keys.opener().open(&compact).unwrap().signed_header().typ(),
        Some("JWT")
    );

    let (signing, encryption) = (
        keys.signing.clone().with_kid("s"),
        keys.encryption().with_kid("w"),
    );
    let options = SealOptions::new().deflate(true).cty(false);
    let compact = Sealer::new(signing, encryption, options)
        .seal(b"{}")
        .unwrap();
    assert_eq!(
        parts(&compact)[0],
        br#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","zip":"DEF","kid":"w"}"#
    );
    let opened = keys.customer().open(&compact).unwrap();
    assert_eq!(opened.signed_header().kid(), Some("s"));
    assert_eq!(
        keys.opener().open(&compact).unwrap_err().kind(),
        OpenErrorKind::UnsupportedHeader
    );
}

#[test]
fn a_signing_key_of_another_size_than_2048_or_4096_bits_neither_seals_nor_opens() {
    for (size, accepted) in [(RsaSize::Rsa3072, false), (RsaSize::Rsa4096, true)] {
        let signing = SigningKey::generate(size).unwrap();
        let sealed = Sealer::new(
            signing.clone(),
            DECRYPTION.encryption_key(),
            SealOptions::new(),
        )
        .seal(b"{}");
        match sealed {
            Ok(_) => assert!(accepted, "{size:?}"),
            Err(error) => assert!(
                !accepted && matches!(error, SealError::SigningKeySize { bits: 3072 }),
                "{error}"
            ),
        }
        // A receiver refuses such a key.
        let opener = Opener::new(
            DECRYPTION.clone(),
            signing.verifying_key(),
            OpenOptions::new(),
        );
        match opener {
            Ok(_) => assert!(accepted, "{size:?}"),
            Err(error) => {
                assert!(
                    !accepted
                        && matches!(
                            error,
                            KeyError::Size {
                                bits: 3072,
                                role: Role::Verify,
                                ..
                            }
                        )
                );
                assert_eq!(
                    error.to_string(),
                    "expected a modulus of 2048 or 4096 bits for verifying, found 3072"
                );
            }
        }
        let two = KeySet::new([SIGNING.verifying_key(), signing.verifying_key()]).unwrap();
        assert_eq!(
            Opener::new(DECRYPTION.clone(), two, OpenOptions::new()).is_ok(),
            accepted,
            "{size:?}"
        );
        // If such a key replaces another one, no message that it signs is opened.
        let theirs = KeySet::from(SIGNING.verifying_key());
        let opener = Opener::new(DECRYPTION.clone(), theirs.clone(), OpenOptions::new()).unwrap();
        theirs.replace([signing.verifying_key()]).unwrap();
        let signed = jws::sign(&signing, &JwsHeader::new(), b"{}").unwrap();
        let opened = opener.open(&outsider::encrypt(outsider::HEADER, signed.as_bytes()));
        assert_eq!(
            opened.err().map(|error| error.kind()),
            (!accepted).then_some(OpenErrorKind::Rejected),
            "{size:?}"
        );
    }
}

#[test]
fn a_message_is_written_into_the_room_that_it_needs() {
    let keys = backends().next().unwrap();
    for payload in ["1", "12", "123", "1234"] {
        let sealed = keys.sealer().seal(payload.as_bytes()).unwrap();
        assert_eq!(sealed.capacity(), sealed.len(), "{payload}");
        assert_eq!(
            keys.opener().open(&sealed).unwrap().into_json(),
            payload.as_bytes()
        );
    }
}

#[test]
fn both_headers_have_at_most_4_kib_by_default() {
    let keys = backends().next().unwrap();
    let with = |header: &str, bytes: usize| {
        header.replace(
            '}',
            &format!(r#","x":"{}"}}"#, "x".repeat(bytes - header.len() - 7)),
        )
    };
    let outer = |bytes: usize| {
        let header = with(outsider::HEADER, bytes);
        assert_eq!(header.len(), bytes);
        keys.opener()
            .open(&outsider::encrypt(&header, signed(b"{}").as_bytes()))
    };
    assert!(outer(4096).is_ok());
    assert_eq!(outer(4097).unwrap_err().kind(), OpenErrorKind::Malformed);
    let inner = |bytes: usize| {
        let header = with(r#"{"alg":"RS256"}"#, bytes);
        let input = format!("{}.e30", base64url::encode(header.as_bytes()));
        let signature = base64url::encode(&SIGNING.sign(input.as_bytes()).unwrap());
        keys.opener().open(&outsider::encrypt(
            outsider::HEADER,
            format!("{input}.{signature}").as_bytes(),
        ))
    };
    assert!(inner(4096).is_ok());
    assert!(matches!(inner(4097), Err(OpenError::Rejected)));
}

#[test]
fn each_error_says_what_the_sender_may_know_and_whether_a_retry_can_help() {
    let remote = |error: RemoteError| OpenError::from(error);
    let invalid = "the secured payload is not valid";
    let busy = "the payload cannot be processed at present";
    let json = json::check(b"{", &JsonLimits::new()).unwrap_err();
    for (error, message, status, retryable) in [
        (OpenError::Rejected, invalid, 400, false),
        (OpenError::OtherType, invalid, 400, false),
        (
            OpenError::from(SelectError::UnknownKid { keys: 1 }),
            invalid,
            400,
            false,
        ),
        (
            OpenError::PayloadInvalid(json),
            "the payload is not valid JSON",
            400,
            false,
        ),
        (remote(RemoteError::retryable("busy")), busy, 500, true),
        (remote(RemoteError::permanent("gone")), busy, 500, false),
    ] {
        assert_eq!(
            (error.public_message(), error.http_status()),
            (message, status),
            "{error}"
        );
        assert_eq!(error.is_retryable(), retryable, "{error}");
    }
    let unnamed = OpenError::NoSigningKey {
        kid: None,
        known: r#""a", "b""#.to_owned(),
        reason: SelectError::KidRequired { keys: 5 },
    };
    assert_eq!(
        unnamed.to_string(),
        "expected a kid in the token, as 5 keys are too many to try, found none; the keys at \
         hand are \"a\", \"b\"; remove those that the sender no longer uses"
    );
}

#[test]
fn every_message_has_keys_of_its_own() {
    let sealer = backends().next().unwrap().sealer();
    let [one, two] = [(); 2].map(|()| parts(&sealer.seal(b"{}").unwrap()));
    assert_eq!(one[0], two[0]);
    for part in 1..5 {
        assert_ne!(one[part], two[part], "part {part}");
    }
}

#[test]
fn only_json_within_the_bound_is_sealed() {
    let keys = backends().next().unwrap();
    let options = SealOptions::new().max_payload_bytes(10);
    let sealer = Sealer::new(keys.signing.clone(), keys.encryption(), options);
    assert!(sealer.seal(br#"{"a":1234}"#).is_ok());
    assert!(matches!(
        sealer.seal(br#"{"a":12345}"#),
        Err(SealError::TooLong { found: 11, max: 10 })
    ));
    for text in [&b""[..], b"{", b"{} x", b"\"\xff\"", b"{}{}"] {
        assert!(
            matches!(sealer.seal(text), Err(SealError::NotJson(_))),
            "{}",
            text.escape_ascii()
        );
    }
}

/// The defaults of both sides match: the longest message that is sealed is opened, compressed or
/// not.
#[test]
fn the_longest_message_is_opened_by_a_customer() {
    let keys = backends().next().unwrap();
    let longest = format!("\"{}\"", "a".repeat(MAX_MESSAGE_BYTES - 2));
    let longer = keys.sealer().seal(format!("{longest} ").as_bytes());
    let max = MAX_MESSAGE_BYTES;
    assert!(
        matches!(longer, Err(SealError::TooLong { found, max: most }) if (found, most) == (max + 1, max))
    );
    for options in [SealOptions::new(), SealOptions::new().deflate(true)] {
        let sealed = Sealer::new(keys.signing.clone(), keys.encryption(), options)
            .seal(longest.as_bytes())
            .unwrap();
        assert_eq!(
            keys.customer().open(&sealed).unwrap().json(),
            longest.as_bytes()
        );
    }
}

#[test]
fn keys_rotate_while_in_use() {
    let [old, new] = ["old", "new"].map(|kid| {
        DecryptionKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .with_kid(kid)
    });
    let [was, is] = ["was", "is"].map(|kid| {
        SigningKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .with_kid(kid)
    });
    let ours = KeySet::new([old.clone(), new.clone()]).unwrap();
    let theirs = KeySet::new([was.verifying_key(), is.verifying_key()]).unwrap();
    let opener = Opener::new(ours.clone(), theirs.clone(), OpenOptions::new()).unwrap();
    for (signing, decryption) in [(&was, &old), (&is, &new)] {
        let named = Sealer::new(
            signing.clone(),
            decryption.encryption_key(),
            SealOptions::new(),
        )
        .seal(b"{}")
        .unwrap();
        let opened = opener.open(&named).unwrap();
        assert_eq!(
            (opened.signing_kid(), opened.encryption_kid()),
            (signing.kid(), decryption.kid())
        );
    }
    // All keys are tried for a sender without `kid`.
    let nameless = SigningKey::from_pem(&is.to_pkcs8_pem()).unwrap();
    let encryption =
        bankrail_jose::EncryptionKey::from_pem(&new.encryption_key().to_spki_pem()).unwrap();
    let compact = Sealer::new(nameless, encryption, SealOptions::new())
        .seal(b"{}")
        .unwrap();
    let opened = opener.open(&compact).unwrap();
    assert_eq!(
        (opened.signing_kid(), opened.encryption_kid()),
        (Some("is"), Some("new"))
    );

    // The sender's keys are replaced in all clones of its sealer.
    let sealer = Sealer::new(was.clone(), old.encryption_key(), SealOptions::new());
    let in_use = sealer.clone();
    let kids = |sealer: &Sealer| {
        let opened = opener.open(&sealer.seal(b"{}").unwrap()).unwrap();
        (
            opened.signing_kid().unwrap().to_owned(),
            opened.encryption_kid().unwrap().to_owned(),
        )
    };
    assert_eq!(kids(&in_use), ("was".to_owned(), "old".to_owned()));
    sealer.replace_signing_key(is.clone());
    assert_eq!(kids(&in_use), ("is".to_owned(), "old".to_owned()));
    sealer.replace_encryption_key(new.encryption_key());
    assert_eq!(
        (kids(&in_use), kids(&sealer)),
        (("is".to_owned(), "new".to_owned()), kids(&in_use))
    );

    let late = Sealer::new(was, old.encryption_key(), SealOptions::new())
        .seal(b"{}")
        .unwrap();
    theirs.replace([is.verifying_key()]).unwrap();
    let error = opener.open(&late).expect_err("a signing key that is gone");
    assert_eq!(
        error.to_string(),
        "none of 1 keys has the token's kid, found the kid \"was\"; the keys at hand are \"is\"; if one \
         of them is the sender's, name it (in a folder, its file) as the sender does"
    );
    assert_eq!(error.kind(), OpenErrorKind::NoSigningKey);
    assert_eq!(
        (error.http_status(), error.public_message()),
        (400, OpenError::Rejected.public_message())
    );
    assert_eq!(unverified_kid(&late).as_deref(), Some("\"old\""));
    ours.replace([new]).unwrap();
    assert!(matches!(
        opener.open(&late),
        Err(OpenError::NoKey(SelectError::UnknownKid { keys: 1 }))
    ));
    assert!(opener.open(&compact).is_ok());
}

#[test]
fn a_message_for_another_recipient_is_refused_if_required() {
    let keys = backends().next().unwrap();
    let options = SealOptions::new().recipient("aud", "biller-1").unwrap();
    let compact = Sealer::new(keys.signing.clone(), keys.encryption(), options)
        .seal(br#"{"to":"b2"}"#)
        .unwrap();
    let open = |recipient| {
        keys.opener_with(OpenOptions::new().recipient(recipient))
            .open(&compact)
    };
    assert!(open(Recipient::header("aud", "biller-1")).is_ok());
    assert!(open(Recipient::claim("to", "b2")).is_ok());
    for recipient in [
        Recipient::header("aud", "biller-2"),
        Recipient::header("aud", "BILLER-1"),
        Recipient::claim("to", "B2"),
        Recipient::header("to", "b2"),
        Recipient::claim("to", "b1"),
        Recipient::claim("aud", "biller-1"),
    ] {
        assert_eq!(
            open(recipient.clone()).unwrap_err().kind(),
            OpenErrorKind::OtherRecipient,
            "{recipient:?}"
        );
    }
    assert!(SealOptions::new().recipient("alg", "x").is_err());
}

#[test]
fn cty_is_absent_or_jwt() {
    let keys = backends().next().unwrap();
    let with = |cty: &str| {
        outsider::encrypt(
            &outsider::HEADER.replace('}', &format!("{cty}}}")),
            signed(b"{}").as_bytes(),
        )
    };
    let required = keys.opener_with(OpenOptions::new().require_cty(true));
    for (cty, accepted, satisfies) in [
        ("", true, false),
        (r#","cty":"JWT""#, true, true),
        (r#","cty":"jwt""#, true, true),
        (r#","cty":"application/jwt""#, true, true),
        (r#","cty":"json""#, false, false),
        (r#","cty":"""#, false, false),
        (r#","cty":null"#, false, false),
    ] {
        assert_eq!(keys.opener().open(&with(cty)).is_ok(), accepted, "{cty}");
        assert_eq!(required.open(&with(cty)).is_ok(), satisfies, "{cty}");
    }
}

#[test]
fn the_inner_typ_is_looked_at_if_asked() {
    let keys = backends().next().unwrap();
    let strict = keys.opener_with(OpenOptions::new().require_typ(true));
    for (typ, accepted) in [
        (Some("JWT"), true),
        (Some("application/jwt"), true),
        (Some("at+jwt"), false),
        (None, false),
    ] {
        let header = typ.map_or(JwsHeader::new(), |typ| JwsHeader::new().typ(typ));
        let compact = outsider::encrypt(
            outsider::HEADER,
            jws::sign(&SIGNING, &header, b"{}").unwrap().as_bytes(),
        );
        assert!(keys.opener().open(&compact).is_ok());
        let kind = strict.open(&compact).err().map(|error| error.kind());
        assert_eq!(
            kind,
            (!accepted).then_some(OpenErrorKind::OtherType),
            "{typ:?}"
        );
    }
}

#[test]
fn a_signed_text_that_is_not_json_is_the_known_sender_s_fault() {
    let keys = backends().next().unwrap();
    let opener = keys.opener();
    for payload in [&b""[..], b"{", b"\xff", b"{}\0"] {
        let error = opener
            .open(&outsider::encrypt(
                outsider::HEADER,
                signed(payload).as_bytes(),
            ))
            .unwrap_err();
        assert!(matches!(error, OpenError::PayloadInvalid(_)));
        // A caller that reads the JSON itself gets the signed bytes.
        let unread = keys.opener_with(OpenOptions::new().check_json(false));
        let opened = unread
            .open(&outsider::encrypt(
                outsider::HEADER,
                signed(payload).as_bytes(),
            ))
            .unwrap();
        assert_eq!(opened.json(), payload);
        let unread = keys.opener().without_json_check();
        let opened = unread
            .open(&outsider::encrypt(
                outsider::HEADER,
                signed(payload).as_bytes(),
            ))
            .unwrap();
        assert_eq!(opened.json(), payload);
        // The recipient is checked, whether the header or a claim names it.
        let named = jws::sign(
            &SIGNING,
            &JwsHeader::new().member("aud", "b").unwrap(),
            payload,
        )
        .unwrap();
        for recipient in [Recipient::header("aud", "b"), Recipient::claim("aud", "b")] {
            let opener = keys.opener_with(OpenOptions::new().recipient(recipient));
            let error = opener
                .open(&outsider::encrypt(outsider::HEADER, named.as_bytes()))
                .unwrap_err();
            assert!(matches!(error, OpenError::PayloadInvalid(_)), "{error}");
        }
    }
    let opened = opener
        .open(&outsider::encrypt(
            outsider::HEADER,
            signed(b" [1] ").as_bytes(),
        ))
        .unwrap();
    assert_eq!(opened.json(), b" [1] ");
}

#[test]
fn signing_in_two_steps_gives_the_same_message() {
    let keys = backends().next().unwrap();
    let (verifying, options) = (keys.verifying().with_kid("hsm"), SealOptions::new());
    let unsigned =
        UnsignedMessage::new(b"{}", verifying.clone(), keys.encryption(), options.clone()).unwrap();
    let signature = keys.signing.sign(unsigned.request().message()).unwrap();
    let opened = keys
        .opener()
        .open(&unsigned.finish(&signature).unwrap())
        .unwrap();
    assert_eq!(
        (opened.json(), opened.signed_header().kid()),
        (&b"{}"[..], Some("hsm"))
    );

    let unsigned = UnsignedMessage::new(b"{}", verifying, keys.encryption(), options).unwrap();
    assert!(matches!(
        unsigned.finish(&signature[1..]),
        Err(SealError::Sign(_))
    ));
}

#[test]
fn printing_shows_no_message() {
    let keys = backends().next().unwrap();
    let compact = keys.sealer().seal(br#"{"name":"Jane Citizen"}"#).unwrap();
    let opened = keys.opener().open(&compact).unwrap();
    let printed = format!(
        "{opened:?} {:?} {:?}",
        SecuredPayload::new(&compact),
        keys.opener()
    );
    assert!(
        !printed.contains("Jane")
            && !printed.contains("74, 97, 110")
            && !printed.contains(&compact[..40])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_message_survives_sealing_and_opening(
        text in prop_oneof!["\\PC{0,300}", "[ab]{3000,9000}"],
        deflate in any::<bool>(),
    ) {
        let keys = backends().next().unwrap();
        let json = serde_json::json!({ "text": text }).to_string();
        let options = if deflate { SealOptions::new().deflate(true) } else { SealOptions::new() };
        let sealer = Sealer::new(keys.signing.clone(), keys.encryption(), options);
        let body = SecuredPayload::new(sealer.seal(json.as_bytes()).unwrap()).to_json();
        let envelope = SecuredPayload::from_json(body.as_bytes()).unwrap();
        let opened = keys.customer().open(&envelope.secured_payload).unwrap();
        prop_assert_eq!(opened.json(), json.as_bytes());
    }
}

#[test]
fn the_kid_for_the_log_is_bounded_and_optional() {
    let with =
        |header: &str| unverified_kid(&format!("{}.x", base64url::encode(header.as_bytes())));
    assert_eq!(
        with(r#"{"kid":"a\nb","alg":"any"}"#).as_deref(),
        Some(r#""a\nb""#)
    );
    assert_eq!(
        with(&format!(r#"{{"kid":"{}"}}"#, "k".repeat(100)))
            .unwrap()
            .chars()
            .count(),
        43
    );
    for none in [
        r#"{}"#,
        r#"{"kid":1}"#,
        r#"{"kid":"a","kid":"b"}"#,
        "[]",
        "",
    ] {
        assert_eq!(with(none), None, "{none}");
    }
    let long = |bytes: usize| format!(r#"{{"kid":"a","x":"{}"}}"#, "x".repeat(bytes - 18));
    assert_eq!(long(4096).len(), 4096);
    assert_eq!(
        (with(&long(4096)).as_deref(), with(&long(4097))),
        (Some(r#""a""#), None)
    );
    for none in ["", "eyJraWQiOiJhIn0", ".", "*.x"] {
        assert_eq!(unverified_kid(none), None, "{none}");
    }
}

/// JSON that RFC 8259 allows and many parsers refuse is not sealed. The maximum depth is that of
/// the JSON reader.
#[test]
fn what_many_parsers_refuse_is_not_sealed() {
    let keys = backends().next().unwrap();
    let (sealer, opener) = (keys.sealer(), keys.opener());
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let sealed = sealer.seal(nested(64).as_bytes()).unwrap();
    assert_eq!(opener.open(&sealed).unwrap().json(), nested(64).as_bytes());
    let surrogates = [
        r#""\ud800""#,
        r#""\udc00""#,
        r#"{"a":"\ud800\ud800"}"#,
        r#"{"\udfff":1}"#,
        r#"["\ud83d\u0041"]"#,
    ];
    let deep = [
        nested(65),
        nested(60_000),
        format!("{}1{}", r#"{"a":"#.repeat(65), "}".repeat(65)),
    ];
    for text in surrogates.into_iter().map(str::to_owned).chain(deep) {
        let refused = sealer.seal(text.as_bytes());
        assert!(matches!(refused, Err(SealError::NotJson(_))), "{text:.40}");
        // If another sender's software signs such a text, the opener refuses it.
        let signed = jws::sign(&keys.signing, &JwsHeader::new(), text.as_bytes()).unwrap();
        let error = opener
            .open(&outsider::encrypt(outsider::HEADER, signed.as_bytes()))
            .unwrap_err();
        assert_eq!(error.kind(), OpenErrorKind::PayloadInvalid, "{text:.40}");
    }
    assert!(sealer.seal("\"\\ud83d\\udc4d 👍\"".as_bytes()).is_ok());
}

/// The same option bounds the signed header and the header of the JWE.
#[test]
fn the_bound_on_headers_is_that_of_both_layers() {
    let keys = backends().next().unwrap();
    let long = "x".repeat(5_000);
    let options = SealOptions::new().recipient("note", long).unwrap();
    let inner = Sealer::new(keys.signing.clone(), keys.encryption(), options)
        .seal(b"{}")
        .unwrap();
    let kid = "k".repeat(1_500);
    let outer = Sealer::new(
        keys.signing.clone(),
        keys.encryption().with_kid(&kid),
        SealOptions::new(),
    )
    .seal(b"{}")
    .unwrap();
    let opens = |message: &str, max: Option<usize>| {
        let options = OpenOptions::new();
        let options = max.map_or(options.clone(), |max| options.max_header_bytes(max));
        keys.opener_with(options).open(message).is_ok()
    };
    assert!(!opens(&inner, None) && opens(&inner, Some(6_000)));
    assert!(!opens(&inner, Some(5_000)));
    assert!(opens(&outer, None) && !opens(&outer, Some(1_500)));
}
