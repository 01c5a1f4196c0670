//! Headers of tokens, read by rules.

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
    assert_eq!((header.kid(), header.typ(), header.cty()), (Some("k"), Some("JWT"), None));
    assert_eq!((header.member_text("x5t"), header.member_json("x5t")), (Some("y"), Some("\"y\"")));
    assert_eq!((header.member_text("iat"), header.member_json("iat")), (None, Some("5")));
    assert!(jwe(r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#, false).is_ok());
    assert!(jwe(r#"{"zip":"DEF","alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#, true).unwrap().is_deflated());
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
    assert!(jwe(r#"{"zip":"DEF","alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#, false).is_err());
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
