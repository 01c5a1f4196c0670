//! Headers of tokens, read by rules.

use bankrail_jose::base64url;
use bankrail_jose::header::{HeaderRules, JoseHeader, JoseHeaderError, is_media_type};

fn jws(json: &str) -> Result<JoseHeader, JoseHeaderError> {
    JoseHeader::from_json(json.as_bytes(), &HeaderRules::signature(1024))
}

fn jwe(json: &str, zip: bool) -> Result<JoseHeader, JoseHeaderError> {
    JoseHeader::from_json(json.as_bytes(), &HeaderRules::encryption(1024, zip))
}

#[test]
fn the_profile_is_read_and_unknown_members_are_kept() {
    let header = jws(r#"{"typ":"JWT","alg":"RS256","kid":"k","x5t":"y","iat":5}"#).unwrap();
    assert_eq!(
        (header.kid(), header.typ(), header.cty()),
        (Some("k"), Some("JWT"), None)
    );
    assert_eq!(
        (header.member_text("x5t"), header.member_json("x5t")),
        (Some("y"), Some("\"y\""))
    );
    assert_eq!(
        (header.member_text("iat"), header.member_json("iat")),
        (None, Some("5"))
    );
    assert!(
        !jwe(r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#, false)
            .unwrap()
            .is_deflated()
    );
    assert!(
        jwe(
            r#"{"zip":"DEF","alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#,
            true
        )
        .unwrap()
        .is_deflated()
    );
    assert_eq!(
        jws(r#"{"alg":"RS256","cty":"json"}"#).unwrap().cty(),
        Some("json")
    );
}

#[test]
fn what_is_not_the_profile_is_refused() {
    for json in [
        r#"{}"#,
        r#"{"alg":"none"}"#,
        r#"{"alg":"rs256"}"#,
        r#"{"alg":"HS256"}"#,
        r#"{"alg":["RS256"]}"#,
        r#"{"alg":null}"#,
        r#"{"alg":"RS256","alg":"RS256"}"#,
        r#"{"alg":"RS256","x":{"y":1,"y":1}}"#,
        r#"{"alg":"RS256","x":"\ud800"}"#,
        r#"{"alg":"RS256","x":[[[[[[[[]]]]]]]]}"#,
        &format!(r#"{{"alg":"RS256","x":[0{}]}}"#, ",0".repeat(62)),
        r#"{"alg":"none","\u0061lg":"RS256"}"#,
        r#"{"alg":"RS256","enc":"A256CBC-HS512"}"#,
        r#"{"alg":"RS256","crit":["exp"],"exp":1}"#,
        r#"{"alg":"RS256","crit":[]}"#,
        r#"{"alg":"RS256","crit":null}"#,
        r#"{"alg":"RS256","b64":true}"#,
        r#"{"alg":"RS256","b64":false}"#,
        r#"{"alg":"RS256","zip":"DEF"}"#,
        r#"{"alg":"RS256","jwk":{}}"#,
        r#"{"alg":"RS256","jku":"https://x"}"#,
        r#"{"alg":"RS256","x5u":"https://x"}"#,
        r#"{"alg":"RS256","x5c":[]}"#,
        r#"{"alg":"RS256","kid":1}"#,
        r#"{"alg":"RS256","typ":null}"#,
        r#"[{"alg":"RS256"}]"#,
    ] {
        assert!(jws(json).is_err(), "{json}");
    }
    for json in [
        r#"{"alg":"RSA-OAEP"}"#,
        r#"{"enc":"A256CBC-HS512"}"#,
        r#"{"alg":"RSA1_5","enc":"A256CBC-HS512"}"#,
        r#"{"alg":"RSA-OAEP-256","enc":"A256CBC-HS512"}"#,
        r#"{"alg":"dir","enc":"A256CBC-HS512"}"#,
        r#"{"alg":"RSA-OAEP","enc":"A128CBC-HS256"}"#,
        r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","zip":"GZIP"}"#,
    ] {
        assert!(jwe(json, true).is_err(), "{json}");
    }
    let deflated = jwe(
        r#"{"zip":"DEF","alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#,
        false,
    );
    assert!(matches!(
        deflated,
        Err(JoseHeaderError::Refused { name: "zip" })
    ));
    let other = jwe(
        r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","zip":"GZIP"}"#,
        true,
    )
    .unwrap_err()
    .to_string();
    assert!(
        ["zip", "DEF", "GZIP"]
            .iter()
            .all(|word| other.contains(word)),
        "{other}"
    );
}

#[test]
fn members_with_a_meaning_are_texts() {
    for name in ["alg", "enc", "kid", "typ", "cty", "zip"] {
        for rules in [
            HeaderRules::signature(1024),
            HeaderRules::encryption(1024, true),
        ] {
            let found =
                JoseHeader::from_json(format!(r#"{{"{name}":1}}"#).as_bytes(), &rules).unwrap_err();
            assert_eq!(
                found.to_string(),
                format!("expected text as header member {name:?}")
            );
        }
    }
}

#[test]
fn a_header_is_bounded() {
    let of = |value: &str| jws(&format!(r#"{{"alg":"RS256","x":{value}}}"#)).is_ok();
    let nested = |arrays: usize| format!("{}{}", "[".repeat(arrays), "]".repeat(arrays));
    assert!(of(&nested(7)) && !of(&nested(8)));
    // The object, `alg` and the array are three values.
    let array = |elements: usize| format!("[{}]", vec!["0"; elements].join(","));
    assert!(of(&array(61)) && !of(&array(62)));
    let json = |bytes: usize| format!(r#"{{"alg":"RS256","x":"{}"}}"#, "x".repeat(bytes - 22));
    let rules = HeaderRules::signature(1024);
    assert_eq!(json(1024).len(), 1024);
    assert!(jws(&json(1024)).is_ok());
    assert!(matches!(
        jws(&json(1025)),
        Err(JoseHeaderError::NotObject(_))
    ));
    let parse =
        |bytes: usize| JoseHeader::parse(&base64url::encode(json(bytes).as_bytes()), &rules);
    assert!(parse(1024).is_ok());
    assert!(matches!(
        parse(1025),
        Err(JoseHeaderError::TooLong {
            found: 1367,
            max: 1366
        })
    ));
}

#[test]
fn an_error_names_its_member() {
    for (json, member) in [
        (r#"{}"#, Some("alg")),
        (r#"{"alg":1}"#, Some("alg")),
        (r#"{"alg":"RS256","crit":[]}"#, Some("crit")),
        (r#"{"alg":"RS512"}"#, Some("alg")),
        ("[]", None),
    ] {
        assert_eq!(jws(json).unwrap_err().member(), member, "{json}");
    }
    let found = JoseHeaderError::unsupported("alg", "RS256", "a\n");
    assert_eq!(
        found.to_string(),
        r#"expected "RS256" as header member "alg", found "a\n""#
    );
}

#[test]
fn media_types_ignore_case_and_prefix() {
    for (found, expected, same) in [
        ("JWT", "jwt", true),
        ("application/jwt", "JWT", true),
        ("APPLICATION/JWT", "JWT", true),
        ("application/a/jwt", "a/jwt", false),
        ("jwtx", "jwt", false),
        ("", "jwt", false),
    ] {
        assert_eq!(is_media_type(found, expected), same, "{found}");
    }
}
