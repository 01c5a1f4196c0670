//! Each rule of an assertion judged by itself.

use crate::support::{AUDIENCE, KEY, NOW, claims, now, signed, verifier};
use bankrail_jose::base64url;
use bankrail_jose::jws::{self, JwsHeader};

const FORM: &str = "three parts in base64url, header of RS256";
const TYP: &str = "typ is jwt, in any case";
const CLAIMS: &str = "the claims are one JSON object";
const SUB: &str = "sub is a customer code";
const AUD: &str = "aud is the token endpoint";
const EXP: &str = "exp is a number of seconds";
const FUTURE: &str = "exp is in the future";
const HOUR: &str = "exp is at most 60 minutes ahead";
const ISS: &str = "iss, if present, is the value of sub";
const NBF: &str = "nbf, if present, is at most 30 s in the future";
const IAT: &str = "iat, if present, is at most 30 s in the future";
const JTI: &str = "jti, if present, has 1 to 256 bytes";

fn rules(assertion: &str) -> Vec<(&'static str, bool)> {
    verifier()
        .explain(assertion, now())
        .iter()
        .map(|judged| (judged.rule, judged.outcome.is_ok()))
        .collect()
}

fn broken(assertion: &str) -> Vec<&'static str> {
    rules(assertion)
        .into_iter()
        .filter(|(_, kept)| !kept)
        .map(|(rule, _)| rule)
        .collect()
}

#[test]
fn a_good_assertion_keeps_every_rule() {
    let all = [
        FORM, TYP, CLAIMS, SUB, AUD, EXP, FUTURE, HOUR, ISS, NBF, IAT, JTI,
    ]
    .map(|rule| (rule, true));
    assert_eq!(rules(&signed(&claims(&[]))), all);
}

#[test]
fn each_rule_is_broken_by_itself() {
    let (hour, begun) = ((NOW + 3601).to_string(), (NOW + 31).to_string());
    for (claim, value, expected) in [
        ("sub", "\"x\"", &[SUB][..]),
        ("aud", "\"x\"", &[AUD]),
        ("exp", "", &[EXP]),
        ("exp", "0", &[FUTURE]),
        ("exp", &hour, &[HOUR]),
        ("iss", "\"X\"", &[ISS]),
        ("nbf", &begun, &[NBF]),
        ("iat", &begun, &[IAT]),
        ("jti", "\"\"", &[JTI]),
    ] {
        assert_eq!(
            broken(&signed(&claims(&[(claim, value)]))),
            expected,
            "{claim} {value}"
        );
    }
    let untyped = jws::sign(&KEY, &JwsHeader::new(), claims(&[]).as_bytes()).unwrap();
    assert_eq!(broken(&untyped), [TYP]);
    assert_eq!(broken(&signed("[]")), [CLAIMS]);
    assert_eq!(broken(""), [FORM, TYP, CLAIMS]);
    let several = claims(&[
        ("exp", "0"),
        ("iat", &begun),
        ("aud", &format!("[\"{AUDIENCE}\"]")),
    ]);
    assert_eq!(broken(&signed(&several)), [AUD, FUTURE, IAT]);
    // The rules are judged even for a wrong form.
    let unsigned = signed(&claims(&[])).rsplit_once('.').unwrap().0.to_owned();
    assert_eq!(broken(&unsigned), [FORM]);
}

/// The claims of an assertion that is too long for
/// [`Verifier::verify`](bankrail_client_assertion::Verifier::verify).
#[test]
fn the_claims_have_at_most_12_kib_8_levels_and_256_values() {
    let of = |claims: &str| format!("e30.{}.", base64url::encode(claims.as_bytes()));
    for (bytes, kept) in [(12 * 1024, true), (12 * 1024 + 1, false)] {
        assert_eq!(
            !broken(&of(&format!("{:bytes$}", claims(&[])))).contains(&CLAIMS),
            kept,
            "{bytes}"
        );
    }
    for (arrays, kept) in [(7, true), (8, false)] {
        let nested = format!("{}{}", "[".repeat(arrays), "]".repeat(arrays));
        assert_eq!(
            !broken(&of(&claims(&[("x", &nested)]))).contains(&CLAIMS),
            kept,
            "{arrays}"
        );
    }
    // The object, its three claims and the array are five.
    for (elements, kept) in [(251, true), (252, false)] {
        let array = format!("[{}]", vec!["0"; elements].join(","));
        assert_eq!(
            !broken(&of(&claims(&[("x", &array)]))).contains(&CLAIMS),
            kept,
            "{elements}"
        );
    }
}
